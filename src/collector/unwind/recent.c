/* recent.c - unwind rules that a thread has used lately. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/unwind/recent.h"

SEEP_NOINLINE struct unwind_rule recent_rule_slow(
    struct recent *r, uint64_t pc, uint64_t *ret_frame)
{
	struct recent_rule *at = &r->rules[hash_word(pc) >> (64 - RECENT_BITS)];
	/* before the rule is looked up: it holds for this one, or a later one */
	const uint32_t gen = LOAD_ACQUIRE(&module_gen);
	struct unwind_rule rule = rules_get(pc, false, ret_frame);

	if (unlikely(r->gen != gen)) {
		memset(r->rules, 0, sizeof(r->rules));
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		r->gen = gen;
	}
	if (unlikely(
	        (rule.kind != RULE_SP && rule.kind != RULE_FP) || SEG_FRAME_PC(*ret_frame) != pc))
		return rule;
	at->frame = 0; /* a half-written one is never found */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at->rule = rule;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at->frame = *ret_frame;
	return rule;
}
