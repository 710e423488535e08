/* census_view.h - the stacks of the sites in a census. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CENSUS_VIEW_H
#define SEEP_CENSUS_VIEW_H

#include "view/sites/view.h"

/* Of the process, then of ancestors whose blocks it has inherited. */
struct census_view {
	struct view **views;
	size_t count;
	bool is_filtered; /* the options leave sites out */
};

/* Do these options leave sites out? */
bool census_view_filters(const struct view_options *options);

/*
 * Selected and shaped by options (metric, figures and group do not matter).
 * -ENOMEM.
 */
int census_view_make(const struct session *s, const struct process *p, struct names *names,
    const struct view_options *options, struct census_view *ret);
void census_view_release(struct census_view *v);

/*
 * The site with this id of the process's census, and the view that has it;
 * NULL: it was filtered, or its process is not in the session.
 */
const struct view_site *census_view_find(
    const struct census_view *v, uint32_t id, const struct view **ret);

#endif
