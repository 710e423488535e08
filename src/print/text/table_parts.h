/* table_parts.h - what the files of a table share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TABLE_PARTS_H
#define SEEP_TABLE_PARTS_H

#include "view/sites/ages.h"
#include "print/text/columns.h"
#include "print/text/table_text.h"

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
