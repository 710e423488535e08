/* young.c - deaths below SEG_YOUNG_TICKS, by age and site. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/young.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_id(const void *key, const void *item)
{
	uint64_t a = *(const uint64_t *)key;
	uint64_t b = ((const struct sum_row *)item)->id;

	return (a > b) - (a < b);
}

static void add_row(
    struct young *y, const struct sums *sums, uint64_t id, const struct seg_ages *row)
{
	const struct sum_row *sum =
	    bsearch(&id, sums->items, sums->count, sizeof(*sums->items), by_id);
	uint64_t *to;

	if (!sum)
		return; /* its free happened after we read the ledger */
	to = y->deaths[sum - sums->items];
	for (int i = 0; i < SEG_AGE_STEPS; i++)
		if (__builtin_add_overflow(to[i], row->deaths[i], &to[i]))
			to[i] = UINT64_MAX;
}

int young_init(struct young *y, const struct segment *seg, const struct sums *sums)
{
	static const struct seg_ages none;

	/* A damaged file may have ages, but no ledger. */
	for (size_t i = 0; sums->count > 0 && i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind != SEG_EXT_AGES)
			continue;
		if (!y->deaths)
			y->deaths = calloc(sums->count + 1, sizeof(*y->deaths));
		if (!y->deaths)
			return -ENOMEM;
		for (uint32_t k = 0; k < x->count; k++) {
			struct seg_ages row;

			(void)segment_copy_row_into(x, k, &row, sizeof(row));
			if (memcmp(&row, &none, sizeof(row)) != 0)
				add_row(y, sums, x->first + k, &row);
		}
	}
	return 0;
}

void young_release(struct young *y)
{
	free(y->deaths);
}
