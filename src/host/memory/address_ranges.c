/* address_address_ranges.c - sets of addresses as ranges: joined, subtracted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/address_ranges.h"

#include "kit/data/room.h"
#include "kit/data/sorted.h"

int address_ranges_add(struct ranges *r, uint64_t start, uint64_t end)
{
	int err;

	if (start >= end)
		return 0;
	/* most come in order, and continue the last one */
	if (r->count && r->at[r->count - 1].end == start) {
		r->at[r->count - 1].end = end;
		return 0;
	}
	err = room_make(&r->at, &r->room, r->count, sizeof(*r->at));
	if (err < 0)
		return err;
	r->at[r->count++] = (struct range){start, end};
	return 0;
}

BY(by_start, struct range, UP(start))

void address_ranges_settle(struct ranges *r)
{
	size_t i, kept = 0;

	if (r->count)
		qsort(r->at, r->count, sizeof(*r->at), by_start);
	for (i = 0; i < r->count; i++) {
		struct range x = r->at[i];

		if (!kept || r->at[kept - 1].end < x.start)
			r->at[kept++] = x;
		else if (r->at[kept - 1].end < x.end)
			r->at[kept - 1].end = x.end;
	}
	r->count = kept;
}

int address_ranges_subtract(const struct ranges *a, const struct ranges *b, struct ranges *ret)
{
	size_t i, k = 0;
	int err = 0;

	for (i = 0; i < a->count && err == 0; i++) {
		uint64_t start = a->at[i].start, end = a->at[i].end;

		while (k < b->count && b->at[k].end <= start)
			k++;
		/* the last of these may reach into the next range of a */
		for (size_t m = k; err == 0 && m < b->count; m++) {
			const struct range *hole = &b->at[m];

			if (hole->start >= end)
				break;
			err = address_ranges_add(ret, start, hole->start);
			start = hole->end;
		}
		if (err == 0)
			err = address_ranges_add(ret, start, end);
	}
	return err;
}

bool address_ranges_hold(const struct ranges *r, uint64_t address)
{
	size_t lo = sorted_first(r->at, r->count, x, x->end <= address);

	return lo < r->count && r->at[lo].start <= address;
}

uint64_t address_ranges_bytes(const struct ranges *r)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < r->count; i++)
		sum += r->at[i].end - r->at[i].start;
	return sum;
}

void address_ranges_release(struct ranges *r)
{
	free(r->at);
	*r = (struct ranges){0};
}
