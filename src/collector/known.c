/* known.c - a stack that was seen before: a walk and one look-up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/known.h"

#include "collector/memo.h"
#include "collector/module.h"
#include "collector/outer.h"
#include "collector/rules.h"

/*
 * The copy is renewed if the same stack comes COPY_SAME times in a row, and now
 * and then, so that it is one that comes often.
 */
enum { COPY_SAME = 3, COPY_RENEW = 256 };

/* Fewer frames are interned, see known.h. */
enum { FRAMES_LEAST = 8 };

/* Where a light walk is. */
struct place {
	uint64_t pc, sp, fp;
};

/*
 * Leaves a frame of the thread's own stack: walk_step() for the two usual
 * kinds of rule, in few instructions.
 */
SEEP_INLINE bool
step(const struct thread *t, struct place *p, struct unwind_rule rule)
{
	const uint64_t hi = t->stack_hi;
	uint64_t cfa, slot;

	if (likely(rule.kind == RULE_SP))
		cfa = p->sp + (uint64_t)(int64_t)rule.cfa;
	else if (rule.kind == RULE_FP)
		cfa = p->fp + (uint64_t)(int64_t)rule.cfa;
	else
		return false;
	if (unlikely(cfa <= p->sp || cfa > hi || (cfa & 7)))
		return false;
	if (rule.fp == RULE_FP_AT_CFA) {
		slot = cfa + (uint64_t)(int64_t)rule.fp_offset;
		if (unlikely(slot < p->sp || slot >= hi || (slot & 7)))
			return false;
		p->fp = *(const uint64_t *)(uintptr_t)slot;
	} else if (unlikely(rule.fp != RULE_FP_SAME)) {
		return false;
	}
	p->pc = *(const uint64_t *)(uintptr_t)(cfa - CPU_RETURN_BYTES);
	p->sp = cfa;
	return true;
}

/*
 * Check c of the copy is the first that differs. Lists the frames of the copy
 * from j up to the one whose step loads that word, without the latter, whose
 * number it returns. *p goes there.
 */
static int
list_same(struct thread *t, struct place *p, int j, int c, uint32_t *n)
{
	const struct outer_frame *o = &t->outer[j];
	uint64_t fp_slot = 0;

	while (o > t->outer && (int)o[-1].checks > c) {
		t->listed[(*n)++] = o->frame;
		if (o->fp_slot)
			fp_slot = o->fp_slot;
		o--;
	}
	/* the copy's own fp is not proven, unless a frame above needs it */
	if (fp_slot)
		p->fp = *(const uint64_t *)(uintptr_t)fp_slot;
	p->pc = o->pc;
	p->sp = o->sp;
	return (int)(o - t->outer);
}

/* Lists the frames from *w outwards. False: outer_walk() must do it. */
static bool
list(struct thread *t, const struct walk *w, int j, int differs,
    struct known *ret)
{
	struct place p = {w->pc, w->sp, w->fp};
	int fail = INT32_MAX, met = -1;
	uint32_t n = 0, i;
	uint64_t hash;

	if (!w->sure || w->exact || t->outer_truncated ||
	    t->outer_gen != LOAD(&module_gen))
		return false;
	for (;;) {
		const struct outer_frame *o;
		struct unwind_rule rule;
		uint64_t frame;

		if (unlikely(n >= OUTER_MAX - SEG_INNER_FRAMES))
			return false;
		while (j >= 0 && t->outer[j].sp < p.sp)
			j--;
		o = &t->outer[j < 0 ? 0 : j];
		if (j >= 0 && o->sp == p.sp && o->pc == p.pc) {
			if (o->exact || o->top)
				return false;
			if (j < fail && (!o->needs_fp || o->fp == p.fp)) {
				int c = differs >= 0
				    ? differs
				    : memo_verify(t, (int)o->checks);

				differs = -1;
				if (c < 0) {
					met = j;
					break;
				}
				fail = j = list_same(t, &p, j, c, &n);
				o = &t->outer[j];
				if (o->exact)
					return false;
			}
			rule = o->rule;
			frame = o->frame;
		} else {
			rule = rules_get(p.pc, false, &frame);
		}
		t->listed[n++] = frame;
		if (rule.kind == RULE_END)
			break;
		if (unlikely(!step(t, &p, rule)))
			return false;
		if (!p.pc)
			break;
	}
	if (n + (uint32_t)(met + 1) + SEG_INNER_FRAMES >= outer_depth)
		return false;
	hash = met < 0 ? 0 : t->outer[met].hash;
	ret->base = met < 0 ? SITES_NODE_ROOT : t->outer[met].node;
	ret->count = n;
	for (i = 0; i < n; i++)
		hash += known_hash(t->listed[i], (uint32_t)met + n - i);
	ret->hash = hash | 1;
	return true;
}

/* Is it time to make this stack the copy? */
static bool
renews(struct thread *t, const struct walk *w, struct site_id s)
{
	if (s.v != t->known_last || w->hook->sp != t->known_sp) {
		t->known_last = s.v;
		t->known_sp = w->hook->sp;
		t->known_same = 1;
	} else if (++t->known_same >= COPY_SAME) {
		t->known_last = 0;
		return true;
	}
	return ++t->known_count % COPY_RENEW == 0;
}

struct site_id
known_site(struct thread *t, const struct walk *w, uint32_t inner, int j,
    int differs, struct known *ret)
{
	struct site_id s;

	ret->hash = 0;
	if (!inner || !list(t, w, j, differs, ret))
		return (struct site_id){0};
	if (differs < 0 && ret->count < FRAMES_LEAST) {
		ret->hash = 0;
		return (struct site_id){0};
	}
	s = sites_known(&(struct sites_stack){
	    ret->hash, t->listed, ret->count, ret->base, inner});
	if (!s.v || !renews(t, w, s))
		return s;
	ret->hash = 0; /* known already */
	return (struct site_id){0};
}

void
known_add(const struct known *k, uint32_t inner, struct site_id site)
{
	if (k->hash)
		sites_know(k->hash, inner, site);
}
