/* table_parts.h - what the files of a table share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TABLE_PARTS_H
#define SEEP_TABLE_PARTS_H

#include "print/text/body.h"
#include "print/text/layout.h"
#include "view/sites/ages.h"
#include "view/sites/amount.h"

/* ---- table_lifetimes: prints how long the blocks of each site live ---- */

/*
 * For each process its first paragraph, and a table: one row per site, most frees
 * first. options->view.id: this site alone, with its whole histogram. -ENOMEM,
 * -EIO if ferror(), -ESRCH: no process has options->view.pid; -ENOENT: there is
 * no such site.
 */
int table_lifetimes_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options, const struct lifetimes *l);

/* ---- columns: the figures at the left of a tree or a table ---- */

/* The widths that the figures of the whole need. */
struct columns {
	struct amounts whole;
	int order;       /* enum amount_order: shares are shares of this */
	bool with_sign;  /* two are compared */
	bool with_error; /* the figures are estimates */
	bool with_calls; /* a column for allocations */
	bool with_holds; /* two columns for resident pages */
	int bytes, error, blocks, calls, holds, pins;
	const char *blocks_word;
};

void columns_init(struct columns *c, const struct view *v, int metric, int order, bool with_holds);

/* Share, bytes, error, blocks, calls, holds, pins; returns how many columns they take. */
size_t columns_head(const struct columns *c, const struct layout *p);
size_t columns_print(const struct columns *c, const struct layout *p, const struct amounts *a);
size_t columns_blank(const struct columns *c, const struct layout *p);

/* Is the share below the threshold, in percent? Its sign does not matter. */
bool columns_is_below(const struct columns *c, const struct amounts *a, double threshold);

/* A line for what is not shown; nothing if everything is. */
void columns_rest(const struct columns *c, const struct layout *p, const struct amounts *a,
    uint64_t places, size_t indent, const char *why);

/* ---- table_parts: what the files of a table share ---- */

enum {
	TABLE_WHERE_INDENT = 8, /* columns, of what goes below the figures */
	TABLE_CELLS = 6,
	TABLE_EXTRA = 4, /* more frames than usual, so that rows differ */
};

/* One row of the table. */
struct table_site {
	struct amounts amounts;
	uint32_t site;
	uint32_t frames; /* frames to show: the user's own and its callers */
	/* more positions in the stack to show */
	uint32_t extra[TABLE_EXTRA];
	uint32_t extra_count;
	bool is_full; /* names of the functions it calls have all arguments */
};

struct table_printer {
	const struct layout *page;
	const struct view *view;
	const struct table_options *options;
	struct columns columns;
	const char *const *titles;
	int widths[TABLE_CELLS];
	size_t cell_count;
	bool below; /* the position goes below the figures */
};

/*
 * Prints "malloc in f a.c:1 -> x.h:9 <- g b.c:2 <- ...", on several lines if
 * necessary; `used` columns of the line are already used.
 */
void table_print_where(const struct table_printer *x, const struct table_site *row, size_t used);

/* Gives rows that would look the same more frames, until they differ. */
void table_distinguish(const struct table_printer *x, struct table_site *rows, size_t count);

#endif
