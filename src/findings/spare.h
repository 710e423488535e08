/* spare.h - what the sites of a process could give back. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SPARE_H
#define SEEP_SPARE_H

#include "findings/census_view.h"
#include "recording/parts/census.h"

struct spare_line {
	struct census_spare sum;
	const struct view *view;      /* NULL: the stack is not known */
	const struct view_site *site; /* likewise */
};

struct spare {
	struct spare_line *lines; /* largest sum of bytes first */
	size_t count;
	struct census_spare all;      /* of these lines */
	struct census_spare filtered; /* of those left out */
};

/* From a census that has it; borrows both. -ENOMEM. */
int spare_make(const struct census *c, const struct census_view *v, struct spare *ret);
void spare_release(struct spare *s);

#endif
