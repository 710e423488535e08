/* view_figures.c - what a metric says of the figures of a view. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/view.h"
#include "util/capped.h"

void
view_add(struct view_figures *to, const struct view_figures *from)
{
	process_add(&to->all, &from->all);
	to->young_blocks = capped_sum(to->young_blocks, from->young_blocks);
	to->temporary_blocks =
	    capped_sum(to->temporary_blocks, from->temporary_blocks);
	to->temporary_bytes =
	    capped_sum(to->temporary_bytes, from->temporary_bytes);
	to->variance_live += from->variance_live;
	to->variance_allocated += from->variance_allocated;
	to->older_blocks = capped_sum(to->older_blocks, from->older_blocks);
	to->older_bytes = capped_sum(to->older_bytes, from->older_bytes);
	to->older_unknown_blocks =
	    capped_sum(to->older_unknown_blocks, from->older_unknown_blocks);
	to->older_unknown_bytes =
	    capped_sum(to->older_unknown_bytes, from->older_unknown_bytes);
}

uint64_t
view_bytes(const struct view_figures *f, int metric)
{
	switch (metric) {
	case VIEW_LIVE:
		return f->all.live_bytes;
	case VIEW_PEAK:
		return f->all.peak_bytes;
	case VIEW_TEMPORARY:
		return f->temporary_bytes;
	default:
		return f->all.allocated_bytes;
	}
}

uint64_t
view_blocks(const struct view_figures *f, int metric)
{
	switch (metric) {
	case VIEW_LIVE:
		return f->all.live_blocks;
	case VIEW_PEAK:
		return f->all.peak_blocks;
	case VIEW_TEMPORARY:
		return f->temporary_blocks;
	default:
		return f->all.allocations;
	}
}

double
view_variance(const struct view_figures *f, int metric)
{
	double bytes = (double)view_bytes(f, metric);
	double all = (double)f->all.allocated_bytes;

	if (metric == VIEW_LIVE)
		return f->variance_live;
	/* variances add up block by block: a part of them has its share */
	if (all > 0 && bytes < all)
		return f->variance_allocated * (bytes / all);
	return f->variance_allocated;
}
