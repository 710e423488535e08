/* table.h - prints a view as a table: one row per site. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_TABLE_H
#define SEEP_REPORT_TABLE_H

#include "report/amount.h"
#include "report/layout.h"

struct table_options {
	int metric;       /* enum view_metric */
	int order;        /* enum amount_order */
	unsigned top;     /* rows, 0: all */
	unsigned frames;  /* of a stack in a row, 0: all */
	double threshold; /* percent of the whole */
	bool grown_first; /* as amounts_compare_growth() */
};

/*
 * Figures, sizes, ages and where; two lines a row where they do not fit in
 * one. Of a comparison: figures with signs, what they were and are. Says what
 * it leaves out. -ENOMEM.
 */
int table_write(const struct layout *p, const struct view *v,
    const struct table_options *options);

/* "new", "gone", "grown", "shrunk" or "same", by what the metric counts. */
const char *table_change(const struct view_site *s, int metric);

#endif
