/* fields.h - the columns of top: titles, widths, order, and cells. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FIELDS_H
#define SEEP_FIELDS_H

#include "follow/top/board.h"
#include "follow/top/focus.h"

enum fields_table { FIELDS_PROCESSES, FIELDS_SITES };

/* The columns of both tables, from left to right. */
enum field {
	FIELD_PID,
	FIELD_SERVICE,
	FIELD_MODE,
	FIELD_LIVE,
	FIELD_GROWTH,
	FIELD_ALLOCS,
	FIELD_PEAK,
	FIELD_RSS,
	FIELD_LIMIT,
	FIELD_SITES,
	FIELD_LOST,
	FIELD_AGE,
	FIELD_TREND,
	FIELD_SITE_LIVE,
	FIELD_SITE_SHARE,
	FIELD_SITE_SINCE,
	FIELD_SITE_GROWTH,
	FIELD_SITE_ALLOCS,
	FIELD_SITE_BLOCKS,
	FIELD_SITE_TREND,
	FIELD_SITE_FUNCTION,
	FIELDS,
};

/* What --sort takes, in the order of enum fields_key. */
#define FIELDS_KEYS \
	"live|growth|allocs|since|blocks|function|peak|rss|limit|sites|lost|" \
	"age|pid|service|mode"

/* By which columns the tables are sorted; largest or first one on top. */
struct fields_order {
	int process, site; /* enum field */
	bool process_reversed, site_reversed;
};

/* From the number of a word of FIELDS_KEYS; the other table goes by LIVE. */
struct fields_order fields_order_of(int key);

/* The next column to the right (1) or left (-1) by which one can sort. */
int fields_next(int field, int direction);

/* Text, and how it is to be seen. */
enum fields_style {
	FIELDS_PLAIN,
	FIELDS_STRONG,
	FIELDS_DIM,
	FIELDS_MORE, /* it grows */
	FIELDS_LESS, /* it shrinks */
	FIELDS_BAD,  /* events were lost, memory is short */
};

enum { FIELDS_TEXT = 1024, FIELDS_CELLS = 16 };

/* Where the columns are on a line. */
struct fields_cell {
	int field;
	unsigned at, width;
};

struct fields_layout {
	struct fields_cell cells[FIELDS_CELLS];
	size_t count;
	unsigned scroll; /* columns that are hidden at the left */
	bool more_left, more_right;
	bool utf8;
};

/*
 * Chooses columns for a line of `width`: those that are always there (PID and
 * SERVICE; LIVE and FUNCTION), and as many others as fit, beginning with
 * number `scroll` of these. More than enough width goes to names and trends.
 * pid_width: digits of the longest pid.
 */
void fields_lay_out(struct fields_layout *ret, enum fields_table table, unsigned width,
    unsigned scroll, unsigned pid_width, bool utf8);

/* The text of a cell, escaped and filled up to its width; and its style. */
int fields_process_cell(char text[FIELDS_TEXT], const struct fields_layout *l, size_t cell,
    const struct board_process *p);
int fields_site_cell(char text[FIELDS_TEXT], const struct fields_layout *l, size_t cell,
    const struct focus_site *s, uint64_t whole);

/*
 * The title of a cell; with a mark if the table is sorted by it. It begins in
 * the gap before the cell, so that there is room for the mark, and in the first
 * cell with the cell itself.
 */
void fields_title_cell(
    char text[FIELDS_TEXT], const struct fields_layout *l, size_t cell, int sorted, bool reversed);

/* Sorts rows: of equal ones that with more live bytes comes first. */
void fields_sort_processes(struct board_process *rows, size_t count, const struct fields_order *o);
void fields_sort_sites(struct focus_site *rows, size_t count, const struct fields_order *o);

/* Text in so many columns: cut with an ellipsis, or filled up. */
void fields_fit(char text[FIELDS_TEXT], const char *from, unsigned width, bool right, bool utf8);

#endif
