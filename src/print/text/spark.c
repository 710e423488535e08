/* spark.c - draws figures over time as one short line of block characters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/spark.h"

#include <string.h>

#include "view/sites/enum_words.h"

enum { POINTS_MIN = 3, BLOCKS = 8, DIGITS = 10, WIDTH_MIN = 8 };

/*
 * The highest figure in each column; a column without points repeats the
 * previous
 */
static uint64_t fill(
    const struct process_point *points, size_t count, size_t width, uint64_t *columns)
{
	uint64_t first = points[0].time_us;
	uint64_t span = points[count - 1].time_us - first;
	uint64_t highest = 0, last = 0;
	size_t i = 0;

	for (size_t c = 0; c < width; c++) {
		uint64_t end = first + span / width * (c + 1);

		columns[c] = last;
		while (i < count && (points[i].time_us <= end || c + 1 == width)) {
			last = points[i++].live_bytes;
			if (last > columns[c])
				columns[c] = last;
		}
		if (columns[c] > highest)
			highest = columns[c];
	}
	return highest;
}

void spark_write(
    const struct layout *p, const char *what, const struct process_point *points, size_t count)
{
	uint64_t columns[SPARK_WIDTH], highest;
	char a[WORDS_MAX], b[WORDS_MAX];
	size_t width = SPARK_WIDTH, words;

	if (count < POINTS_MIN)
		return;
	(void)words_time(a, (points[count - 1].time_us - points[0].time_us) * 1000);
	/* " over ", ": ", " up to 1023.9 MiB." */
	words = strlen(what) + strlen(a) + 6 + 2 + 18;
	if (p->width > 0 && p->width < words + width)
		width = p->width > words + WIDTH_MIN ? p->width - words : WIDTH_MIN;
	if (count < width)
		width = count;
	highest = fill(points, count, width, columns);
	(void)fprintf(p->out, "%s over %s: ", what, a);
	for (size_t c = 0; c < width; c++) {
		double part = highest ? (double)columns[c] / (double)highest : 0;
		unsigned n = (unsigned)(part * ((p->utf8 ? BLOCKS : DIGITS) - 1) + 0.5);

		if (p->utf8)
			/* U+2581 .. U+2588 */
			(void)fprintf(p->out, "\xe2\x96%c", (char)(0x81 + n));
		else
			(void)putc((int)('0' + n), p->out);
	}
	(void)fprintf(p->out, " up to %s.\n", words_bytes(b, highest));
}
