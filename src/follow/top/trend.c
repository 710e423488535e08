/* trend.c - how a figure went in the last looks, as one short line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/trend.h"

#include <string.h>

enum { SPAN_PART = 50 }; /* the least span: this part of the highest value */

void trend_of(struct trend *t, const uint64_t *values, size_t count)
{
	size_t skip = count > TREND_LOOKS ? count - TREND_LOOKS : 0;
	uint64_t low = UINT64_MAX, high = 0, span;

	values += skip;
	count -= skip;
	for (size_t i = 0; i < count; i++) {
		low = values[i] < low ? values[i] : low;
		high = values[i] > high ? values[i] : high;
	}
	t->count = (uint8_t)count;
	span = high > low ? high - low : 0;
	if (span < high / SPAN_PART)
		span = high / SPAN_PART;
	for (size_t i = 0; i < count; i++) {
		double part = span ? (double)(values[i] - low) / (double)span : 0;

		t->level[i] = (uint8_t)(part * (TREND_LEVELS - 1) + 0.5);
	}
}

void trend_flat(struct trend *t, size_t count)
{
	t->count = (uint8_t)(count > TREND_LOOKS ? TREND_LOOKS : count);
	memset(t->level, 0, sizeof(t->level));
}

const char *trend_text(char buffer[TREND_MAX], const struct trend *t, size_t columns, bool utf8)
{
	size_t used, at = 0;

	if (columns > TREND_LOOKS)
		columns = TREND_LOOKS;
	used = t->count < columns ? t->count : columns;
	memset(buffer, ' ', columns - used);
	at = columns - used;
	for (size_t c = 0; c < used; c++) {
		size_t from = c * t->count / used;
		size_t to = (c + 1) * t->count / used;
		unsigned level = 0;

		for (size_t i = from; i < to; i++)
			level = t->level[i] > level ? t->level[i] : level;
		if (utf8) { /* U+2581 .. U+2588 */
			buffer[at++] = '\xe2';
			buffer[at++] = '\x96';
			buffer[at++] = (char)(0x81 + level);
		} else {
			buffer[at++] = (char)('0' + level);
		}
	}
	buffer[at] = '\0';
	return buffer;
}
