/* memo.c - caller -> site: exact memoised unwinding, when the hook misses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stack/memo.h"

#include <stddef.h>
#include <string.h>

#include "collector/stack/chunk.h"
#include "collector/stack/known.h"
#include "collector/heap/ledger_hit.h"
#include "collector/segment/mem.h"
#include "collector/stack/outer.h"
#include "collector/unwind/walk.h"

enum { MEMO_TOTAL_MAX = 32 << 20 };

static uint64_t total; /* bytes of all memos */

/* ---- the memo of a thread ------------------------------------------------- */

static uint32_t chunks_of(const struct thread *t)
{
	return t->memo.mask / sizeof(struct memo_chunk) + 1;
}

static bool give(struct thread *t, uint32_t bits)
{
	uint64_t bytes = sizeof(struct memo_chunk) << bits;
	struct memo_chunk *m;

	if (ADD(&total, bytes) + bytes > MEMO_TOTAL_MAX && bits > MEMO_MIN_BITS) {
		ADD(&total, -bytes);
		return false;
	}
	m = mem_alloc(bytes);
	if (!m)
		return false;
	t->memo.entries = m;
	t->memo.room = 1u << bits;
	t->memo.mask = (uint32_t)(((1u << bits) - 1) * sizeof(*m));
	return true;
}

bool memo_begin(struct thread *t)
{
	return t->memo.entries || give(t, MEMO_MIN_BITS);
}

void memo_forget(struct thread *t)
{
	uint32_t i;

	for (i = 0; i < chunks_of(t); i++)
		t->memo.entries[i].key = 0;
}

void memo_shrink(struct thread *t)
{
	enum { LEAST = ((1u << MEMO_MIN_BITS) - 1) * sizeof(struct memo_chunk) };

	/* it is cleared for every new owner, so it starts small */
	if (t->memo.mask > LEAST)
		t->memo.mask = LEAST;
}

/* Makes the memo larger if the total of all memos allows it. */
static SEEP_COLD void grow(struct thread *t)
{
	uint32_t bits = (uint32_t)__builtin_ctz(chunks_of(t));

	t->memo.misses = 0;
	if (bits >= MEMO_MAX_BITS)
		return;
	bits += bits + 2 <= MEMO_MAX_BITS ? 2 : 1;
	if (1u << bits > t->memo.room) {
		give(t, bits);
		return;
	}
	/* an earlier owner of this block needed as much */
	t->memo.mask = (uint32_t)(((1u << bits) - 1) * sizeof(*t->memo.entries));
	memo_forget(t);
}

/* ---- a stack that the hook does not find ---------------------------------- */

/*
 * If the outer frames need the fp with which they begin, makes e prove that,
 * too. False: there is no word left for it.
 */
static bool lists_fp(struct memo_chunk *e, uint64_t fp)
{
	uint32_t i, last = MEMO_WORDS - 1;

	if (e->fp_offset == UINT16_MAX) { /* it is still in the register */
		e->gen_flags |= (uint64_t)MEMO_USES_FP << 32;
		e->fp = fp;
		return true;
	}
	for (i = 0; i < last; i++) {
		if (e->offset[i] == e->fp_offset)
			return true;
	}
	/* before the last return address, which is repeated up to the end */
	while (i > 0 && e->offset[i - 1] == e->offset[last])
		i--;
	if (i == last)
		return false;
	e->offset[i] = e->fp_offset;
	e->value[i] = fp;
	return true;
}

/* Is `top` in the page of the hook's return address, or 0? */
static bool is_near(const struct walk *w, uint64_t top)
{
	return !top || ((top - 1) ^ (w->hook->sp - CPU_RETURN_BYTES)) < CPU_PAGE;
}

/* The frame of the copy is at c: can its words be compared there? */
static bool meets(
    const struct thread *t, struct walk *w, const struct outer_frame *o, const struct cpu_frame *c)
{
	return (!o->needs_fp || o->fp == c->fp) && !o->exact &&
	    !outer_keeps_too_few(t, (uint32_t)(o - t->copy.frame) + 1) && walk_prove(w, o->top);
}

/*
 * The site of the inner frames `inner` and the outer ones from *w on. Notes in
 * e where it joined the last stack, and whether the words alone prove it from
 * now on. `differs` is the check of the last stack that is known to fail, with
 * e->hint; below 0: not known.
 */
static struct site_id join_outer(struct thread *t, struct memo_chunk *e, struct walk *w,
    uint32_t inner, enum seg_api api, int differs, struct paths_joined *ret)
{
	const struct outer_frame *o = &t->copy.frame[e->hint & (OUTER_MAX - 1)];
	const struct cpu_frame c = {w->pc, w->sp, w->fp};
	const uint64_t key = e->key;
	const bool sure = w->sure;
	bool holds = false, copied;
	struct site_id s;
	uint32_t node;

	*ret = (struct paths_joined){e->hint, false};
	if (differs < 0 && e->node == MEMO_NO_NODE && t->copy.gen == LOAD(&module_gen)) {
		/* new: it may be a part of the copy */
		o = outer_at(t, &c);
		holds = o && meets(t, w, o, &c) && memo_verify(t, (int)o->checks) < 0;
		if (holds)
			e->hint = ret->hint = (uint16_t)(o - t->copy.frame);
	} else if (differs < 0 && ret->hint < t->copy.count && o->sp == c.sp && o->pc == c.pc &&
	    meets(t, w, o, &c)) {
		differs = memo_verify(t, (int)o->checks);
		holds = differs < 0;
	}
	if (holds) {
		node = outer_node(t, ret->hint);
	} else {
		s = known_site(
		    t, w, inner, api, differs < 0 ? (int)t->copy.count - 1 : ret->hint, differs);
		if (s.v)
			return s;
		node = w->sure ? 0 : paths_outer(t, w, &c, ret);
		if (!node) {
			ret->vouched = false;
			node = outer_walk(t, w, &ret->hint);
		}
		if (e->key != key) /* an outer chunk took its place */
			return sites_get(node, inner, api);
		e->hint = ret->hint;
		o = &t->copy.frame[ret->hint & (OUTER_MAX - 1)];
	}
	e->version = MEMO_NO_STAMP;
	copied = ret->hint < t->copy.count && o->sp == c.sp && o->pc == c.pc && !o->exact &&
	    o->node == node;
	if (copied) {
		ret->vouched = o->vouched;
		if (is_near(w, o->top) && (!o->needs_fp || (o->fp == c.fp && lists_fp(e, c.fp)))) {
			e->checks_offset = (uint16_t)(o->checks * sizeof(t->copy.stamp[0]));
			e->version = t->copy.stamp[o->checks];
		}
	}
	if (node != e->node) {
		s = copied ? known_get(t, ret->hint, inner, api, sure)
		           : sites_get(node, inner, api);
		e->site = s.v;
		e->node = copied ? o->node : node;
	}
	return (struct site_id){e->site};
}

/* The words of e hold, but the outer part differs from the last time. */
static struct site_id memo_join(
    struct thread *t, struct memo_chunk *e, struct walk *w, enum seg_api api, int differs)
{
	const struct cpu_frame *c = w->hook;
	const uint64_t *slots = (const uint64_t *)(uintptr_t)c->sp - 1;
	const uint32_t inner = e->inner;
	const uint64_t key = e->key;
	const bool sure = w->sure;
	struct paths_joined joined;
	struct site_id s;

	walk_move(w, e->value[MEMO_WORDS - 1], c->sp + (uint64_t)e->end_offset * 8,
	    e->fp_offset == UINT16_MAX ? c->fp : slots[e->fp_offset]);
	s = join_outer(t, e, w, inner, api, differs, &joined);
	/* an outer chunk may have been filled in its place */
	if (unlikely(e->key != key || e->sp != c->sp))
		return s;
	if (unlikely(!sure)) {
		bool doubt = !joined.vouched && !is_near(w, chunk_top(e));

		e->key = (key & ~MEMO_DOUBT) | (doubt ? MEMO_DOUBT : 0);
	}
	return s;
}

static struct site_id memo_fill(
    struct thread *t, struct memo_chunk *e, struct walk *w, enum seg_api api)
{
	const struct cpu_frame *c = w->hook;
	const uint32_t gen = LOAD(&module_gen);
	uint64_t frames[SEG_INNER_FRAMES], top;
	struct paths_joined joined;
	struct site_id s;
	enum memo_flags next;
	uint32_t n;

	if (unlikely(++t->memo.misses > 4 * chunks_of(t))) {
		grow(t);
		e = memo_at(t, memo_hash(c));
	}
	e->key = 0; /* a half-written entry never matches */
	n = chunk_fill(t, e, w, frames, &next);
	top = w->top;
	e->sp = c->sp;
	e->fp = c->fp;
	e->gen_flags |= gen;
	e->hint = UINT16_MAX;
	e->passed_over = e->changes = 0;
	e->version = MEMO_NO_STAMP;
	e->checks_offset = 0;
	e->node = MEMO_NO_NODE;
	e->inner = sites_inner(frames, n);
	s = join_outer(t, e, w, e->inner, api, -1, &joined);
	if (unlikely(e->key))
		return s; /* an outer chunk has been filled in its place */
	e->site = s.v;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	if (likely(joined.vouched || is_near(w, top)))
		e->key = memo_key(c, api);
	else if (top != WALK_NOWHERE)
		e->key = memo_key(c, api) | MEMO_DOUBT;
	return s;
}

static void put_chunk(struct memo_chunk *to, const struct memo_chunk *from)
{
	to->key = 0; /* a half-written entry never matches */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(&to->sp, &from->sp, sizeof(*to) - offsetof(struct memo_chunk, sp));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	to->key = from->key;
}

/*
 * The hook itself looks only at the first place, which belongs to the stack
 * that came first, and not always to the most frequent one. So a stack that is
 * found behind it, and has come twice as often, changes places with it. (The
 * first word in which they differ has the same offset in both. Chunks that were
 * reached through the old first one may not be found any more; they are filled
 * again.) The ledger knows how often a stack came, but only with its present
 * outer frames, so each change doubles the time until the next change at that
 * place.
 */
static uint64_t times_seen(const struct thread *t, const struct memo_chunk *e)
{
	const struct seg_row *row = ledger_open_row(t, e->site);

	return row ? row->allocations : 0;
}

/* Returns where e is now. */
static SEEP_COLD struct memo_chunk *promote(const struct thread *t, const struct cpu_frame *c,
    struct memo_chunk *e, const struct chunk_search *l)
{
	struct memo_chunk *first = l->first, *place;
	const struct memo_chunk old = *first, new = *e;
	const uint64_t word = old.value[l->differs];

	first->passed_over = 0;
	if (times_seen(t, e) / 2 <= times_seen(t, first))
		return e;
	place = memo_at(t, memo_next(memo_hash(c), l->differs, word));
	e->key = 0;
	put_chunk(first, &new);
	first->passed_over = 0;
	first->changes = (uint16_t)(old.changes + (old.changes < MEMO_CHANGES_MAX));
	if (place != first)
		put_chunk(place, &old);
	return first;
}

SEEP_NOINLINE struct site_id memo_site(
    struct thread *t, const struct cpu_frame *c, enum seg_api api)
{
	struct memo_chunk *e;
	struct chunk_search l;
	struct walk w;
	int differs = -1;

	walk_begin(&w, t, c);
	e = chunk_find(t, &w, c, memo_key(c, api), &l);
	if (!e)
		return memo_fill(t, l.last, &w, api);
	if (e != l.first) {
		if (memo_is_passed_over(l.first))
			e = promote(t, c, e, &l);
		else
			l.first->passed_over++;
	}
	if (e->version == *memo_stamp(t, e->checks_offset)) {
		differs = memo_verify(t, e->checks_offset / (int)sizeof(t->copy.stamp[0]));
		if (differs < 0)
			return (struct site_id){e->site};
	}
	return memo_join(t, e, &w, api, differs);
}

SEEP_NOINLINE struct site_id memo_site_at(struct thread *t, const struct cpu_frame *c,
    enum seg_api api, struct memo_chunk *e, uint32_t checks)
{
	struct walk w;

	walk_begin(&w, t, c);
	return memo_join(t, e, &w, api, checks ? memo_verify(t, (int)checks) : -1);
}
