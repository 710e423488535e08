/* trend.h - how a figure went in the last looks, as one short line. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TREND_H
#define SEEP_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TREND_LOOKS = 60,
	TREND_LEVELS = 8,
	TREND_MAX = TREND_LOOKS * 3 + 1, /* bytes of its text */
};

/* A level for each look, the newest last; 0 is the lowest. */
struct trend {
	uint8_t level[TREND_LOOKS];
	uint8_t count; /* the looks that there were, TREND_LOOKS at most */
};

/*
 * From `count` values, the oldest first, of which the newest are taken. Levels
 * go from the lowest to the highest value, but a difference of less than 2 % of
 * the highest is not blown up to the whole height.
 */
void trend_of(struct trend *t, const uint64_t *values, size_t count);

/* A figure that has not changed in any of `count` looks. */
void trend_flat(struct trend *t, size_t count);

/*
 * The trend in `columns` columns, the newest at the right end, filled up with
 * spaces at the left. If there are fewer columns than looks, each column shows
 * the highest of its looks. Without UTF-8 digits 0 to 7 stand for the blocks.
 */
const char *trend_text(char buffer[TREND_MAX], const struct trend *t, size_t columns, bool utf8);

#endif
