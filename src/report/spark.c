/* spark.c - a course of figures as one short line of blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/spark.h"

#include "report/words.h"

enum { POINTS_MIN = 3, BLOCKS = 8, DIGITS = 10 };

/* The highest figure in each column; a column without one has the one before */
static uint64_t
fill(const struct process *p, size_t width, uint64_t *columns)
{
	uint64_t first = p->points[0].time_us;
	uint64_t span = p->points[p->point_count - 1].time_us - first;
	uint64_t highest = 0, last = 0;
	size_t i = 0;

	for (size_t c = 0; c < width; c++) {
		uint64_t end = first + span / width * (c + 1);

		columns[c] = last;
		while (i < p->point_count &&
		    (p->points[i].time_us <= end || c + 1 == width)) {
			last = p->points[i++].live_bytes;
			if (last > columns[c])
				columns[c] = last;
		}
		if (columns[c] > highest)
			highest = columns[c];
	}
	return highest;
}

void
spark_write(FILE *out, const struct process *p, bool utf8)
{
	uint64_t columns[SPARK_WIDTH], highest;
	char a[WORDS_MAX], b[WORDS_MAX];
	size_t width = SPARK_WIDTH;

	if (p->point_count < POINTS_MIN)
		return;
	if (p->point_count < width)
		width = p->point_count;
	highest = fill(p, width, columns);
	(void)fprintf(out, "Live bytes over %s: ",
	    words_time(a,
	        (p->points[p->point_count - 1].time_us - p->points[0].time_us) *
	            1000));
	for (size_t c = 0; c < width; c++) {
		double part =
		    highest ? (double)columns[c] / (double)highest : 0;
		unsigned n =
		    (unsigned)(part * ((utf8 ? BLOCKS : DIGITS) - 1) + 0.5);

		if (utf8)
			/* U+2581 .. U+2588 */
			(void)fprintf(out, "\xe2\x96%c", (char)(0x81 + n));
		else
			(void)putc((int)('0' + n), out);
	}
	(void)fprintf(out, " up to %s.\n", words_bytes(b, highest));
}
