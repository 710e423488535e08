/* nested.c - walks without a memo, for nested events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stack/nested.h"

#include "collector/unwind/module.h"
#include "collector/stack/outer.h"
#include "collector/unwind/rules.h"
#include "collector/unwind/walk.h"

SEEP_NOINLINE struct site_id nested_walk(struct thread *t, const struct cpu_frame *c,
    enum seg_api api, uint64_t *scratch, uint32_t max, bool *ret_own, bool *ret_whole)
{
	uint64_t inner[SEG_INNER_FRAMES], guessed[OUTER_MAX / 64] = {0};
	enum walk_result r = WALK_STEPPED;
	uint32_t n = 0, why = 0, kept = 0, node;
	bool own = false, simple = true, is_new = false;
	struct walk w;

	walk_begin(&w, t, c);
	while (n < max) {
		struct walk_slots slots;
		uint64_t frame;
		struct unwind_rule rule = rules_get(w.pc, w.exact, &frame);

		own |= module_is_own(w.pc);
		scratch[n++] = frame;
		r = walk_step(&w, t, rule, &slots, &why);
		if (r != WALK_STEPPED)
			break;
		if (unlikely(w.step_guess) && n <= OUTER_MAX)
			guessed[(n - 1) / 64] |= UINT64_C(1) << (n - 1) % 64;
		w.step_guess = 0;
		/* inner and outer frames are divided as in memo_fill() */
		simple &=
		    (rule.kind == RULE_SP || rule.kind == RULE_FP) && rule.fp != RULE_FP_AT_FP;
		if (simple && kept == n - 1 && kept < SEG_INNER_FRAMES)
			inner[kept++] = frame;
	}
	*ret_own = own;
	*ret_whole = r == WALK_END && w.own && !w.guessed;
	if (unlikely(w.guessed))
		segment_count(SEG_GUESSED, 1);
	if (max <= SEG_INNER_FRAMES) {
		node = SITES_NODE_OUTER_DROPPED;
	} else {
		node = r == WALK_STEPPED ? (uint32_t)SITES_NODE_TRUNCATED : outer_root(r, why);
		while (n > kept && node != SITES_NODE_OUTER_DROPPED) {
			n--;
			node = sites_child(node, scratch[n], &is_new);
			if (node && n < OUTER_MAX && guessed[n / 64] >> n % 64 & 1)
				sites_mark_guess(node);
			if (!node)
				node = SITES_NODE_OUTER_DROPPED;
		}
	}
	return sites_get(node, sites_inner(inner, kept), api);
}

bool nested_inside_hook(struct thread *t, const struct cpu_frame *c)
{
	enum walk_result r = WALK_STEPPED;
	uint32_t n, why;
	struct walk w;

	walk_begin(&w, t, c);
	for (n = 0; n < OUTER_MAX && r == WALK_STEPPED; n++) {
		struct walk_slots slots;
		uint64_t frame;
		struct unwind_rule rule = rules_get(w.pc, w.exact, &frame);

		if (module_is_own(w.pc))
			return true;
		r = walk_step(&w, t, rule, &slots, &why);
	}
	/* if the walk did not come to the end, or is a guess, it may be */
	return r != WALK_END || w.guessed;
}
