/* memo.c - caller -> site: exact memoised unwinding, the slow parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/memo.h"

#include "collector/rows.h"
#include "collector/walk.h"

enum { CHUNK_REACH = 400000 }; /* bytes that 16-bit word offsets can span */

uint32_t memo_depth = THREAD_OUTER_MAX;

/* Which special node a stack hangs below when its walk was not complete. */
static uint32_t
root_of(enum walk_result r, uint32_t why)
{
	if (r != WALK_CUT)
		return SITES_NODE_ROOT;
	segment_count((enum seg_count)why, 1);
	return SITES_NODE_CUT;
}

static bool
uses_fp(struct row r)
{
	return r.kind == ROW_FP || r.kind == ROW_FP_DEREF ||
	    r.fp == ROW_FP_AT_FP;
}

/*
 * Puts frame f on top of outer[0..k-1]. `above` is the frame that f's step
 * led to (outer[k-1]); its pc and fp are what f's slots must still hold.
 */
static void
push_outer(
    struct thread *t, uint32_t k, const struct outer_frame *f, uint32_t node)
{
	const struct outer_frame *above = k ? &t->outer[k - 1] : NULL;
	bool need = above && above->needs_fp;
	struct outer_check *check = t->check + THREAD_CHECK_PAD;
	uint32_t n = above ? above->checks : 0;
	struct outer_frame *o = &t->outer[k];

	if (f->fp_slot && need)
		check[n++] = (struct outer_check){f->fp_slot, above->fp};
	if (f->ra_slot)
		check[n++] =
		    (struct outer_check){f->ra_slot, above ? above->pc : 0};
	if (f->aux_slot)
		check[n++] = (struct outer_check){
		    f->aux_slot, *(const uint64_t *)(uintptr_t)f->aux_slot};
	*o = *f;
	o->checks = n;
	o->needs_fp = uses_fp(f->row) || (!f->fp_slot && need);
	o->node = node;
}

/*
 * Looks for the place where this walk meets the last one. Returns the index
 * of a frame of outer[] that is proven to hold, or -1.
 */
static int
converge(struct thread *t, const struct walk *w, int j, int *fail)
{
	const struct outer_frame *o = &t->outer[j];
	int c, m;

	if (j >= *fail || (o->needs_fp && o->fp != w->fp) || t->outer_truncated)
		return -1;
	c = memo_verify(t, (int)o->checks);
	if (c < 0)
		return j;
	/* frames from m on include the word that differs */
	for (m = j; m > 0 && (int)t->outer[m - 1].checks > c; m--)
		;
	*fail = m;
	return -1;
}

/* Interns the walked frames walk[0..n-1] on top of outer[0..k-1]. */
static uint32_t
intern_outer(struct thread *t, uint32_t k, uint32_t n, uint32_t root)
{
	uint32_t node = k ? t->outer[k - 1].node : root;

	t->outer_version++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	while (n > 0) {
		const struct outer_frame *f = &t->walk[--n];

		node = sites_node(node, f->frame);
		if (!node) {
			t->outer_count = k;
			return SITES_NODE_OUTER_DROPPED;
		}
		push_outer(t, k++, f, node);
	}
	t->outer_count = k;
	return node;
}

struct outer_result {
	enum walk_result end;
	uint32_t why;  /* of WALK_CUT */
	uint32_t n;    /* frames in t->walk */
	int met;       /* frame of t->outer where the walks meet, or -1 */
	bool too_deep; /* stopped at the depth limit */
};

static void
walk_outer(struct thread *t, struct walk *w, struct outer_result *r)
{
	int j = (int)t->outer_count - 1;
	int fail = INT32_MAX;

	r->met = -1;
	r->end = WALK_STEPPED;
	r->why = 0;
	r->too_deep = false;
	for (r->n = 0;;) {
		struct outer_frame *f = &t->walk[r->n];
		struct walk_slots slots;

		while (j >= 0 && t->outer[j].sp < w->sp)
			j--;
		if (j >= 0 && t->outer[j].sp == w->sp &&
		    t->outer[j].pc == w->pc && t->outer[j].exact == w->exact) {
			r->met = converge(t, w, j, &fail);
			if (r->met >= 0)
				return;
			f->row = t->outer[j].row;
			f->frame = t->outer[j].frame;
		} else {
			f->row = rows_get(w->pc, w->exact, &f->frame);
		}
		if (r->n + (uint32_t)SEG_INNER_FRAMES >= memo_depth) {
			r->too_deep = true;
			return;
		}
		f->pc = w->pc;
		f->sp = w->sp;
		f->fp = w->fp;
		f->exact = w->exact;
		r->end = walk_step(w, t, f->row, &slots, &r->why);
		f->ra_slot = slots.ra;
		f->fp_slot = slots.fp;
		f->aux_slot = slots.aux;
		r->n++;
		if (r->end != WALK_STEPPED)
			return;
	}
}

static SEEP_NOINLINE uint32_t
outer_walk(
    struct thread *t, uint64_t pc, uint64_t sp, uint64_t fp, uint16_t *hint)
{
	uint32_t gen = LOAD(&module_gen);
	struct outer_result r;
	struct walk w;
	uint32_t root, node;

	if (t->outer_gen != gen || t->outer_truncated) {
		t->outer_version++;
		t->outer_count = 0;
		t->outer_gen = gen;
	}
	walk_resume(&w, t, pc, sp, fp);
	walk_outer(t, &w, &r);
	if (r.met >= 0 &&
	    (uint32_t)r.met + 1 + r.n + SEG_INNER_FRAMES > memo_depth) {
		/* joined to more than fits: the plain way up to the limit */
		t->outer_version++;
		t->outer_count = 0;
		walk_resume(&w, t, pc, sp, fp);
		walk_outer(t, &w, &r);
	}
	if (r.met >= 0 && r.n == 0) {
		/* a part of the last stack: keep all of it, it may come back */
		*hint = (uint16_t)r.met;
		return t->outer[r.met].node;
	}
	t->outer_truncated = r.too_deep;
	if (r.too_deep && r.n) {
		struct outer_frame *last = &t->walk[r.n - 1];

		/* where it goes from here does not matter to what is kept */
		last->ra_slot = last->fp_slot = last->aux_slot = 0;
		segment_count(SEG_TRUNCATED_STACKS, 1);
		root = SITES_NODE_TRUNCATED;
	} else {
		root = r.met < 0 ? root_of(r.end, r.why) : 0;
	}
	node = intern_outer(t, (uint32_t)(r.met + 1), r.n, root);
	*hint = t->outer_count ? (uint16_t)(t->outer_count - 1) : UINT16_MAX;
	return node;
}

/*
 * The node of the frames from (pc, sp, fp) outwards. Notes in e where it
 * joined, and whether the words alone prove it from now on.
 */
static uint32_t
join_outer(struct thread *t, struct memo_chunk *e, uint64_t pc, uint64_t sp,
    uint64_t fp)
{
	const struct outer_frame *o;
	uint32_t node;

	e->version = 0;
	o = &t->outer[e->hint & (THREAD_OUTER_MAX - 1)];
	if (e->hint < t->outer_count && o->sp == sp && o->pc == pc &&
	    (!o->needs_fp || o->fp == fp) && !o->exact &&
	    (!t->outer_truncated || e->hint + 1u == t->outer_count) &&
	    memo_verify(t, (int)o->checks) < 0) {
		node = o->node;
	} else {
		node = outer_walk(t, pc, sp, fp, &e->hint);
		o = &t->outer[e->hint & (THREAD_OUTER_MAX - 1)];
	}
	if (e->hint < t->outer_count && o->sp == sp && o->pc == pc &&
	    !o->needs_fp && !o->exact && o->node == node) {
		e->checks = (uint16_t)o->checks;
		e->version = t->outer_version;
	}
	return node;
}

/* The words of e hold, but the outer part is another than last time. */
SEEP_NOINLINE struct site_id
memo_join(struct thread *t, struct memo_chunk *e, const struct cpu_frame *c,
    enum seg_api api)
{
	const uint64_t *slots = (const uint64_t *)(uintptr_t)c->sp - 1;
	uint32_t node;

	node = join_outer(t, e, e->value[THREAD_MEMO_WORDS - 1],
	    c->sp + (uint64_t)e->end_offset * 8,
	    e->fp_offset == UINT16_MAX ? c->fp : slots[e->fp_offset]);
	if (node != e->node) {
		e->site = sites_get(node, e->inner, api).v;
		e->node = node;
	}
	return (struct site_id){e->site};
}

/* The last word again and again, so that there are always six. */
static void
pad_words(struct memo_chunk *e, uint32_t words, uint64_t pc)
{
	uint16_t offset = words ? e->offset[words - 1] : 0;

	for (; words < THREAD_MEMO_WORDS; words++) {
		e->offset[words] = offset;
		e->value[words] = pc;
	}
}

/*
 * Walks the inner frames and lists in e the words that prove them, in the
 * order in which the walk depends on them. Returns the number of frames.
 */
static uint32_t
fill_inner(struct thread *t, struct memo_chunk *e, struct walk *w,
    uint64_t *ret_frames)
{
	const uint64_t sp = w->sp - 8; /* where slot 0 is */
	uint64_t fp_slot = 0; /* where the current fp was saved; 0: register */
	bool fp_listed = false, reads_fp = false;
	uint32_t n = 0, words = 0;

	while (n < SEG_INNER_FRAMES && words < THREAD_MEMO_WORDS) {
		const uint64_t fp = w->fp;
		struct walk_slots slots;
		uint64_t frame, cfa;
		struct row row = rows_get(w->pc, false, &frame);
		uint32_t why;
		bool list_fp;

		if ((row.kind != ROW_SP && row.kind != ROW_FP) ||
		    row.fp == ROW_FP_AT_FP)
			break;
		list_fp = row.kind == ROW_FP && !fp_listed && fp_slot;
		if (words + list_fp + 1u > THREAD_MEMO_WORDS)
			break;
		cfa = (row.kind == ROW_SP ? w->sp : fp) +
		    (uint64_t)(int64_t)row.cfa;
		if (cfa - sp > CHUNK_REACH ||
		    walk_step(w, t, row, &slots, &why) != WALK_STEPPED)
			break;
		if (list_fp) {
			e->offset[words] = (uint16_t)((fp_slot - sp) >> 3);
			e->value[words++] = fp;
		}
		if (row.kind == ROW_FP) {
			reads_fp |= !fp_slot;
			fp_listed = true;
		}
		e->offset[words] = (uint16_t)((slots.ra - sp) >> 3);
		e->value[words++] = w->pc;
		if (slots.fp) {
			fp_slot = slots.fp;
			fp_listed = false;
		}
		ret_frames[n++] = frame;
	}
	pad_words(e, words, w->pc);
	e->flags = reads_fp ? MEMO_USES_FP : 0;
	e->fp_offset = fp_slot ? (uint16_t)((fp_slot - sp) >> 3) : UINT16_MAX;
	e->end_offset = (uint16_t)((w->sp - sp - 8) >> 3);
	return n;
}

SEEP_NOINLINE struct site_id
memo_fill(struct thread *t, struct memo_chunk *e, const struct cpu_frame *c,
    enum seg_api api)
{
	const uint32_t gen = LOAD(&module_gen);
	uint64_t frames[SEG_INNER_FRAMES];
	struct site_id s;
	struct walk w;
	uint32_t n;

	if (unlikely(++t->memo_misses >> (64 - t->memo_shift) >= 4)) {
		thread_grow_memo(t);
		e = memo_at(t, memo_hash(c));
	}
	e->key = 0; /* a half-written entry never matches */
	walk_begin(&w, t, c);
	n = fill_inner(t, e, &w, frames);
	e->sp = c->sp;
	e->fp = c->fp;
	e->gen = gen;
	e->hint = UINT16_MAX;
	e->node = join_outer(t, e, w.pc, w.sp, w.fp);
	e->inner = sites_inner(frames, n);
	s = sites_get(e->node, e->inner, api);
	e->site = s.v;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	e->key = memo_key(c, api);
	return s;
}

SEEP_NOINLINE struct site_id
memo_nested(struct thread *t, const struct cpu_frame *c, enum seg_api api,
    uint64_t *scratch, uint32_t max, bool *ret_own, bool *ret_whole)
{
	uint64_t inner[SEG_INNER_FRAMES];
	enum walk_result r = WALK_STEPPED;
	uint32_t n = 0, why = 0, kept = 0, node;
	bool own = false, simple = true;
	struct walk w;

	walk_begin(&w, t, c);
	while (n < max) {
		struct walk_slots slots;
		uint64_t frame;
		struct row row = rows_get(w.pc, w.exact, &frame);

		own |= module_is_own(w.pc);
		scratch[n++] = frame;
		r = walk_step(&w, t, row, &slots, &why);
		if (r != WALK_STEPPED)
			break;
		/* the same cut into inner and outer as memo_fill() makes */
		simple &= (row.kind == ROW_SP || row.kind == ROW_FP) &&
		    row.fp != ROW_FP_AT_FP;
		if (simple && kept == n - 1 && kept < SEG_INNER_FRAMES)
			inner[kept++] = frame;
	}
	*ret_own = own;
	*ret_whole = r == WALK_END && !w.foreign;
	if (max <= SEG_INNER_FRAMES) {
		node = SITES_NODE_OUTER_DROPPED;
	} else {
		node = r == WALK_STEPPED ? (uint32_t)SITES_NODE_TRUNCATED
		                         : root_of(r, why);
		while (n > kept && node != SITES_NODE_OUTER_DROPPED) {
			node = sites_node(node, scratch[--n]);
			if (!node)
				node = SITES_NODE_OUTER_DROPPED;
		}
	}
	return sites_get(node, sites_inner(inner, kept), api);
}
