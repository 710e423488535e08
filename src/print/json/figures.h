/* figures.h - the figures of a site, a row each: for JSON, CSV and pages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FIGURES_H
#define SEEP_FIGURES_H

#include "base/std.h"
#include "kit/json/json_put.h"
#include "view/sites/view.h"

/*
 * To add a figure: a field of struct view_figures and its sum in view_add(), a
 * row in processes.c, and what texts and the page's script say of it.
 */
enum figures_group {
	FIGURES_COUNTED = 1, /* of struct process_figures: processes and pools have them, too */
	FIGURES_TEMPORARY = 2,
	FIGURES_OLDER = 4, /* with view_options.older */
	FIGURES_PAGES = 8, /* if resident pages were shared out */
	FIGURES_ENDS = 16, /* and which a recording at a moment lacks: json.is_reading */
};

enum { FIGURES = 16 };

struct figures_row {
	const char *name; /* key of JSON, column of CSV; of pages with "site." before it */
	unsigned group;   /* enum figures_group */
	bool is_share;    /* a page has a row for each site with enough of it */
	size_t at;        /* of a uint64_t in struct view_figures, */
	uint64_t (*computed)(const struct view_figures *f); /* or, if it is no sum, this */
};

extern const struct figures_row figures[FIGURES];

/* For FIGURES_COUNTED, f may be a struct process_figures. */
uint64_t figures_value(const struct figures_row *row, const void *f);

/* Those of some groups, each under its name. */
void json_figures(struct json *out, unsigned groups, const void *f);

/*
 * Writes "error":{...}: for sampled figures half the width of the 95 %
 * interval, computed from the variances; null if the figures are exact.
 */
void json_figures_errors(struct json *out, bool sampled, double live, double allocated);

#endif
