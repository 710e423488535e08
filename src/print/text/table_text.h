/* name_table_text.h - prints a view as a table: one row per site. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TABLE_TEXT_H
#define SEEP_TABLE_TEXT_H

#include "view/sites/amount.h"
#include "print/text/layout.h"

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

#endif
