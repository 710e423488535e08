/* columns.h - the figures at the left of a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLUMNS_H
#define SEEP_COLUMNS_H

#include "view/sites/amount.h"
#include "print/text/layout.h"

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

#endif
