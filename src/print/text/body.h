/* body.h - the part of a report below its heading: a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BODY_H
#define SEEP_BODY_H

#include "findings/growth.h"
#include "print/text/layout.h"
#include "view/sites/amount.h"
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

/* ---- table_text: prints a view as a table: one row per site ---- */

struct table_options {
	int metric;       /* enum view_metric */
	int order;        /* enum amount_order */
	unsigned top;     /* rows, 0: all */
	unsigned frames;  /* frames of a stack in a row, 0: all */
	double threshold; /* percent of the whole */
	bool grown_first; /* sort by amounts_compare_growth() */
	bool with_holds;  /* columns for resident pages */
};

/*
 * Prints figures, sizes, ages and position; in two lines per row if they do not
 * fit in one. In a comparison: figures with signs, and the old and new ones.
 * Says what it leaves out. -ENOMEM.
 */
int table_text_write(
    const struct layout *p, const struct view *v, const struct table_options *options);

/* "new", "gone", "grown", "shrunk" or "same", by the figure of the metric. */
const char *table_text_change(const struct view_site *s, int metric);

/* ---- tree_print: prints a view as a tree ---- */

struct tree_print_options {
	struct tree_options tree;
	unsigned top;     /* branches at the root, 0: all */
	double threshold; /* percent of the whole */
	bool with_holds;  /* columns for resident pages */
};

/*
 * Prints functions that allocate (or, top down, where everything starts), and
 * below them their callers (or callees), indented further at each fork. Says
 * what it leaves out. -ENOMEM.
 */
int tree_print_write(
    const struct layout *p, struct view *v, const struct tree_print_options *options);

/* ---- compare_text: two inputs, or several moments of one, compared as text ---- */

/* Two inputs, site by site. Errors as of diff_view(), and -EIO if ferror(). */
int compare_text_diff(const struct layout *p, const struct diff_side *old,
    const struct diff_side *new, struct names *names, const struct body_options *options);

/*
 * For each process that ran in between: how its sites differ from before, with
 * signs. 0, -ENOMEM, -EIO; -ENODATA: no time line; -ESRCH: no process has
 * options->view.pid; -ERANGE: it begins after the end.
 */
int compare_text_growth(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options, const struct growth_moment *from,
    const struct growth_moment *to);

/*
 * For each process with snapshots: first a line for each moment, then the
 * state at each. -ENOMEM, -EIO; -ESRCH: no process has options->view.pid.
 */
int compare_text_snapshots(const struct layout *p, struct session *const *sessions, size_t count,
    struct names *names, const struct body_options *options);

#endif
