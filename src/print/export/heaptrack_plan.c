/* heaptrack_plan.c - invents events that add up to a site's figures. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/export_forms.h"

#include "kit/data/capped.h"

/* A limit, so that two of them can be added. */
static uint64_t bounded(uint64_t n)
{
	return n < UINT64_MAX / 4 ? n : UINT64_MAX / 4;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The range of bytes for blocks that are live both times. */
struct range {
	uint64_t low, high;
};

/* It can only be this much. */
static void narrow(struct range *r, uint64_t value)
{
	if (value < r->low || value > r->high)
		*r = (struct range){.low = 1, .high = 0};
	else
		r->low = r->high = value;
}

/* Tries this number of blocks that are live both times. */
static bool try_blocks(const struct heaptrack_group *all, const struct heaptrack_group *peak,
    const struct heaptrack_group *end, uint64_t blocks, struct heaptrack_plan *ret)
{
	struct range bytes = {.low = capped_difference(peak->bytes + end->bytes, all->bytes),
	    .high = smaller(peak->bytes, end->bytes)};
	uint64_t both;

	if (blocks == 0)
		narrow(&bytes, 0);
	if (blocks == peak->blocks)
		narrow(&bytes, peak->bytes);
	if (blocks == end->blocks)
		narrow(&bytes, end->bytes);
	if (peak->blocks + end->blocks - blocks == all->blocks)
		narrow(&bytes, capped_difference(peak->bytes + end->bytes, all->bytes));
	if (bytes.low > bytes.high)
		return false;
	both = bytes.high;
	if (peak->blocks + end->blocks - blocks == all->blocks &&
	    peak->bytes + end->bytes - both != all->bytes)
		return false;
	*ret = (struct heaptrack_plan){.both = {blocks, both},
	    .peak = {peak->blocks - blocks, peak->bytes - both},
	    .end = {end->blocks - blocks, end->bytes - both},
	    .neither = {all->blocks - (peak->blocks + end->blocks - blocks),
	        all->bytes - (peak->bytes + end->bytes - both)}};
	return true;
}

void heaptrack_plan(const struct process_figures *f, struct heaptrack_plan *ret)
{
	const struct heaptrack_group all = {bounded(f->allocations), bounded(f->allocated_bytes)};
	const struct heaptrack_group peak = {bounded(f->peak_blocks), bounded(f->peak_bytes)};
	const struct heaptrack_group end = {bounded(f->live_blocks), bounded(f->live_bytes)};
	uint64_t most = smaller(peak.blocks, end.blocks);
	uint64_t least = capped_difference(peak.blocks + end.blocks, all.blocks);
	const uint64_t tries[] = {most, capped_difference(most, 1), least, least + 1,
	    least + capped_difference(most, least) / 2};

	/*
	 * bounds matter only if a group is empty: try the limits and one inside
	 */
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		if (tries[i] >= least && tries[i] <= most &&
		    try_blocks(&all, &peak, &end, tries[i], ret))
			return;
	*ret = (struct heaptrack_plan){.peak = peak,
	    .end = end,
	    .neither = {capped_difference(all.blocks, peak.blocks + end.blocks),
	        capped_difference(all.bytes, peak.bytes + end.bytes)}};
	if (ret->neither.blocks == 0)
		ret->neither.bytes = 0;
}
