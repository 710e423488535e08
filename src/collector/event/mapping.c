/* mapping.c - the host's own mappings, by caller: what libseep-map.so reports. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/mapping.h"

#include <sys/mman.h>

#include "base/attr.h"
#include "collector/segment/config.h"
#include "collector/heap/ledger.h"
#include "collector/lifecycle.h"
#include "collector/unwind/module.h"
#include "collector/event/recorder.h"
#include "collector/heap/sites.h"
#include "collector/segment/tick.h"
#include "format/seg_mapped.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

enum {
	HUGE_BITS_MASK = 63, /* of flags, from MAP_HUGE_SHIFT on */
	HUGE_BITS_DEFAULT = 21,
	KNOWN = 64,
};

struct segment_table mapping_rows;
static uint64_t allocator_start, allocator_bytes;

bool mapping_init(uint32_t first_id)
{
	return !config.mappings ||
	    segment_table_init(&mapping_rows, SEG_EXT_LEDGER, SEG_MAPPING_ARRAY,
	        sizeof(struct seg_row), first_id, SITES_MAX);
}

void mapping_set_allocator(const void *function)
{
	uint64_t start, end;

	if (function && module_range(function, &start, &end)) {
		allocator_start = start;
		allocator_bytes = end - start;
	}
}

/* ---- figures ------------------------------------------------------------- */

static void lost(uint64_t n)
{
	if (n)
		segment_count(SEG_LOST_MAPPINGS, n);
}

static uint64_t bytes_of(uint64_t pages)
{
	return pages << MAPPED_PAGE_BITS;
}

/* These pages are unmapped, or elsewhere. */
static void count_gone(const struct ranges_run *run, bool is_death)
{
	struct seg_row *row = ledger_row_in(&mapping_rows, run->site);
	uint32_t age = tick_now() - run->birth;

	if (!row)
		return;
	ADD(&row->freed_bytes, bytes_of(run->end - run->first));
	if (!run->starts)
		return; /* the range lives on before it */
	ADD(&row->frees, 1);
	if (is_death && age)
		ledger_age(NULL, run->site, age);
}

/* The part behind pages that were taken out is a range of its own now. */
static void count_split(const struct ranges_taken *t)
{
	struct seg_row *row = t->split ? ledger_row_in(&mapping_rows, t->split) : NULL;

	if (row)
		ADD(&row->allocations, 1);
}

static void gone_at_once(const struct ranges_run *run)
{
	count_gone(run, true);
}

static void count_taken(const struct ranges_taken *t, bool is_death)
{
	uint32_t i;

	for (i = 0; i < t->count; i++)
		count_gone(&t->runs[i], is_death);
	count_split(t);
	lost(t->lost);
}

/* ---- ranges -------------------------------------------------------------- */

struct pages {
	uint64_t first, end;
};

/* False: the kernel will not accept it, or it is beyond the table. */
static bool pages_from(const void *p, uint64_t bytes, struct pages *ret)
{
	const uint64_t at = (uint64_t)(uintptr_t)p;
	uint64_t end;

	if (__builtin_add_overflow(at, bytes, &end) ||
	    __builtin_add_overflow(end, CPU_PAGE - 1, &end))
		return false;
	ret->first = at >> MAPPED_PAGE_BITS;
	ret->end = end >> MAPPED_PAGE_BITS;
	return bytes && ret->first < ret->end && ret->end <= MAPPED_PAGES;
}

/* Huge pages: the kernel rounds the length up. */
static uint64_t real_bytes(uint64_t bytes, int flags)
{
	uint32_t bits = (unsigned)flags >> MAP_HUGE_SHIFT & (unsigned)HUGE_BITS_MASK;
	uint64_t mask;

	if (!(flags & MAP_HUGETLB))
		return bytes;
	mask = (UINT64_C(1) << (bits ? bits : HUGE_BITS_DEFAULT)) - 1;
	return bytes + mask < bytes ? bytes : (bytes + mask) & ~mask;
}

/* Are mappings recorded? Starts the collector if that is necessary. */
static bool is_wanted(void)
{
	return lifecycle_running() && config.mappings;
}

/*
 * Whatever the table has there was unmapped past our hooks, or mapped over. A
 * function of its own, because the list needs some stack.
 */
static SEEP_NOINLINE void clear(const struct pages *p)
{
	struct ranges_taken t;

	ranges_take(p->first, p->end, &t, gone_at_once);
	count_taken(&t, true);
}

/*
 * The site of mappings with this stack. The last ones are remembered: a word
 * has the stack in its upper and the site in its lower half. A forked child has
 * other stacks, so it finds none of its parent's.
 */
static struct site_id site_with(struct site_id stack)
{
	static uint64_t known[KNOWN];
	uint64_t *word = &known[stack.v % KNOWN];
	const uint64_t was = LOAD(word);
	struct site_id site = {(uint32_t)was};

	if (likely(was >> 32 == stack.v))
		return site;
	site = sites_user(stack, SEG_MAPPING_OF_CALLER);
	if (site.v)
		STORE(word, (uint64_t)stack.v << 32 | site.v);
	return site;
}

/* The site of a caller of mmap; 0 if it is not recorded. */
static struct site_id site_of(const struct cpu_frame *c)
{
	struct site_id stack = {0}, site;

	if (!lifecycle_poll())
		return stack;
	if (c->pc - allocator_start < allocator_bytes) {
		stack = sites_get(SITES_NODE_ROOT, sites_inner(NULL, 0), SEG_API_NONE);
		site = sites_user(stack, SEG_MAPPING_OF_ALLOCATOR);
	} else {
		stack = recorder_stack(c);
		if (!stack.v)
			return stack; /* off, or the thread has paused */
		site = site_with(stack);
	}
	if (!site.v)
		lost(1);
	return site;
}

static void enter(const struct pages *p, const struct cpu_frame *c)
{
	struct ranges_run run = {.first = p->first, .end = p->end, .starts = true};
	struct seg_row *row;
	uint64_t done;

	run.site = site_of(c).v;
	if (!run.site)
		return;
	run.birth = tick_now();
	row = ledger_row_in(&mapping_rows, run.site);
	if (!row) {
		lost(1);
		return;
	}
	done = ranges_put(&run);
	if (done)
		ledger_row_add(row, run.site, bytes_of(done));
	lost(done < p->end - p->first);
}

SEEP_EXPORT void seep_map_mapped(void *p, size_t bytes, int flags, const struct cpu_frame *c)
{
	const bool is_private = (flags & MAP_TYPE) == MAP_PRIVATE;
	bool counted;
	struct pages at;

	if (lifecycle_is_out)
		return;
	counted = lifecycle_slow_begins();
	if (is_wanted()) {
		if (pages_from(p, real_bytes(bytes, flags), &at)) {
			tick_read();
			clear(&at);
			if (is_private && flags & MAP_ANONYMOUS)
				enter(&at, c);
		} else {
			lost(1);
		}
	}
	lifecycle_slow_ends(counted);
}

/*
 * Around a call that unmaps: counted as a slow event only before and after it,
 * because the call itself may take long.
 */
static bool take(const void *p, uint64_t bytes, struct ranges_taken *ret)
{
	bool counted = lifecycle_slow_begins(), taken = false;
	struct pages at;

	if (is_wanted() && !((uintptr_t)p & (CPU_PAGE - 1)) && pages_from(p, bytes, &at)) {
		tick_read();
		ranges_take(at.first, at.end, ret, gone_at_once);
		taken = ret->count || ret->lost || ret->split;
	}
	lifecycle_slow_ends(counted);
	return taken;
}

static void put_back(const struct ranges_taken *t)
{
	ranges_put_back(t);
	lost(t->lost + t->beyond);
}

SEEP_EXPORT int seep_map_unmap(void *p, size_t bytes, mapping_unmap *unmap)
{
	struct ranges_taken t;
	bool counted;
	int result;

	if (lifecycle_is_out || !take(p, bytes, &t))
		return unmap(p, bytes);
	result = unmap(p, bytes);
	counted = lifecycle_slow_begins();
	if (lifecycle_running()) {
		if (result == 0)
			count_taken(&t, true);
		else
			put_back(&t);
	}
	lifecycle_slow_ends(counted);
	return result;
}

/* ---- mremap -------------------------------------------------------------- */

/*
 * The runs of a mapping are at another address, or it has another size. Each of
 * them is one range with its old site and birth. What a mapping has grown by
 * belongs to the last one, if that came up to the end.
 */
static void enter_moved(const struct ranges_taken *t, const struct pages *old, struct pages at)
{
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		struct ranges_run run = t->runs[i];
		struct seg_row *row = ledger_row_in(&mapping_rows, run.site);
		uint64_t done;

		if (run.end == old->end)
			run.end = old->first + (at.end - at.first);
		run.first = run.first - old->first + at.first;
		run.end = run.end - old->first + at.first;
		if (run.end > at.end)
			run.end = at.end;
		if (run.first >= run.end)
			continue;
		run.starts = true;
		done = ranges_put(&run);
		if (row && done)
			ledger_row_add(row, run.site, bytes_of(done));
		lost(done < run.end - run.first);
	}
}

/* Where the mapping is now, what the table still has is no longer there. */
static void clear_stale(const struct pages *old, const struct pages *at)
{
	const struct pages grown = {old->end, at->end};

	if (at->first != old->first)
		clear(at);
	else if (at->end > old->end)
		clear(&grown);
}

static void after_move(const struct ranges_taken *t, const struct ranges_taken *over,
    const struct pages *old, const void *p, uint64_t bytes, bool stays)
{
	struct pages at;

	if (over)
		count_taken(over, true);
	if (pages_from(p, bytes, &at)) {
		clear_stale(old, &at);
		enter_moved(t, old, at);
	} else {
		lost(1);
	}
	if (stays) {
		put_back(t);
		return;
	}
	count_taken(t, false);
	lost(t->beyond);
}

SEEP_EXPORT void *seep_map_move(
    void *old, size_t old_bytes, size_t bytes, int flags, void *to, mapping_move *move)
{
	const bool stays = flags & MREMAP_DONTUNMAP;
	struct ranges_taken t = {0}, over = {0};
	bool counted, has_over = false;
	struct pages at = {0};
	void *p;

	/* with a size of 0 it makes another view of a shared mapping */
	if (lifecycle_is_out || !old_bytes || !take(old, old_bytes, &t)) {
		t.count = t.split = t.lost = 0;
	}
	if (!lifecycle_is_out && flags & MREMAP_FIXED)
		has_over = take(to, bytes, &over);
	p = move(old, old_bytes, bytes, flags, to);
	if (lifecycle_is_out)
		return p;
	counted = lifecycle_slow_begins();
	if (is_wanted()) {
		(void)pages_from(old, old_bytes, &at);
		if (p != MAP_FAILED) {
			after_move(&t, has_over ? &over : NULL, &at, p, bytes, stays);
		} else {
			/* in the other order, because they may overlap */
			if (has_over)
				put_back(&over);
			put_back(&t);
		}
	}
	lifecycle_slow_ends(counted);
	return p;
}

/* ---- at the end ---------------------------------------------------------- */

struct scan {
	bool (*fn)(uint32_t site, uint64_t size, uint32_t birth, void *arg);
	void *arg;
};

static bool scan_one(const struct ranges_run *run, void *arg)
{
	const struct scan *s = arg;

	return ledger_is_inherited(run->site) ||
	    s->fn(run->site, bytes_of(run->end - run->first), run->birth, s->arg);
}

void mapping_scan(bool (*fn)(uint32_t site, uint64_t size, uint32_t birth, void *arg), void *arg)
{
	struct scan s = {fn, arg};

	if (config.mappings)
		ranges_scan(scan_one, &s);
}

static bool found_one(uint32_t site, uint64_t size, uint32_t birth, void *arg)
{
	(void)site;
	(void)size;
	(void)birth;
	*(bool *)arg = true;
	return false;
}

bool mapping_any(void)
{
	bool any = false;

	mapping_scan(found_one, &any);
	return any;
}
