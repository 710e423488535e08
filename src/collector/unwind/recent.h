/* recent.h - unwind rules that a thread has used lately. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECENT_H
#define SEEP_RECENT_H

#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/hash.h"
#include "collector/stack/memo_types.h"
#include "collector/unwind/module.h"
#include "collector/unwind/rules.h"
#include "format/frame.h"

/*
 * A thread whose memo is as large as it gets, and still misses, walks inner
 * frames all the time. The table of rules.c is large then, with a cache line for
 * each rule. Here are those that this thread used lately, four in a cache line.
 * It proves as much as the table does: the whole address is compared.
 */
struct unwind_rule recent_rule_slow(struct recent *r, uint64_t pc, uint64_t *ret_frame);

/* The same as rules_get() for a return address. `r` may be NULL. */
SEEP_INLINE struct unwind_rule recent_rule(struct recent *r, uint64_t pc, uint64_t *ret_frame)
{
	const struct recent_rule *at;
	struct unwind_rule rule;

	if (!r)
		return rules_get(pc, false, ret_frame);
	at = &r->rules[hash_word(pc) >> (64 - RECENT_BITS)];
	if (unlikely(SEG_FRAME_PC(at->frame) != pc || r->gen != LOAD_ACQUIRE(&module_gen)))
		return recent_rule_slow(r, pc, ret_frame);
	*ret_frame = at->frame;
	memcpy(&rule, &at->rule, sizeof(rule)); /* one load */
	return rule;
}

#endif
