/* outer.c - the outer frames of the last stack: a copy that can be proven. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stack/outer.h"

#include "base/hash.h"
#include "collector/stack/known.h"
#include "collector/stack/memo.h"
#include "collector/unwind/rules.h"
#include "collector/heap/sites.h"

_Static_assert((int)OUTER_MAX == (int)SITES_DEPTH_MAX, "the depth limit");

uint32_t outer_depth = OUTER_MAX;

uint32_t outer_root(enum walk_result r, uint32_t why)
{
	if (r != WALK_CUT)
		return SITES_NODE_ROOT;
	segment_count((enum seg_count)why, 1);
	return SITES_NODE_CUT;
}

void outer_begin(struct thread *t)
{
	static const uint64_t zero; /* what padding checks for */
	uint32_t i;

	for (i = 0; i < OUTER_CHECK_PAD; i++)
		t->copy.check[i].address = (uint64_t)(uintptr_t)&zero;
}

void outer_forget(struct thread *t)
{
	t->copy.count = 0;
}

static bool uses_fp(struct unwind_rule r)
{
	return r.kind == RULE_FP || r.kind == RULE_FP_DEREF || r.fp == RULE_FP_AT_FP;
}

void outer_drop(struct thread *t, uint32_t k)
{
	uint32_t i;

	for (i = k; i < t->copy.count; i++)
		t->copy.stamp[t->copy.frame[i].checks] = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->copy.count = k;
}

/*
 * What a frame inherits from the one that it leads to: whether the stack was
 * vouched for (memo.h), and up to where the words of both lie. The words below
 * and above a signal frame may be on two stacks, so no range covers both. A
 * guess vouches for nothing.
 */
static void vouch_by(struct outer_frame *o, const struct outer_frame *above)
{
	o->vouched = above->vouched && o->rule.kind != RULE_SIGNAL && !o->guessed;
	if (o->vouched)
		o->top = 0;
	else if (o->rule.kind == RULE_SIGNAL && above->top)
		o->top = WALK_NOWHERE;
	else if (o->top < above->top)
		o->top = above->top;
}

/* Is the fp of frame f, on top of frame[0..k-1], needed by it or by others? */
static bool needs_fp(const struct thread *t, uint32_t k, const struct outer_frame *f)
{
	return uses_fp(f->rule) || (!f->fp_slot && k && t->copy.frame[k - 1].needs_fp);
}

enum { SEEN_AFTER = 256 }; /* stamps since the outermost frame came */

/*
 * Where frame f, on top of frame[0..k-1], is remembered. NULL: it depends on
 * more than what is compared there, or the thread has few stacks so far, and
 * does not need pages for these.
 */
static struct outer_seen *seen_at(
    struct thread *t, uint32_t k, const struct outer_frame *f, bool *ret_same)
{
	struct outer_seen *s;
	uint64_t above, fp;

	*ret_same = false;
	if (!k || f->aux_slot || f->exact || f->vouched || f->top ||
	    t->copy.stamps - t->copy.stamp[t->copy.frame[0].checks] < SEEN_AFTER)
		return NULL;
	above = t->copy.stamp[t->copy.frame[k - 1].checks];
	fp = needs_fp(t, k, f) ? f->fp : 0;
	s = &t->copy.seen[hash_word(f->pc ^ f->sp << 15 ^ above << 40) >> (64 - OUTER_SEEN_BITS)];
	*ret_same = s->above == above && s->pc == f->pc && s->sp == f->sp && s->fp == fp &&
	    s->fp_slot == f->fp_slot && s->guessed == f->guessed;
	return s;
}

/* The stamp of frame f, on top of frame[0..k-1], which has this node. */
static uint64_t stamp_of(struct thread *t, uint32_t k, const struct outer_frame *f, uint32_t node)
{
	bool is_same;
	struct outer_seen *s = seen_at(t, k, f, &is_same);

	if (!s)
		return ++t->copy.stamps;
	if (!is_same) {
		s->above = 0; /* a half-written one is never found */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		s->pc = f->pc;
		s->sp = f->sp;
		s->fp = needs_fp(t, k, f) ? f->fp : 0;
		s->fp_slot = f->fp_slot;
		s->guessed = f->guessed;
		s->stamp = ++t->copy.stamps;
		s->node = node;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		s->above = t->copy.stamp[t->copy.frame[k - 1].checks];
	} else if (node) {
		s->node = node;
	}
	return s->stamp;
}

/*
 * Puts frame f on top of frame[0..k-1]. `above` is the frame that f's step
 * led to (frame[k-1]); its pc and fp are what f's slots must still hold.
 */
static void push_outer(struct thread *t, uint32_t k, const struct outer_frame *f, uint32_t node)
{
	const struct outer_frame *above = k ? &t->copy.frame[k - 1] : NULL;
	bool need = k && above->needs_fp;
	struct outer_check *check = t->copy.check + OUTER_CHECK_PAD;
	uint32_t n = k ? above->checks : 0;
	struct outer_frame *o = &t->copy.frame[k];

	if (f->fp_slot && need)
		check[n++] = (struct outer_check){f->fp_slot, above->fp};
	if (f->ra_slot)
		check[n++] = (struct outer_check){f->ra_slot, k ? above->pc : 0};
	if (f->aux_slot)
		check[n++] = (struct outer_check){f->aux_slot, f->aux_value};
	*o = *f;
	o->checks = n;
	while (n > (k ? above->checks : 0))
		t->copy.check_frame[--n] = (uint16_t)k;
	n = o->checks;
	t->copy.words[OUTER_MAX - 1 - k] = f->frame;
	t->copy.stamp[n] = stamp_of(t, k, f, node);
	if (k)
		vouch_by(o, above);
	else if (o->vouched)
		o->top = 0;
	o->needs_fp = needs_fp(t, k, f);
	o->node = node;
	o->hash = (k ? above->hash : 0) + known_hash(f->frame, k);
}

int outer_meet(const struct thread *t, struct walk *w, uint64_t fp, int j, int *fail)
{
	const struct outer_frame *o = &t->copy.frame[j];
	int c, m;

	if (j >= *fail || (o->needs_fp && o->fp != fp) || !walk_prove(w, o->top))
		return -1;
	c = memo_verify(t, (int)o->checks);
	if (c < 0)
		return j;
	/* frames from m on include the word that differs */
	for (m = j; m > 0 && (int)t->copy.frame[m - 1].checks > c; m--)
		;
	*fail = m;
	return -1;
}

uint32_t outer_node(struct thread *t, uint32_t k)
{
	uint32_t i = k, node;
	bool is_new = false;

	if (likely(t->copy.frame[k].node))
		return t->copy.frame[k].node;
	/* inside a run, which never begins at the root */
	while (i > 0 && !t->copy.frame[i - 1].node)
		i--;
	node = i > 0 ? t->copy.frame[i - 1].node : 0;
	for (; i <= k && node; i++) {
		node = sites_child(node, t->copy.frame[i].frame, &is_new);
		t->copy.frame[i].node = node;
	}
	return node ? node : SITES_NODE_OUTER_DROPPED;
}

/* Interns the frames of intern_outer(), where there may be runs. */
static SEEP_NOINLINE uint32_t intern_runs(struct thread *t, uint32_t k, uint32_t n, uint32_t node)
{
	struct sites_way way = {.frames = t->copy.listed, .left = n, .node = node};
	uint32_t i;

	for (i = 0; i < n; i++)
		t->copy.listed[i] = t->copy.walk[i].frame;
	while (n > 0) {
		uint32_t frames = sites_next(&way);

		if (!frames) {
			t->copy.count = k;
			return SITES_NODE_OUTER_DROPPED;
		}
		/* runs have no guesses */
		if (unlikely(t->copy.walk[n - 1].guessed))
			sites_mark_guess(way.node);
		while (frames-- > 0)
			push_outer(t, k++, &t->copy.walk[--n], frames ? 0 : way.node);
	}
	t->copy.count = k;
	return way.node;
}

/*
 * Interns the walked frames walk[0..n-1] on top of frame[0..k-1]. Frames inside
 * a run have no node; outer_node() makes one if it is needed.
 */
static uint32_t intern_outer(struct thread *t, uint32_t k, uint32_t n, uint32_t root, bool sure)
{
	bool is_new = false, is_same;
	uint32_t node;

	outer_drop(t, k);
	/* those that come back have their node */
	while (n > 0) {
		const struct outer_frame *f = &t->copy.walk[n - 1];
		const struct outer_seen *s = seen_at(t, k, f, &is_same);

		if (!is_same || !s->node)
			break;
		push_outer(t, k++, f, s->node);
		n--;
	}
	node = k ? outer_node(t, k - 1) : root;
	t->copy.count = k;
	if (!n)
		return node;
	if (node == SITES_NODE_OUTER_DROPPED)
		return node;
	if (sure && sites_have_runs())
		return intern_runs(t, k, n, node);
	while (n > 0) {
		const struct outer_frame *f = &t->copy.walk[--n];

		node = sites_child(node, f->frame, &is_new);
		if (!node) {
			t->copy.count = k;
			return SITES_NODE_OUTER_DROPPED;
		}
		if (unlikely(f->guessed))
			sites_mark_guess(node);
		push_outer(t, k++, f, node);
	}
	t->copy.count = k;
	return node;
}

struct outer_result {
	enum walk_result end;
	uint32_t why;  /* of WALK_CUT */
	uint32_t n;    /* frames in t->copy.walk */
	int met;       /* frame of t->copy.frame where the walks meet, or -1 */
	bool too_deep; /* stopped at the depth limit */
	bool binding;  /* passed through the loader's code for lazy binding */
};

/*
 * Finds where the base register of the caller of *w is saved. A walk that
 * begins above the inner frames has not seen where they saved it, so this walks
 * them again.
 */
static SEEP_NOINLINE void find_base(struct thread *t, struct walk *w)
{
	uint32_t i, why;
	struct walk v;

	walk_begin(&v, t, w->hook);
	for (i = 0; i < OUTER_MAX && v.sp < w->sp; i++) {
		struct walk_slots slots;
		uint64_t frame;
		struct unwind_rule rule = rules_get(v.pc, v.exact, &frame);

		if (walk_step(&v, t, rule, &slots, &why) != WALK_STEPPED)
			return;
	}
	if (v.sp == w->sp)
		w->base_slot = v.base_slot;
}

/* The step from f was a guess, or tried to be one. */
static SEEP_NOINLINE void note_guess(struct outer_frame *f, struct walk *w)
{
	f->guessed = (w->step_guess & WALK_GUESS_STEPPED) != 0;
	if (w->step_guess & WALK_GUESS_FP)
		f->rule.fp = RULE_FP_AT_FP; /* for uses_fp() */
	w->step_guess = 0;
}

static void walk_outer(struct thread *t, struct walk *w, struct outer_result *r)
{
	int j = (int)t->copy.count - 1;
	int fail = INT32_MAX;

	r->met = -1;
	r->end = WALK_STEPPED;
	r->why = 0;
	r->too_deep = r->binding = false;
	for (r->n = 0;;) {
		struct outer_frame *f = &t->copy.walk[r->n];
		struct walk_slots slots;

		while (j >= 0 && t->copy.frame[j].sp < w->sp)
			j--;
		if (j >= 0 && t->copy.frame[j].sp == w->sp && t->copy.frame[j].pc == w->pc &&
		    t->copy.frame[j].exact == w->exact) {
			r->met = outer_meet(t, w, w->fp, j, &fail);
			if (r->met >= 0)
				return;
			f->rule = t->copy.frame[j].rule;
			f->frame = t->copy.frame[j].frame;
		} else {
			f->rule = rules_get(w->pc, w->exact, &f->frame);
		}
		if (r->n + (uint32_t)SEG_INNER_FRAMES >= outer_depth) {
			r->too_deep = true;
			return;
		}
		f->pc = w->pc;
		f->sp = w->sp;
		f->fp = w->fp;
		f->exact = w->exact;
		if (f->rule.kind == RULE_BASE) {
			r->binding = true;
			if (!w->base_slot)
				find_base(t, w);
		}
		w->top = 0;
		r->end = WALK_STEPPED;
		if (!walk_step_own(w, f->rule, &slots))
			r->end = walk_step(w, t, f->rule, &slots, &r->why);
		f->ra_slot = slots.ra;
		f->fp_slot = slots.fp;
		f->aux_slot = slots.aux;
		f->aux_value = slots.aux_value;
		f->guessed = false;
		if (unlikely(w->step_guess))
			note_guess(f, w);
		f->top = w->top;
		f->vouched = r->end == WALK_END && w->vouched;
		r->n++;
		if (r->end != WALK_STEPPED)
			return;
	}
}

/*
 * A stack deeper than the limit is kept up to a frame that stays in its place
 * while the stack grows and shrinks, so that the next stack meets it. Otherwise
 * every event of a deep recursion would walk 500 frames. If the frames below it
 * become more than the limit, or few, another frame is chosen. A small limit is
 * exact, because the user asked for it, and because the walk is short.
 */
enum { SMALL_DEPTH = 64 };

/* How many outer frames are kept when it is cut. */
static uint32_t depth_of_cut(void)
{
	return outer_depth <= SMALL_DEPTH ? outer_depth : outer_depth / 2;
}

uint32_t outer_least_kept(void)
{
	return outer_depth <= SMALL_DEPTH ? outer_depth : outer_depth / 4;
}

bool outer_keeps_too_few(const struct thread *t, uint32_t frames)
{
	/* an exact limit counts inner frames; chunks may have fewer than six */
	uint32_t inner = outer_depth <= SMALL_DEPTH ? SEG_INNER_FRAMES : 0;

	return t->copy.truncated && frames + inner < outer_least_kept();
}

static void forget_outer(struct thread *t)
{
	outer_drop(t, 0);
	t->copy.truncated = false;
}

SEEP_NOINLINE uint32_t outer_walk(struct thread *t, struct walk *w, uint16_t *hint)
{
	const struct cpu_frame start = {w->pc, w->sp, w->fp};
	uint32_t gen = LOAD(&module_gen);
	struct outer_result r;
	uint32_t root, node, all;

	if (t->copy.gen != gen || (t->copy.truncated && outer_depth <= SMALL_DEPTH)) {
		forget_outer(t);
		t->copy.gen = gen;
	}
	walk_outer(t, w, &r);
	all = (uint32_t)(r.met + 1) + r.n;
	if (r.met >= 0 && (outer_keeps_too_few(t, all) || all + SEG_INNER_FRAMES > outer_depth)) {
		forget_outer(t);
		walk_begin(w, t, w->hook);
		walk_move(w, start.pc, start.sp, start.fp);
		walk_outer(t, w, &r);
	}
	if (unlikely(w->guessed))
		segment_count(SEG_GUESSED, 1);
	if (r.too_deep && r.n > depth_of_cut())
		r.n = depth_of_cut();
	if (r.met >= 0 && r.n == 0) {
		/* a part of the last stack; keep it all, as it may come back */
		*hint = (uint16_t)r.met;
		return outer_node(t, (uint32_t)r.met);
	}
	if (r.too_deep && r.n) {
		struct outer_frame *last = &t->copy.walk[r.n - 1];

		/* its caller is not kept, so it is not checked */
		last->ra_slot = last->fp_slot = last->aux_slot = 0;
		last->vouched = false;
		last->guessed = false;
		segment_count(SEG_TRUNCATED_STACKS, 1);
		root = SITES_NODE_TRUNCATED;
	} else {
		root = r.met < 0 ? outer_root(r.end, r.why) : 0;
	}
	if (r.met < 0) {
		t->copy.truncated = r.too_deep;
		t->copy.rooted = root == SITES_NODE_ROOT;
	}
	node = intern_outer(t, (uint32_t)(r.met + 1), r.n, root, w->sure);
	*hint = t->copy.count ? (uint16_t)(t->copy.count - 1) : UINT16_MAX;
	if (unlikely(r.binding)) {
		/* the next stack may lack the frames that saved it */
		forget_outer(t);
		*hint = UINT16_MAX;
	}
	return node;
}
