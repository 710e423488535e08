/* cross_check.c - do the live map and the ledger of a process agree? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/cross_check.h"

#include "host/proc/procfs.h"
#include "kit/data/capped.h"
#include "segments/blocks/live_map.h"
#include "segments/find/proc.h"

enum { TRIES = 3, BUDGET_NS = 100000000 };

/*
 * Blocks of one site: the range that the ledger allows, and the map's number.
 */
struct bounds {
	uint64_t low, high, map;
};

/* The differences between map and ledger over all sites. */
struct gap {
	uint64_t blocks;
	size_t uneven; /* sites with equal blocks, but other bytes */
	uint32_t site; /* the first site that differs */
	struct bounds first;
	uint64_t bytes, map_bytes; /* of the first uneven site */
};

static bool is_heap(const struct extents *sites, uint32_t id)
{
	struct seg_site row;

	return !extents_get(sites, id, &row, sizeof(row)) || seg_is_heap(row.kind);
}

static uint64_t taken(const struct sum_row *s, bool is_sampled)
{
	return !s ? 0 : is_sampled ? s->samples : s->allocations;
}

static uint64_t given(const struct sum_row *s, bool is_sampled)
{
	return !s ? 0 : is_sampled ? s->sampled_frees : s->frees;
}

static void add_gap(struct gap *g, uint32_t site, struct bounds b)
{
	uint64_t by = capped_difference(b.low, b.map) + capped_difference(b.map, b.high);

	if (by == 0)
		return;
	if (g->blocks == 0) {
		g->site = site;
		g->first = b;
	}
	g->blocks += by;
}

static void add_uneven(struct gap *g, uint32_t site, uint64_t bytes, uint64_t map_bytes)
{
	if (bytes == map_bytes)
		return;
	if (g->uneven++ == 0 && g->blocks == 0) {
		g->site = site;
		g->bytes = bytes;
		g->map_bytes = map_bytes;
	}
}

/*
 * Events that may be half done: each is in the map or in the ledger, but not in
 * both.
 */
static uint64_t known_faults(const struct seg_header *h)
{
	return h->counts[SEG_HEALED] + h->counts[SEG_LOST_EVENTS] + h->counts[SEG_LOST_FREES] +
	    h->counts[SEG_FORKED_INSIDE] + h->counts[SEG_MISSED_FREES] +
	    h->counts[SEG_UNKNOWN_FREES];
}

static enum cross_check verdict(
    const struct gap *g, uint64_t slack, const char *when, struct fault *ret_doubt)
{
	if (g->blocks > slack) {
		(void)fault_set(ret_doubt, 0,
		    "site %u had %llu blocks in the live map %s, %llu to %llu "
		    "in the ledger",
		    g->site, (unsigned long long)g->first.map, when,
		    (unsigned long long)g->first.low, (unsigned long long)g->first.high);
		return CROSS_CHECK_NO;
	}
	if (g->uneven > slack) {
		(void)fault_set(ret_doubt, 0,
		    "site %u had %llu bytes in the live map %s, %llu in the "
		    "ledger",
		    g->site, (unsigned long long)g->map_bytes, when, (unsigned long long)g->bytes);
		return CROSS_CHECK_NO;
	}
	return CROSS_CHECK_YES;
}

/* ---- at the end ---- */

/* The live blocks that the destructor has counted; their sum is in *ret_all. */
static void sum_lives(const struct segment *seg, uint64_t *ret_all)
{
	*ret_all = 0;
	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];
		struct seg_live row;

		for (uint32_t k = 0; x->kind == SEG_EXT_LIVE && k < x->count; k++) {
			/* older rows have no sizes */
			memcpy(&row, segment_copy_row(x, k), offsetof(struct seg_live, sizes));
			*ret_all += row.blocks;
		}
	}
}

enum cross_check cross_check_ended(const struct segment *seg, const struct sums *sums,
    const struct extents *sites, struct fault *ret_doubt)
{
	const struct seg_header *h = &seg->header;
	bool is_sampled = h->sample_bytes > 0;
	uint64_t events = 0, all, slack, seen = 0;
	struct extents lives = {0};
	struct gap g = {0};

	if (h->end_kind != SEG_END_EXITED || h->fold_events == 0 || h->live_scan_partial ||
	    h->snapshot_reason != SEG_SNAPSHOT_NONE)
		return CROSS_CHECK_UNKNOWN;
	if (extents_init(&lives, seg, SEG_EXT_LIVE) < 0)
		return CROSS_CHECK_UNKNOWN;
	sum_lives(seg, &all);
	for (size_t i = 0; i < sums->count; i++) {
		const struct sum_row *s = &sums->items[i];
		struct seg_live live = {0};
		uint64_t n;

		(void)extents_get(&lives, s->id, &live, offsetof(struct seg_live, sizes));
		seen += live.blocks;
		if (!is_heap(sites, s->id))
			continue;
		events += s->allocations + s->frees;
		n = capped_difference(taken(s, is_sampled), given(s, is_sampled));
		add_gap(&g, s->id, (struct bounds){n, n, live.blocks});
		if (n == live.blocks && !is_sampled)
			add_uneven(&g, s->id, capped_difference(s->allocated_bytes, s->freed_bytes),
			    live.bytes);
	}
	extents_release(&lives);
	if (all > seen)
		add_gap(&g, 0, (struct bounds){0, 0, all - seen});
	/*
	 * Other threads may be at work during exit(): each may have one event
	 * half done, or one more in a signal handler.
	 */
	slack = known_faults(h) + capped_difference(events, h->fold_events);
	if (h->threads > 1)
		slack += h->threads;
	else if (h->counts[SEG_NESTED_EVENTS] > 0)
		slack++;
	return verdict(&g, slack, "at its end", ret_doubt);
}

/* ---- while it runs ---- */

/* Call this for ids in ascending order. NULL: the ledger does not have it. */
static const struct sum_row *next_of(const struct sums *l, size_t *at, uint32_t id)
{
	while (*at < l->count && l->items[*at].id < id)
		(*at)++;
	return *at < l->count && l->items[*at].id == id ? &l->items[*at] : NULL;
}

static void compare_site(struct gap *g, uint32_t id, const struct sum_row *before,
    const struct sum_row *after, const struct sum_row *map, const struct live_map *m,
    bool is_sampled)
{
	uint64_t in_before = taken(before, is_sampled);
	uint64_t in_after = taken(after, is_sampled);
	uint64_t out_before = given(before, is_sampled);
	uint64_t out_after = given(after, is_sampled);
	struct bounds b = {.low = capped_difference(in_before, out_after),
	    .high = capped_difference(in_after, out_before),
	    .map = map ? map->allocations : 0};

	if (m->is_partial)
		b.low = 0;
	add_gap(g, id, b);
	if (b.low == b.high && b.map == b.low && m->bytes_known && !is_sampled && !m->is_partial &&
	    after)
		add_uneven(g, id, capped_difference(after->allocated_bytes, after->freed_bytes),
		    map ? map->allocated_bytes : 0);
}

/*
 * The ids come from the later ledger, because it has all ids of the earlier
 * one.
 */
static struct gap compare(const struct sums *before, const struct live_map *m,
    const struct sums *after, const struct extents *sites, bool is_sampled)
{
	size_t in_before = 0, in_map = 0, in_after = 0;
	struct gap g = {0};

	for (size_t i = 0; i < after->count; i++) {
		uint32_t id = after->items[i].id;

		if (is_heap(sites, id))
			compare_site(&g, id, next_of(before, &in_before, id), &after->items[i],
			    next_of(&m->counts, &in_map, id), m, is_sampled);
	}
	for (size_t i = 0; i < m->counts.count; i++) {
		const struct sum_row *s = &m->counts.items[i];

		if (!next_of(after, &in_after, s->id))
			add_gap(&g, s->id, (struct bounds){0, 0, s->allocations});
	}
	return g;
}

static uint64_t threads_of(pid_t pid)
{
	uint32_t n = procfs_status(pid, "Threads");

	return n ? n : 1;
}

/* Is it still the same process with the same program? */
static bool same_still(
    const struct seg_header *a, const struct seg_header *b, const struct segfile *f)
{
	pid_t pid;

	return memcmp(a->uuid, b->uuid, sizeof(a->uuid)) == 0 && b->end_kind == SEG_END_NONE &&
	    a->live_root == b->live_root && proc_check(b, segfile_source(f), &pid) == PROC_YES;
}

/* One round; *before becomes the ledger after it. */
static int look_once(const struct segment *seg, struct sums *before, const struct segfile *f,
    int slot, pid_t pid, enum cross_check *ret, struct cross_check_words *words)
{
	bool is_sampled = seg->header.sample_bytes > 0;
	struct segment *again = NULL;
	struct sums after = {0};
	struct extents sites = {0};
	struct live_map map = {0};
	struct gap g;
	int err;

	*ret = CROSS_CHECK_UNKNOWN;
	err = live_map_read(&map, pid, &seg->header, BUDGET_NS);
	if (err < 0 || segfile_read(f, slot, &again, NULL) < 0) {
		if (err == -ETIMEDOUT)
			words->unread = map.why;
		err = err == -ENOMEM ? err : 0;
		goto out;
	}
	err = -ENOMEM;
	if (sums_init(&after, again) < 0 || extents_init(&sites, again, SEG_EXT_SITE) < 0)
		goto out;
	err = 0;
	g = compare(before, &map, &after, &sites, is_sampled);
	if (same_still(&seg->header, &again->header, f)) {
		*ret = verdict(&g, threads_of(pid) + known_faults(&again->header), "while it ran",
		    &words->doubt);
		if (*ret == CROSS_CHECK_YES && map.is_partial)
			*ret = CROSS_CHECK_PARTLY;
	}
	sums_release(before);
	*before = after;
	after = (struct sums){0};
out:
	extents_release(&sites);
	sums_release(&after);
	live_map_release(&map);
	segment_copy_free(again);
	return err;
}

int cross_check_running(const struct segment *seg, const struct segfile *f, int slot, pid_t pid,
    enum cross_check *ret, struct cross_check_words *words)
{
	struct sums before = {0};
	int err;

	*ret = CROSS_CHECK_NO;
	err = sums_init(&before, seg);
	/*
	 * A word that was read while it was written may mislead once, so try
	 * again.
	 */
	for (int i = 0; i < TRIES && err == 0 && *ret == CROSS_CHECK_NO; i++)
		err = look_once(seg, &before, f, slot, pid, ret, words);
	sums_release(&before);
	if (*ret != CROSS_CHECK_NO)
		words->doubt.text[0] = '\0';
	return err;
}

/* ---- invariants: checks relations that must hold in every segment ---- */

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
