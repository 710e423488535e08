/* memo.c - caller -> site: exact memoised unwinding, the slow parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/memo.h"

#include <stddef.h>
#include <string.h>

#include "collector/ledger.h"
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
 * What is known of a frame by the one that it leads to: does the stack end as
 * it should (memo.h), and up to where are the words of both? The words below
 * and above a signal frame may be on two stacks: no range has both.
 */
static void
vouch_by(struct outer_frame *o, const struct outer_frame *above)
{
	o->vouched = above->vouched && o->row.kind != ROW_SIGNAL;
	if (o->vouched)
		o->top = 0;
	else if (o->row.kind == ROW_SIGNAL && above->top)
		o->top = WALK_NOWHERE;
	else if (o->top < above->top)
		o->top = above->top;
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
	bool need = k && above->needs_fp;
	struct outer_check *check = t->check + THREAD_CHECK_PAD;
	uint32_t n = k ? above->checks : 0;
	struct outer_frame *o = &t->outer[k];

	if (f->fp_slot && need)
		check[n++] = (struct outer_check){f->fp_slot, above->fp};
	if (f->ra_slot)
		check[n++] =
		    (struct outer_check){f->ra_slot, k ? above->pc : 0};
	if (f->aux_slot)
		check[n++] = (struct outer_check){f->aux_slot, f->aux_value};
	*o = *f;
	o->checks = n;
	if (k)
		vouch_by(o, above);
	else if (o->vouched)
		o->top = 0;
	o->needs_fp = uses_fp(f->row) || (!f->fp_slot && need);
	o->node = node;
}

/*
 * Looks for the place where this walk meets the last one. Returns the index
 * of a frame of outer[] that is proven to hold, or -1.
 */
static int
converge(const struct thread *t, struct walk *w, uint64_t fp, int j, int *fail)
{
	const struct outer_frame *o = &t->outer[j];
	int c, m;

	if (j >= *fail || (o->needs_fp && o->fp != fp) ||
	    !walk_prove(w, o->top))
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
	bool binding;  /* passed through the loader's code for lazy binding */
};

/*
 * Where the frame at *w finds its caller's rbx. A walk that begins above the
 * inner frames has not seen where they saved it: walks them again.
 */
static SEEP_NOINLINE void
find_bx(struct thread *t, struct walk *w)
{
	uint32_t i, why;
	struct walk v;

	walk_begin(&v, t, w->hook);
	for (i = 0; i < THREAD_OUTER_MAX && v.sp < w->sp; i++) {
		struct walk_slots slots;
		uint64_t frame;
		struct row row = rows_get(v.pc, v.exact, &frame);

		if (walk_step(&v, t, row, &slots, &why) != WALK_STEPPED)
			return;
	}
	if (v.sp == w->sp)
		w->bx_slot = v.bx_slot;
}

static void
walk_outer(struct thread *t, struct walk *w, struct outer_result *r)
{
	int j = (int)t->outer_count - 1;
	int fail = INT32_MAX;

	r->met = -1;
	r->end = WALK_STEPPED;
	r->why = 0;
	r->too_deep = r->binding = false;
	for (r->n = 0;;) {
		struct outer_frame *f = &t->walk[r->n];
		struct walk_slots slots;

		while (j >= 0 && t->outer[j].sp < w->sp)
			j--;
		if (j >= 0 && t->outer[j].sp == w->sp &&
		    t->outer[j].pc == w->pc && t->outer[j].exact == w->exact) {
			r->met = converge(t, w, w->fp, j, &fail);
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
		if (f->row.kind == ROW_BX) {
			r->binding = true;
			if (!w->bx_slot)
				find_bx(t, w);
		}
		w->top = 0;
		r->end = walk_step(w, t, f->row, &slots, &r->why);
		f->ra_slot = slots.ra;
		f->fp_slot = slots.fp;
		f->aux_slot = slots.aux;
		f->aux_value = slots.aux_value;
		f->top = w->top;
		f->vouched = r->end == WALK_END && w->vouched;
		r->n++;
		if (r->end != WALK_STEPPED)
			return;
	}
}

/*
 * A stack deeper than the limit is kept up to a frame that stays where it is
 * while the stack grows and shrinks, so that the next one meets it: else every
 * event of a deep recursion would be a walk of 500 frames. When there are more
 * below it than the limit, or few, another one is taken. A small limit is kept
 * to the frame: somebody asked for it, and the walk is short.
 */
enum { SMALL_DEPTH = 64 };

/* How many outer frames are kept when it is cut. */
static uint32_t
depth_of_cut(void)
{
	return memo_depth <= SMALL_DEPTH ? memo_depth : memo_depth / 2;
}

uint32_t
memo_least(void)
{
	return memo_depth <= SMALL_DEPTH ? memo_depth : memo_depth / 4;
}

static bool
has_few(const struct thread *t, uint32_t outer_frames)
{
	/* a chunk may have but three: where it need not be just so, none */
	uint32_t inner = memo_depth <= SMALL_DEPTH ? SEG_INNER_FRAMES : 0;

	return t->outer_truncated && outer_frames + inner < memo_least();
}

static void
forget_outer(struct thread *t)
{
	t->outer_version++;
	t->outer_count = 0;
	t->outer_truncated = false;
}

/* The node of the frames from *w outwards. */
static SEEP_NOINLINE uint32_t
outer_walk(struct thread *t, struct walk *w, uint16_t *hint)
{
	const struct cpu_frame start = {w->pc, w->sp, w->fp};
	uint32_t gen = LOAD(&module_gen);
	struct outer_result r;
	uint32_t root, node, all;

	if (t->outer_gen != gen ||
	    (t->outer_truncated && memo_depth <= SMALL_DEPTH)) {
		forget_outer(t);
		t->outer_gen = gen;
	}
	walk_outer(t, w, &r);
	all = (uint32_t)(r.met + 1) + r.n;
	if (r.met >= 0 &&
	    (has_few(t, all) || all + SEG_INNER_FRAMES > memo_depth)) {
		forget_outer(t);
		walk_begin(w, t, w->hook);
		walk_move(w, start.pc, start.sp, start.fp);
		walk_outer(t, w, &r);
	}
	if (r.too_deep && r.n > depth_of_cut())
		r.n = depth_of_cut();
	if (r.met >= 0 && r.n == 0) {
		/* a part of the last stack: keep all of it, it may come back */
		*hint = (uint16_t)r.met;
		return t->outer[r.met].node;
	}
	if (r.too_deep && r.n) {
		struct outer_frame *last = &t->walk[r.n - 1];

		/* where it goes from here does not matter to what is kept */
		last->ra_slot = last->fp_slot = last->aux_slot = 0;
		last->vouched = false;
		segment_count(SEG_TRUNCATED_STACKS, 1);
		root = SITES_NODE_TRUNCATED;
	} else {
		root = r.met < 0 ? root_of(r.end, r.why) : 0;
	}
	if (r.met < 0)
		t->outer_truncated = r.too_deep;
	node = intern_outer(t, (uint32_t)(r.met + 1), r.n, root);
	*hint = t->outer_count ? (uint16_t)(t->outer_count - 1) : UINT16_MAX;
	if (unlikely(r.binding)) {
		/* rbx was saved by frames that need not be on the next stack */
		forget_outer(t);
		*hint = UINT16_MAX;
	}
	return node;
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
 * *ret_next says of what follows: MEMO_END or MEMO_PLAIN; 0: chunks can go on.
 * With MEMO_END w->vouched is set.
 */
static uint32_t
fill_inner(struct thread *t, struct memo_chunk *e, struct walk *w,
    uint64_t *ret_frames, enum memo_flags *ret_next)
{
	const uint64_t sp = w->sp - 8; /* where slot 0 is */
	uint64_t fp_slot = 0; /* where the current fp was saved; 0: register */
	bool fp_listed = false, reads_fp = false;
	uint32_t n = 0, words = 0;

	*ret_next = 0;
	/* which words are return addresses; memo_fill() has others */
	e->inner = 0;
	while (n < SEG_INNER_FRAMES && words < THREAD_MEMO_WORDS) {
		const uint64_t fp = w->fp;
		struct walk_slots slots;
		uint64_t frame, cfa;
		struct row row = rows_get(w->pc, false, &frame);
		uint32_t why;
		bool list_fp;

		if ((row.kind != ROW_SP && row.kind != ROW_FP) ||
		    row.fp == ROW_FP_AT_FP) {
			*ret_next = row.kind == ROW_END ? MEMO_END : MEMO_PLAIN;
			w->vouched =
			    row.kind == ROW_END && row.cfa == ROW_END_CONTEXT;
			break;
		}
		list_fp = row.kind == ROW_FP && !fp_listed && fp_slot;
		if (words + list_fp + 1u > THREAD_MEMO_WORDS)
			break;
		cfa = (row.kind == ROW_SP ? w->sp : fp) +
		    (uint64_t)(int64_t)row.cfa;
		if (cfa - sp > CHUNK_REACH ||
		    walk_step(w, t, row, &slots, &why) != WALK_STEPPED) {
			*ret_next = MEMO_PLAIN;
			break;
		}
		if (list_fp) {
			e->offset[words] = (uint16_t)((fp_slot - sp) >> 3);
			e->value[words++] = fp;
		}
		if (row.kind == ROW_FP) {
			reads_fp |= !fp_slot;
			fp_listed = true;
		}
		e->inner |= 1u << words;
		e->offset[words] = (uint16_t)((slots.ra - sp) >> 3);
		e->value[words++] = w->pc;
		if (slots.fp) {
			fp_slot = slots.fp;
			fp_listed = false;
		}
		ret_frames[n++] = frame;
	}
	pad_words(e, words, w->pc);
	e->gen_flags = reads_fp ? (uint64_t)MEMO_USES_FP << 32 : 0;
	e->frames = (uint16_t)n;
	e->fp_offset = fp_slot ? (uint16_t)((fp_slot - sp) >> 3) : UINT16_MAX;
	e->end_offset = (uint16_t)((w->sp - sp - 8) >> 3);
	return n;
}

/* Where a look has been: the first place, and which of its words differed. */
struct looked {
	struct memo_chunk *first, *last;
	uint32_t differs;
};

/* End of the words of a chunk, from which walk_prove() can tell. */
static uint64_t
top_of(const struct memo_chunk *e)
{
	uint16_t last = e->fp_offset == UINT16_MAX ? 0 : e->fp_offset;
	uint32_t i;

	for (i = 0; i < THREAD_MEMO_WORDS; i++) {
		if (last < e->offset[i])
			last = e->offset[i];
	}
	return e->sp + (uint64_t)last * 8;
}

/* Asks for the words of a doubtful chunk, best together with what follows. */
static bool
prove_chunk(const struct thread *t, struct walk *w, const struct memo_chunk *e)
{
	const struct outer_frame *o =
	    &t->outer[e->hint & (THREAD_OUTER_MAX - 1)];

	if (e->hint < t->outer_count && o->top > top_of(e) &&
	    o->sp == e->sp + (uint64_t)e->end_offset * 8 &&
	    walk_prove(w, o->top))
		return true;
	return walk_prove(w, top_of(e));
}

/* Is it a chunk for this caller, whose words can be loaded? */
SEEP_INLINE bool
fits(const struct thread *t, struct walk *w, const struct memo_chunk *e,
    const struct cpu_frame *c, uint64_t key, uint32_t gen)
{
	if (likely(memo_fits(e, c, key, gen)))
		return true;
	return unlikely(!w->sure) && memo_fits(e, c, key | MEMO_DOUBT, gen) &&
	    prove_chunk(t, w, e);
}

/*
 * The chunk whose words hold, or NULL: then l->last is the one to fill. *w is
 * at c.
 */
SEEP_INLINE struct memo_chunk *
look(const struct thread *t, struct walk *w, const struct cpu_frame *c,
    uint64_t key, struct looked *l)
{
	const uint64_t *slots = (const uint64_t *)(uintptr_t)c->sp - 1;
	const uint32_t gen = LOAD(&module_gen);
	uint64_t h = memo_hash(c);
	int probe;

	l->first = memo_at(t, h);
	l->last = l->first;
	l->differs = THREAD_MEMO_WORDS;
	for (probe = 0;;) {
		struct memo_chunk *e = l->last;
		uint32_t i;

		if (!fits(t, w, e, c, key, gen))
			return NULL;
		i = memo_differs(e, slots);
		if (i == THREAD_MEMO_WORDS)
			return e;
		if (++probe == MEMO_PROBES)
			return NULL;
		if (e == l->first)
			l->differs = i;
		h = hash_mix(h ^ i, slots[e->offset[i]]);
		l->last = memo_at(t, h);
	}
}

/*
 * Outer parts that come and go: a program that allocates along several deep
 * paths in turn. The copy of the last stack holds one of them; the others are
 * found chunk by chunk in the same table as inner frames (their key is the pc), each
 * proven by its six words like these, until one begins at a frame of the last
 * stack that holds, or the stack ends. A chunk remembers the node above it and
 * the node that it led to. No row is looked up and no node is interned while
 * the same paths come back.
 *
 * Chunks cost more than the copy for a stack that stays: so a path takes to
 * them when it is seen for the second time, and the copy is renewed when the
 * same node is asked for twice in a row at the same place, and now and then.
 *
 * Where paths hardly ever come back (a compiler), filling chunks is wasted
 * work: a chunk that is found earns credit, one that is filled costs it, and
 * without credit the walk is as it would be without all this.
 */
enum { FAR_CHUNKS = 16, FAR_RENEW = 32 };
enum { FAR_SEEN_WAYS = 4, FAR_SEEN_SHIFT = 32 - 6 };
_Static_assert(THREAD_FAR_SEEN == FAR_SEEN_WAYS << 6, "bits of a tag");
enum { FAR_FOUND = 16, FAR_FILLED = 64, FAR_CREDIT_MAX = 4096 };

/* What is found of the outer frames. */
struct joined {
	uint16_t hint; /* where they are in outer[], or ~0 */
	bool vouched;  /* they end as a stack should, see memo.h */
};

struct far_link {
	struct memo_chunk *e;
	uint64_t key, sp;
};

/*
 * Fills a chunk for the frame at *start. NULL: on a foreign stack there are
 * frames of more than a page, and it is not known yet whether it ends well.
 */
static struct memo_chunk *
far_fill(struct thread *t, const struct walk *start, struct memo_chunk *e,
    const struct cpu_frame *c)
{
	const uint32_t gen = LOAD(&module_gen);
	uint64_t frames[SEG_INNER_FRAMES], last;
	struct walk w = *start;
	enum memo_flags next;
	bool doubt;

	t->memo_misses++;
	e->key = 0;
	w.top = 0;
	(void)fill_inner(t, e, &w, frames, &next);
	doubt = !start->sure && !(next == MEMO_END && w.vouched);
	if (doubt && w.top == WALK_NOWHERE)
		return NULL;
	e->sp = c->sp;
	e->fp = c->fp;
	e->gen_flags |= gen;
	e->hint = UINT16_MAX;
	e->site = e->node = 0;
	if (next == MEMO_END) {
		(void)rows_get(w.pc, false, &last);
		e->site = sites_node(SITES_NODE_ROOT, last);
	}
	if (next == MEMO_END && !e->site)
		next = MEMO_PLAIN;
	e->gen_flags |= (uint64_t)next << 32;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	e->key = c->pc | (doubt ? MEMO_DOUBT : 0);
	return e;
}

/* The node of the chunk's innermost frame; 0: no room. */
static uint32_t
far_node(struct memo_chunk *e, uint32_t above)
{
	uint64_t pcs[SEG_INNER_FRAMES], frame;
	uint32_t node = above, i, n = 0;

	if (e->node && e->site == above)
		return e->node;
	pcs[n++] = e->key & ~MEMO_DOUBT;
	for (i = 0; n < e->frames; i++) {
		if (e->inner & 1u << i)
			pcs[n++] = e->value[i];
	}
	for (i = e->frames; i-- > 0 && node;) {
		(void)rows_get(pcs[i], false, &frame);
		node = sites_node(node, frame);
	}
	e->node = 0;
	e->site = above;
	e->node = node;
	return node;
}

/*
 * Like look(), for an outer chunk: where another caller's chunk is at the first
 * place, the one beside it will do. (The hook looks at the first place only, so
 * inner chunks have no choice.) A hundred coroutines with six chunks each would
 * else take each other's places all the time.
 */
static struct memo_chunk *
far_look(struct thread *t, struct walk *w, const struct cpu_frame *c,
    struct memo_chunk **ret_fill)
{
	const uint32_t gen = LOAD(&module_gen);
	struct memo_chunk *e, *beside;
	struct looked l;

	e = look(t, w, c, c->pc, &l);
	*ret_fill = l.last;
	if (e || l.last != l.first || !l.first->key)
		return e;
	beside = t->memo + ((l.first - t->memo) ^ 1);
	if (fits(t, w, beside, c, c->pc, gen) &&
	    memo_differs(beside, (const uint64_t *)(uintptr_t)c->sp - 1) ==
	        THREAD_MEMO_WORDS)
		return beside;
	if (!beside->key || (t->memo_misses & 1))
		*ret_fill = beside;
	return NULL;
}

/*
 * Follows chunks from c on. Returns the node of what is above the last of
 * them, 0: there is no such way.
 */
static uint32_t
far_follow(struct thread *t, const struct walk *start, struct cpu_frame c,
    struct far_link *path, uint32_t *ret_count, struct joined *ret)
{
	struct walk w = *start;
	const bool joins = t->outer_gen == LOAD(&module_gen);
	int j = joins ? (int)t->outer_count - 1 : -1, fail = INT32_MAX, met;
	uint32_t depth = SEG_INNER_FRAMES, n;

	for (n = 0; n < FAR_CHUNKS; n++) {
		const uint64_t *slots = (const uint64_t *)(uintptr_t)c.sp - 1;
		struct memo_chunk *e, *place;

		while (j >= 0 && t->outer[j].sp < c.sp)
			j--;
		if (j >= 0 && t->outer[j].sp == c.sp &&
		    t->outer[j].pc == c.pc && !t->outer[j].exact &&
		    (met = converge(t, &w, c.fp, j, &fail)) >= 0) {
			ret->hint = (uint16_t)met;
			ret->vouched = t->outer[met].vouched;
			*ret_count = n;
			depth += (uint32_t)met + 1;
			return depth > memo_depth ||
			        has_few(t, depth - SEG_INNER_FRAMES)
			    ? 0
			    : t->outer[met].node;
		}
		e = far_look(t, &w, &c, &place);
		if (e) {
			t->far_credit += FAR_FOUND;
		} else {
			t->far_credit -= FAR_FILLED;
			e = far_fill(t, &w, place, &c);
			if (!e)
				return 0;
		}
		path[n] = (struct far_link){e, e->key, e->sp};
		depth += e->frames + 1u;
		if ((memo_flags(e) & MEMO_PLAIN) || depth > memo_depth)
			return 0;
		if (memo_flags(e) & MEMO_END) {
			*ret_count = n + 1;
			ret->vouched = !(e->key & MEMO_DOUBT);
			return e->site;
		}
		c.pc = e->value[THREAD_MEMO_WORDS - 1];
		c.fp = e->fp_offset == UINT16_MAX ? c.fp : slots[e->fp_offset];
		c.sp += (uint64_t)e->end_offset * 8;
		walk_move(&w, c.pc, c.sp, c.fp);
	}
	return 0;
}

/* Has this path come before? It has from now on. */
static bool
is_seen(struct thread *t, uint32_t tag)
{
	/* by its upper bits, in which the hashes of stacks differ most */
	uint32_t *seen =
	    &t->far_seen[(size_t)(tag >> FAR_SEEN_SHIFT) * FAR_SEEN_WAYS];
	uint32_t i;

	for (i = 0; i < FAR_SEEN_WAYS && seen[i] != tag; i++)
		;
	if (i < FAR_SEEN_WAYS)
		return true;
	for (i = FAR_SEEN_WAYS - 1; i > 0; i--)
		seen[i] = seen[i - 1];
	seen[0] = tag;
	return false;
}

/*
 * The node of the frames from c outwards by chunks, 0: walk. If they are a
 * part of the last stack ret->hint says where.
 */
static uint32_t
far_outer(struct thread *t, const struct walk *w, const struct cpu_frame *c,
    struct joined *ret)
{
	struct far_link path[FAR_CHUNKS];
	uint32_t tag = (uint32_t)(memo_hash(c) >> 32), n = 0, node;

	if (!is_seen(t, tag) || t->far_credit < 0) {
		t->far_credit++;
		return 0;
	}
	if (t->far_credit > FAR_CREDIT_MAX)
		t->far_credit = FAR_CREDIT_MAX;
	node = far_follow(t, w, *c, path, &n, ret);
	if (n == 0)
		return node;
	ret->hint = UINT16_MAX;
	while (node && n-- > 0) {
		struct memo_chunk *e = path[n].e;

		/* a later one may have been filled in its place */
		if (e->key != path[n].key || e->sp != path[n].sp)
			return 0;
		node = far_node(e, node);
		if (ret->vouched)
			e->key &= ~MEMO_DOUBT;
	}
	/* coroutines that run the same code have the same node */
	if ((node == t->far_last && c->sp == t->far_sp) ||
	    ++t->far_count % FAR_RENEW == 0)
		return 0;
	t->far_last = node;
	t->far_sp = c->sp;
	return node;
}

/*
 * The outer frames need the fp with which they begin: makes e prove that, too.
 * False: there is no word left for it.
 */
static bool
lists_fp(struct memo_chunk *e, uint64_t fp)
{
	uint32_t i, last = THREAD_MEMO_WORDS - 1;

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
static bool
is_near(const struct walk *w, uint64_t top)
{
	return !top || ((top - 1) ^ (w->hook->sp - 8)) < CPU_PAGE;
}

/*
 * The node of the frames from *w outwards. Notes in e where it joined the last
 * stack, and whether the words alone prove it from now on.
 */
static uint32_t
join_outer(
    struct thread *t, struct memo_chunk *e, struct walk *w, struct joined *ret)
{
	const struct outer_frame *o =
	    &t->outer[e->hint & (THREAD_OUTER_MAX - 1)];
	const struct cpu_frame c = {w->pc, w->sp, w->fp};
	const uint64_t key = e->key;
	uint32_t node;

	e->version = 0;
	*ret = (struct joined){e->hint, false};
	if (ret->hint < t->outer_count && o->sp == c.sp && o->pc == c.pc &&
	    (!o->needs_fp || o->fp == c.fp) && !o->exact &&
	    !has_few(t, ret->hint + 1u) && walk_prove(w, o->top) &&
	    memo_verify(t, (int)o->checks) < 0) {
		node = o->node;
	} else {
		node = far_outer(t, w, &c, ret);
		if (!node) {
			ret->vouched = false;
			node = outer_walk(t, w, &ret->hint);
		}
		if (e->key != key)
			return node; /* an outer chunk is in its place now */
		e->hint = ret->hint;
		o = &t->outer[ret->hint & (THREAD_OUTER_MAX - 1)];
	}
	if (ret->hint < t->outer_count && o->sp == c.sp && o->pc == c.pc &&
	    !o->exact && o->node == node) {
		ret->vouched = o->vouched;
		if (is_near(w, o->top) &&
		    (!o->needs_fp || (o->fp == c.fp && lists_fp(e, c.fp)))) {
			e->checks_offset =
			    (uint16_t)(o->checks * sizeof(t->check[0]));
			e->version = t->outer_version;
		}
	}
	return node;
}

/* The words of e hold, but the outer part is another than last time. */
static struct site_id
memo_join(
    struct thread *t, struct memo_chunk *e, struct walk *w, enum seg_api api)
{
	const struct cpu_frame *c = w->hook;
	const uint64_t *slots = (const uint64_t *)(uintptr_t)c->sp - 1;
	const uint32_t inner = e->inner;
	const uint64_t key = e->key;
	const bool sure = w->sure;
	struct joined joined;
	struct site_id s;
	uint32_t node;

	walk_move(w, e->value[THREAD_MEMO_WORDS - 1],
	    c->sp + (uint64_t)e->end_offset * 8,
	    e->fp_offset == UINT16_MAX ? c->fp : slots[e->fp_offset]);
	node = join_outer(t, e, w, &joined);
	/* an outer chunk may have been filled in its place */
	if (unlikely(e->key != key || e->sp != c->sp))
		return sites_get(node, inner, api);
	if (node != e->node) {
		s = sites_get(node, inner, api);
		e->site = s.v;
		e->node = node;
	}
	if (unlikely(!sure)) {
		bool doubt = !joined.vouched && !is_near(w, top_of(e));

		e->key = (key & ~MEMO_DOUBT) | (doubt ? MEMO_DOUBT : 0);
	}
	return (struct site_id){e->site};
}

static struct site_id
memo_fill(
    struct thread *t, struct memo_chunk *e, struct walk *w, enum seg_api api)
{
	const struct cpu_frame *c = w->hook;
	const uint32_t gen = LOAD(&module_gen);
	uint64_t frames[SEG_INNER_FRAMES], top;
	struct joined joined;
	struct site_id s;
	enum memo_flags next;
	uint32_t n, node, inner;

	if (unlikely(++t->memo_misses > 4 * thread_memo_chunks(t))) {
		thread_grow_memo(t);
		e = memo_at(t, memo_hash(c));
	}
	e->key = 0; /* a half-written entry never matches */
	n = fill_inner(t, e, w, frames, &next);
	top = w->top;
	e->sp = c->sp;
	e->fp = c->fp;
	e->gen_flags |= gen;
	e->hint = UINT16_MAX;
	e->passed_over = e->changes = 0;
	node = join_outer(t, e, w, &joined);
	inner = sites_inner(frames, n);
	s = sites_get(node, inner, api);
	if (unlikely(e->key))
		return s; /* an outer chunk has been filled in its place */
	e->node = node;
	e->inner = inner;
	e->site = s.v;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	if (likely(joined.vouched || is_near(w, top)))
		e->key = memo_key(c, api);
	else if (top != WALK_NOWHERE)
		e->key = memo_key(c, api) | MEMO_DOUBT;
	return s;
}

static void
put_chunk(struct memo_chunk *to, const struct memo_chunk *from)
{
	to->key = 0; /* a half-written entry never matches */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(
	    &to->sp, &from->sp, sizeof(*to) - offsetof(struct memo_chunk, sp));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	to->key = from->key;
}

/*
 * The first place belongs to the stack that came first, which need not be the
 * one that comes most: the hook itself looks only there. So a stack that is
 * found behind it and has come twice as often changes places with it. (Where
 * they differ first, the word has the same offset in both. Chunks that were
 * reached by way of the old first one may be out of reach now; they are filled
 * again.) The ledger knows how often, if only with the outer frames of now; so
 * each change makes the next one at that place take twice as long.
 */
enum { PATIENCE = 16, CHANGES_MAX = 11 };

static uint64_t
times_seen(const struct thread *t, const struct memo_chunk *e)
{
	const struct seg_row *row = ledger_open_row(t, e->site);

	return row ? row->allocations : 0;
}

/* Says where e is now. */
static SEEP_COLD struct memo_chunk *
come_first(const struct thread *t, const struct cpu_frame *c,
    struct memo_chunk *e, const struct looked *l)
{
	struct memo_chunk *first = l->first, *place;
	const struct memo_chunk old = *first, new = *e;
	const uint64_t word = old.value[l->differs];

	first->passed_over = 0;
	if (times_seen(t, e) / 2 <= times_seen(t, first))
		return e;
	place = memo_at(t, hash_mix(memo_hash(c) ^ l->differs, word));
	e->key = 0;
	put_chunk(first, &new);
	first->passed_over = 0;
	first->changes = (uint16_t)(old.changes + (old.changes < CHANGES_MAX));
	if (place != first)
		put_chunk(place, &old);
	return first;
}

SEEP_NOINLINE struct site_id
memo_site(struct thread *t, const struct cpu_frame *c, enum seg_api api)
{
	struct memo_chunk *e;
	struct looked l;
	struct walk w;

	walk_begin(&w, t, c);
	e = look(t, &w, c, memo_key(c, api), &l);
	if (!e)
		return memo_fill(t, l.last, &w, api);
	if (e != l.first &&
	    ++l.first->passed_over >= PATIENCE << l.first->changes)
		e = come_first(t, c, e, &l);
	if (!memo_holds(t, e))
		return memo_join(t, e, &w, api);
	return (struct site_id){e->site};
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
	*ret_whole = r == WALK_END && w.own;
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

bool
memo_inside_hook(struct thread *t, const struct cpu_frame *c)
{
	enum walk_result r = WALK_STEPPED;
	uint32_t n, why;
	struct walk w;

	walk_begin(&w, t, c);
	for (n = 0; n < THREAD_OUTER_MAX && r == WALK_STEPPED; n++) {
		struct walk_slots slots;
		uint64_t frame;
		struct row row = rows_get(w.pc, w.exact, &frame);

		if (module_is_own(w.pc))
			return true;
		r = walk_step(&w, t, row, &slots, &why);
	}
	return r != WALK_END; /* who cannot see its end cannot rule it out */
}
