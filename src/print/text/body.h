/* body.h - the part of a report below its heading: a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BODY_H
#define SEEP_BODY_H

#include "print/text/layout.h"
#include "view/sites/view.h"

enum body_shape { BODY_TREE, BODY_TABLE };

struct older;

/* What the user wants to see of a session. */
struct body_options {
	struct view_options view;  /* only, figures, before are the report's */
	bool builtin_only;         /* its suppressions are the built-in ones */
	int shape;                 /* enum body_shape */
	int order;                 /* enum amount_order */
	bool top_down, by_line;    /* of a tree */
	bool grown_first;          /* sites that shrank come last */
	unsigned top;              /* entries at the first level, 0: all */
	unsigned frames;           /* of a stack in a row of a table, 0: all */
	double threshold;          /* percent of the whole */
	bool rss;                  /* the account of resident memory, too */
	const struct older *older; /* view.figures are its own; NULL: not */
};

/*
 * Makes the view, says what filters and suppressions leave out, and prints the
 * rest. -ENOMEM.
 */
int body_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options);

/* The same of a view that was made with options->view. -ENOMEM. */
int body_write_view(const struct layout *p, struct view *v, const struct body_options *options);

#endif
