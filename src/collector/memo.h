/* memo.h - caller -> site: exact memoised unwinding. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_MEMO_H
#define SEEP_COLLECTOR_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "collector/module.h"
#include "collector/sites.h"
#include "collector/thread.h"

/*
 * A walk up the stack is a pure function of the caller's (pc, sp, fp), the
 * unwind rows, and the words that it loads. A memo entry lists these words
 * with their values. If they still have these values, the walk would go the
 * same way again, and its result needs not be computed: the check is exact,
 * not a guess. The words are compared from the innermost frame outwards, with
 * an early exit, so that every load of the check is one that the walk itself
 * would do. (Entries also demand the same sp: all loads are at addresses that
 * a bounded walk has loaded before.)
 *
 * The inner frames, where stacks differ, are in chunks of up to six frames, a
 * hash table per thread. Allocator wrappers make the first few words alike,
 * so the table is probed by mismatch: if word i differs, the value found there
 * gives the next place to look, a decision tree over just the words that
 * differ. No row is looked up for it.
 *
 * The outer frames, which change rarely, are a verified copy of the last
 * stack: frame j of it holds if `checks` words hold. The chunk remembers at
 * which frame it joined (`hint`), so a hit is one pass over a few dozen words,
 * about half a nanosecond each.
 *
 * A saved frame pointer is listed only where a frame further out needs it for
 * its CFA: elsewhere rbp is data, and listing it would miss without need.
 */
enum { MEMO_USES_FP = 1, MEMO_PROBES = 5 };

/* Slow parts. */
struct site_id memo_fill(struct thread *t, struct memo_chunk *e,
    const struct cpu_frame *c, enum seg_api api);
uint32_t memo_outer_walk(
    struct thread *t, uint64_t pc, uint64_t sp, uint64_t fp, uint16_t *hint);

/* First failing word of the first n checks, innermost first, or -1. */
SEEP_INLINE int
memo_verify(const struct thread *t, int n)
{
	const struct outer_check *c = t->check;
	int i = n - 1;

	for (; i >= 3; i -= 4) {
		if (*(const uint64_t *)c[i].address != c[i].value)
			return i;
		if (*(const uint64_t *)c[i - 1].address != c[i - 1].value)
			return i - 1;
		if (*(const uint64_t *)c[i - 2].address != c[i - 2].value)
			return i - 2;
		if (*(const uint64_t *)c[i - 3].address != c[i - 3].value)
			return i - 3;
	}
	for (; i >= 0; i--) {
		if (*(const uint64_t *)c[i].address != c[i].value)
			return i;
	}
	return -1;
}

/* The node of the frames from (pc, sp, fp) outwards. */
SEEP_INLINE uint32_t
memo_outer(
    struct thread *t, uint64_t pc, uint64_t sp, uint64_t fp, uint16_t *hint)
{
	const struct outer_frame *o = &t->outer[*hint & (THREAD_OUTER_MAX - 1)];

	if (likely(*hint < t->outer_count && o->sp == sp && o->pc == pc &&
	        (!o->needs_fp || o->fp == fp) && !o->exact &&
	        (!t->outer_truncated || *hint + 1u == t->outer_count)) &&
	    likely(memo_verify(t, (int)o->checks) < 0))
		return o->node;
	return memo_outer_walk(t, pc, sp, fp, hint);
}

/* The site of a caller. The thread is busy; never fails (see sites_get). */
SEEP_INLINE struct site_id
memo_site(struct thread *t, const struct cpu_frame *c, enum seg_api api)
{
	const uint64_t *sp = (const uint64_t *)(uintptr_t)c->sp;
	const uint32_t gen = LOAD(&module_gen);
	uint64_t h = hash_word(c->pc ^ c->sp << 15);
	struct memo_chunk *e;
	int probe;

	for (probe = 0;;) {
		uint32_t i, node;

		e = &t->memo[h >> t->memo_shift];
		if (unlikely(e->pc != c->pc || e->sp != c->sp ||
		        e->gen != gen ||
		        ((e->flags & MEMO_USES_FP) && e->fp != c->fp)))
			break;
		for (i = 0; i < e->words; i++) {
			if (unlikely(sp[e->offset[i]] != e->value[i]))
				goto differs;
		}
		node = memo_outer(t, i ? e->value[i - 1] : c->pc,
		    c->sp + (uint64_t)e->end_offset * 8,
		    e->fp_offset == UINT16_MAX ? c->fp : sp[e->fp_offset],
		    &e->hint);
		if (unlikely(node != e->node)) {
			struct site_id s = sites_get(node, e->inner, api);

			e->node = node;
			e->site = s.v;
		}
		return (struct site_id){e->site};
	differs:
		if (++probe == MEMO_PROBES)
			break;
		h = hash_mix(h ^ i, sp[e->offset[i]]);
	}
	return memo_fill(t, e, c, api);
}

/*
 * Without memo, by rows alone: for nested events. `scratch` holds up to `max`
 * frames; with max <= SEG_INNER_FRAMES the outer ones are dropped. Says in
 * *ret_own whether a frame of this library is on the stack and in
 * *ret_whole whether the walk came to the end of the thread's own stack.
 */
struct site_id memo_nested(struct thread *t, const struct cpu_frame *c,
    enum seg_api api, uint64_t *scratch, uint32_t max, bool *ret_own,
    bool *ret_whole);

/* Frames beyond this are not kept: "(stack deeper than the limit)". */
extern uint32_t memo_depth;

#endif
