/* known.c - a stack that was seen before: a walk and one look-up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stack/known.h"

#include <string.h>

#include "collector/segment/mem.h"
#include "collector/stack/memo.h"
#include "collector/unwind/module.h"
#include "collector/stack/outer.h"
#include "collector/unwind/rules.h"

/*
 * The copy is renewed if the same stack comes COPY_SAME times in a row, and now
 * and then, so that it is one that comes often.
 */
enum { COPY_SAME = 3, COPY_RENEW = 256, COPY_RENEW_NEW = 16 };

/*
 * Fewer frames are interned, see known.h. If that was so FEW_LEAST times in a
 * row, or the stack was new, only every FEW_LOOK-th stack is walked here to find
 * out, until one is known.
 */
enum { FRAMES_LEAST = 8, FEW_LEAST = 32, FEW_LOOK = 8 };

/* What a walk has listed. */
struct known {
	uint64_t hash;  /* of all outer frames of the stack */
	uint32_t count; /* of the frames in t->copy.listed, innermost first */
	uint32_t base;  /* the node above them */
	int met;        /* and its frame of the copy; below 0: the root */
};

/*
 * Where a light walk is. `fp` is as it was before the frames saved_from to
 * saved_to, if there are any: most walks never need it.
 */
struct place {
	struct walk w; /* on the thread's own stack: what walk_step_own() uses */
	const struct outer_frame *saved_from, *saved_to;
};

/* The copy's own fp is not proven, unless a frame above needs it. */
static SEEP_NOINLINE uint64_t load_fp(
    uint64_t fp, const struct outer_frame *f, const struct outer_frame *to)
{
	for (; f <= to; f++) {
		if (f->fp_slot)
			return *(const uint64_t *)(uintptr_t)f->fp_slot;
	}
	return fp;
}

SEEP_INLINE void find_fp(struct place *p)
{
	if (!p->saved_from)
		return;
	p->w.fp = load_fp(p->w.fp, p->saved_from, p->saved_to);
	p->saved_from = NULL;
}

/* Frames of the copy from `met` outwards, innermost first. */
SEEP_INLINE const uint64_t *words_from(const struct thread *t, int met)
{
	return t->copy.words + OUTER_MAX - 1 - met;
}

/*
 * Check c of the copy is the first that differs. Lists the frames of the copy
 * from *o up to the one whose step loads that word, without the latter, which
 * it returns. *p goes there; its fp is left to find_fp().
 */
SEEP_INLINE const struct outer_frame *list_same(
    struct thread *t, struct place *p, const struct outer_frame *o, int c, uint32_t *n)
{
	const struct outer_frame *const to = t->copy.frame + t->copy.check_frame[c];
	const uint64_t *from = words_from(t, (int)(o - t->copy.frame));
	uint64_t *at = t->copy.listed + *n;
	uint32_t i, count = (uint32_t)(o - to);

	for (i = 0; i < count; i++)
		at[i] = from[i];
	*n += count;
	find_fp(p);
	p->saved_from = to + 1;
	p->saved_to = o;
	p->w.pc = to->pc;
	p->w.sp = to->sp;
	return to;
}

/*
 * Lists the frames from *w outwards. False: outer_walk() must do it, or fewer
 * than `least` differ from the copy.
 */
SEEP_INLINE bool list(
    struct thread *t, const struct walk *w, int j, int differs, uint32_t least, struct known *ret)
{
	const struct outer_frame *const low = t->copy.frame;
	const struct outer_frame *o = low + j, *fail = low + OUTER_MAX;
	struct place p;
	uint32_t n = 0, same = 0, i;
	uint64_t hash;
	int met = -1;

	if (!w->sure || w->exact || t->copy.truncated || t->copy.gen != LOAD(&module_gen))
		return false;
	p.w.pc = w->pc;
	p.w.sp = w->sp;
	p.w.fp = w->fp;
	p.w.hi = w->hi;
	p.w.sure = true;
	p.saved_from = p.saved_to = NULL;
	for (;;) {
		struct unwind_rule rule;
		struct walk_slots slots;
		uint64_t frame;

		if (unlikely(n >= OUTER_MAX - SEG_INNER_FRAMES))
			return false;
		while (o >= low && o->sp < p.w.sp)
			o--;
		if (o >= low && o->sp == p.w.sp && o->pc == p.w.pc) {
			if (o->exact || o->top)
				return false;
			if (o->needs_fp)
				find_fp(&p);
			if (o < fail && (!o->needs_fp || o->fp == p.w.fp)) {
				int c = differs >= 0 ? differs : memo_verify(t, (int)o->checks);

				differs = -1;
				if (c < 0) {
					met = (int)(o - low);
					break;
				}
				i = n;
				fail = o = list_same(t, &p, o, c, &n);
				if (o->exact)
					return false;
				same = i ? same : n;
			}
			rule = o->rule;
			frame = o->frame;
		} else {
			rule = rules_get(p.w.pc, false, &frame);
		}
		t->copy.listed[n++] = frame;
		if (rule.kind == RULE_END)
			break;
		if (rule.kind == RULE_FP)
			find_fp(&p);
		if (unlikely(!walk_step_own(&p.w, rule, &slots)))
			return false;
		if (slots.fp)
			p.saved_from = NULL;
	}
	if (n < least || n + (uint32_t)(met + 1) + SEG_INNER_FRAMES >= outer_depth)
		return false;
	hash = met < 0 ? 0 : low[met].hash;
	i = 0;
	/* the first frames are those of the copy, as deep as there? */
	if (same && met + (int)n == j) {
		hash += low[j].hash - low[j - (int)same].hash;
		i = same;
	}
	for (; i < n; i++)
		hash += known_hash(t->copy.listed[i], (uint32_t)met + n - i);
	ret->hash = hash | 1;
	/* inside a run the copy has no node, so the list goes on to its end */
	for (; met >= 0 && unlikely(!low[met].node); met--)
		t->copy.listed[n++] = low[met].frame;
	ret->base = met < 0 ? SITES_NODE_ROOT : low[met].node;
	ret->met = met;
	ret->count = n;
	return true;
}

/* Is it time to make this stack the copy? */
static bool renews(struct thread *t, const struct walk *w, struct site_id s)
{
	if (s.v != t->lookup.last || w->hook->sp != t->lookup.sp) {
		t->lookup.last = s.v;
		t->lookup.sp = w->hook->sp;
		t->lookup.same = 1;
	} else if (++t->lookup.same >= COPY_SAME) {
		t->lookup.last = 0;
		return true;
	}
	return ++t->lookup.count % COPY_RENEW == 0;
}

/* Was a frame of the copy, of those above `met` up to j, left by a guess? */
static bool is_guessed(const struct thread *t, int met, int j)
{
	while (j > met) {
		if (t->copy.frame[j--].guessed)
			return true;
	}
	return false;
}

enum { TURNS_AFTER = 256 }; /* stacks found in the index */

SEEP_INLINE uint32_t turn_place(const struct known *k, uint32_t inner)
{
	return (uint32_t)(hash_word(k->hash ^ inner) >> (64 - TURNS_BITS));
}

SEEP_INLINE bool same_words(const uint64_t *a, const uint64_t *b, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (unlikely(a[i] != b[i]))
			return false;
	}
	return true;
}

/*
 * The site of a stack that was found not long ago. What was proven then by the
 * rows of the segment, one after the other, is proven here by one array. It has
 * all frames, because the copy with which the stack was compared may be another
 * one now.
 */
SEEP_INLINE struct site_id find_turn(const struct thread *t, const struct known *k, uint32_t inner)
{
	const struct site_id none = {0};
	const struct turns *all = t->lookup.cache;
	const uint32_t place = turn_place(k, inner);
	const uint32_t rest = (uint32_t)(k->met + 1);
	const struct turn *u;

	if (!all)
		return none;
	_Static_assert(TURN_WAYS == 2, "these are all");
	if (all->tag[place][0] == k->hash)
		u = &all->at[place][0];
	else if (all->tag[place][1] == k->hash)
		u = &all->at[place][1];
	else
		return none;
	if (unlikely(
	        u->inner != inner || u->count != k->count + rest || (rest && !t->copy.rooted)) ||
	    !same_words(u->frames, t->copy.listed, k->count) ||
	    !same_words(u->frames + k->count, words_from(t, k->met), rest))
		return none;
	return (struct site_id){u->site};
}

/* Which of its places the stack may take; below 0: none, so far. */
static int way_for(struct turns *all, uint32_t place, uint64_t hash)
{
	int i;

	for (i = 0; i < TURN_WAYS; i++) {
		if (!all->tag[place][i] || all->tag[place][i] == hash)
			return i;
	}
	if (all->asked[place] == (uint32_t)(hash >> 32))
		return (int)(hash >> 1 & 1);
	all->asked[place] = (uint32_t)(hash >> 32);
	return -1;
}

/* The stack was found in the index. */
static SEEP_NOINLINE void note_turn(
    struct thread *t, const struct known *k, uint32_t inner, struct site_id id)
{
	const uint32_t place = turn_place(k, inner);
	const uint32_t rest = (uint32_t)(k->met + 1);
	struct turns *all = t->lookup.cache;
	struct turn *u;
	int way;

	if (!all) {
		if (++t->lookup.hits == TURNS_AFTER)
			t->lookup.cache = mem_alloc(sizeof(*all));
		return;
	}
	if (k->count + rest > TURN_FRAMES || (rest && !t->copy.rooted))
		return;
	way = way_for(all, place, k->hash);
	if (way < 0)
		return;
	u = &all->at[place][way];
	all->tag[place][way] = 0; /* a half-written one is never found */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	u->site = id.v;
	u->inner = inner;
	u->count = k->count + rest;
	memcpy(u->frames, t->copy.listed, k->count * sizeof(u->frames[0]));
	memcpy(u->frames + k->count, words_from(t, k->met), rest * sizeof(u->frames[0]));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	all->tag[place][way] = k->hash;
}

/*
 * The same for a stack that was not found. The node above the list is one of
 * several, if there are runs, so all frames are compared (see sites_next()).
 */
static SEEP_NOINLINE struct site_id find_elsewhere(
    struct thread *t, const struct known *k, uint32_t inner)
{
	uint32_t n = k->count;
	int i;

	for (i = k->met; i >= 0; i--)
		t->copy.listed[n++] = t->copy.frame[i].frame;
	return sites_known(
	    &(struct sites_stack){k->hash, t->copy.listed, n, SITES_NODE_ROOT, inner, false});
}

/*
 * Interns the frames that are listed: stacks that take turns are not walked
 * once more to copy them, but for some. 0: copy it, or there is no room.
 */
static struct site_id new_site(
    struct thread *t, const struct known *k, uint32_t inner, enum seg_api api)
{
	struct sites_way way = {
	    .frames = t->copy.listed, .left = k->count, .node = k->base, .makes_runs = true};

	if (++t->lookup.fresh % COPY_RENEW_NEW == 0)
		return (struct site_id){0};
	while (way.left) {
		if (!sites_next(&way))
			return (struct site_id){0};
	}
	return sites_enter(k->hash, way.node, inner, api);
}

struct site_id known_site(
    struct thread *t, const struct walk *w, uint32_t inner, enum seg_api api, int j, int differs)
{
	const struct site_id none = {0};
	struct sites_stack stack;
	struct site_id s;
	struct known k;

	if (!inner || (differs < 0 && t->lookup.few > FEW_LEAST && ++t->lookup.few % FEW_LOOK))
		return none;
	if (!list(t, w, j, differs, differs < 0 ? FRAMES_LEAST : 0, &k)) {
		t->lookup.few += differs < 0;
		return none;
	}
	s = find_turn(t, &k, inner);
	if (!s.v) {
		stack = (struct sites_stack){k.hash, t->copy.listed, k.count, k.base, inner, false};
		s = sites_known(&stack);
		if (unlikely(stack.is_like) && !s.v && k.met >= 0)
			s = find_elsewhere(t, &k, inner);
		if (!s.v) {
			t->lookup.few += differs < 0;
			return differs < 0 || is_guessed(t, k.met, j) ? none
			                                              : new_site(t, &k, inner, api);
		}
		note_turn(t, &k, inner, s);
	}
	if (differs < 0)
		t->lookup.few = 0;
	return renews(t, w, s) ? none : s;
}

/*
 * The site of this node and these inner frames, made if there is none. A stack
 * that was cut is not entered in the index of whole stacks.
 */
static SEEP_NOINLINE struct site_id get_below(
    struct thread *t, const struct outer_frame *o, uint32_t inner, enum seg_api api)
{
	struct site_id s = sites_find(o->node, inner);

	if (!s.v) {
		s = sites_new(o->node, inner, api);
		if (!t->copy.truncated)
			sites_know(o->hash | 1, inner, s);
	}
	return s;
}

struct site_id known_get(struct thread *t, uint32_t k, uint32_t inner, enum seg_api api, bool own)
{
	struct outer_frame *o = &t->copy.frame[k];
	/* no frames: the site below this very node */
	struct sites_stack stack = {o->hash | 1, NULL, 0, o->node, inner, false};
	struct site_id s;

	if (unlikely(t->copy.truncated))
		return get_below(t, o, inner, api);
	s = sites_known(&stack);
	if (likely(s.v))
		return s;
	if (stack.is_like && sites_have_runs()) {
		const struct known all = {.hash = o->hash | 1, .met = (int)k};

		s = find_elsewhere(t, &all, inner);
	}
	if (s.v) {
		if (sites_node_of(s)) /* found at once the next time */
			o->node = sites_node_of(s);
		return s;
	}
	return own ? sites_enter(o->hash | 1, o->node, inner, api) : get_below(t, o, inner, api);
}

void known_forget(struct thread *t)
{
	if (t->lookup.cache)
		memset(t->lookup.cache->tag, 0, sizeof(t->lookup.cache->tag));
}
