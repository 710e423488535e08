/* invariants.c - checks relations that must hold in every segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/invariants.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	/* weighted figures are rounded down in each of the arrays */
	SAMPLED_SLACK = SEG_ARRAYS + SEG_MORE_COUNT + 1,
	/* the collector makes these itself, before any stack is known */
	NODES_WITHOUT_FRAME = 4,
};

struct check {
	const struct seg_header *header;
	struct extents nodes, inners;
	bool is_exited; /* the destructor ran, so nothing is half done */
	uint64_t slack; /* events that may be half done */
	size_t broken;
	size_t uneven; /* sites without live blocks, but with live bytes */
	struct fault first, first_uneven;
	uint64_t allocated_bytes;
};

/* The first violation is described, the others are counted. */
static struct fault *broken(struct check *c)
{
	return c->broken++ == 0 ? &c->first : NULL;
}

static void check_figures(struct check *c, const struct sum_row *s)
{
	if (s->frees > s->allocations && s->frees - s->allocations > c->slack)
		(void)fault_set(broken(c), 0, "site %u has %llu frees of %llu allocations", s->id,
		    (unsigned long long)s->frees, (unsigned long long)s->allocations);
	else if (s->freed_bytes > s->allocated_bytes && c->slack == 0)
		(void)fault_set(broken(c), 0, "site %u has freed %llu of %llu bytes", s->id,
		    (unsigned long long)s->freed_bytes, (unsigned long long)s->allocated_bytes);
	else if (c->is_exited && s->frees == s->allocations &&
	    s->freed_bytes != s->allocated_bytes && c->uneven++ == 0)
		(void)fault_set(&c->first_uneven, 0,
		    "site %u has no live block, but %llu live bytes", s->id,
		    (unsigned long long)(s->allocated_bytes - s->freed_bytes));
}

static void check_stack(struct check *c, const struct extents *sites, uint32_t id)
{
	struct seg_site row;
	struct seg_inner inner;
	struct seg_node node;

	if (id < c->header->first_id) {
		(void)fault_set(
		    broken(c), 0, "site %u is below the first id, %u", id, c->header->first_id);
		return;
	}
	if (!extents_get(sites, id, &row, sizeof(row))) {
		(void)fault_set(broken(c), 0, "site %u is in no table", id);
		return;
	}
	if (row.inner == 0)
		return; /* an id was given out, but its row was never filled */
	if (!extents_get(&c->inners, row.inner, &inner, sizeof(inner)) ||
	    inner.count > SEG_INNER_FRAMES)
		(void)fault_set(broken(c), 0, "site %u names inner frames %u, which are not there",
		    id, row.inner);
	else if (row.node > NODES_WITHOUT_FRAME &&
	    !extents_get(&c->nodes, row.node, &node, sizeof(node)))
		(void)fault_set(
		    broken(c), 0, "site %u names node %u, which is not there", id, row.node);
}

static void check_all(struct check *c, const struct sums *sums, const struct extents *sites)
{
	uint64_t tolerated = c->header->threads > 1 ? c->header->threads : 0;

	for (size_t i = 0; i < sums->count; i++) {
		const struct sum_row *s = &sums->items[i];

		check_figures(c, s);
		check_stack(c, sites, s->id);
		if (c->allocated_bytes + s->allocated_bytes >= c->allocated_bytes)
			c->allocated_bytes += s->allocated_bytes;
		else
			c->allocated_bytes = UINT64_MAX;
	}
	/*
	 * Other threads may be at work during exit(): each may have one event
	 * half done.
	 */
	if (c->uneven > tolerated) {
		if (c->broken == 0)
			c->first = c->first_uneven;
		c->broken += c->uneven;
	}
	if (c->is_exited && c->header->peak_bytes > c->allocated_bytes)
		(void)fault_set(broken(c), 0,
		    "the peak of %llu bytes is more than was ever allocated",
		    (unsigned long long)c->header->peak_bytes);
}

int invariants_check(const struct segment *seg, const struct sums *sums,
    const struct extents *sites, struct fault *ret_doubt)
{
	struct check c = {.header = &seg->header};
	int err = -ENOMEM;

	if (extents_init(&c.nodes, seg, SEG_EXT_NODE) < 0 ||
	    extents_init(&c.inners, seg, SEG_EXT_INNER) < 0)
		goto out;
	c.slack = seg->header.counts[SEG_HEALED] + seg->header.counts[SEG_FORKED_INSIDE];
	if (seg->header.sample_bytes > 0)
		c.slack += SAMPLED_SLACK;
	c.is_exited =
	    seg->header.end_kind == SEG_END_EXITED && seg->header.sample_bytes == 0 && c.slack == 0;
	check_all(&c, sums, sites);
	err = 0;
	if (c.broken > 0) {
		char others[48] = "";

		if (c.broken > 1)
			(void)snprintf(
			    others, sizeof(others), " (and %zu more like it)", c.broken - 1);
		err = fault_set(ret_doubt, -EBADMSG, "%.180s%s", c.first.text, others);
	}
out:
	extents_release(&c.nodes);
	extents_release(&c.inners);
	return err;
}
