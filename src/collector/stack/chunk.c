/* chunk.c - pieces of stack with the words that prove them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stack/chunk.h"

#include "collector/unwind/rules.h"

enum { CHUNK_REACH = 400000 }; /* bytes that 16-bit word offsets can span */

/* Repeats the last word, so that there are always six. */
static void pad_words(struct memo_chunk *e, uint32_t words, uint64_t pc)
{
	uint16_t offset = words ? e->offset[words - 1] : 0;

	for (; words < MEMO_WORDS; words++) {
		e->offset[words] = offset;
		e->value[words] = pc;
	}
}

uint32_t chunk_fill(struct thread *t, struct memo_chunk *e, struct walk *w, uint64_t *ret_frames,
    enum memo_flags *ret_next)
{
	const uint64_t sp = w->sp - CPU_RETURN_BYTES; /* where slot 0 is */
	uint64_t fp_slot = 0; /* where the current fp was saved; 0: register */
	bool fp_listed = false, reads_fp = false;
	uint32_t n = 0, words = 0, returns = 0;

	*ret_next = 0;
	while (n < SEG_INNER_FRAMES && words < MEMO_WORDS) {
		const uint64_t fp = w->fp;
		struct walk_slots slots;
		uint64_t frame, cfa;
		struct unwind_rule rule = rules_get(w->pc, false, &frame);
		uint32_t why;
		bool list_fp;

		if ((rule.kind != RULE_SP && rule.kind != RULE_FP) || rule.fp == RULE_FP_AT_FP) {
			*ret_next = rule.kind == RULE_END ? MEMO_END : MEMO_PLAIN;
			w->vouched = rule.kind == RULE_END && rule.cfa == RULE_END_CONTEXT;
			break;
		}
		list_fp = rule.kind == RULE_FP && !fp_listed && fp_slot;
		if (words + list_fp + 1u > MEMO_WORDS)
			break;
		cfa = (rule.kind == RULE_SP ? w->sp : fp) + (uint64_t)(int64_t)rule.cfa;
		if (cfa - sp > CHUNK_REACH) {
			*ret_next = MEMO_PLAIN;
			break;
		}
		if (unlikely(!walk_step_own(w, rule, &slots)) &&
		    walk_step(w, t, rule, &slots, &why) != WALK_STEPPED) {
			*ret_next = MEMO_PLAIN;
			break;
		}
		if (list_fp) {
			e->offset[words] = (uint16_t)((fp_slot - sp) >> 3);
			e->value[words++] = fp;
		}
		if (rule.kind == RULE_FP) {
			reads_fp |= !fp_slot;
			fp_listed = true;
		}
		returns |= 1u << words;
		e->offset[words] = (uint16_t)((slots.ra - sp) >> 3);
		e->value[words++] = w->pc;
		if (slots.fp) {
			fp_slot = slots.fp;
			fp_listed = false;
		}
		ret_frames[n++] = frame;
	}
	walk_move(w, w->pc, w->sp, w->fp);
	pad_words(e, words, w->pc);
	e->returns = returns;
	e->gen_flags = reads_fp ? (uint64_t)MEMO_USES_FP << 32 : 0;
	e->frames = (uint16_t)n;
	e->fp_offset = fp_slot ? (uint16_t)((fp_slot - sp) >> 3) : UINT16_MAX;
	e->end_offset = (uint16_t)((w->sp - sp - CPU_RETURN_BYTES) >> 3);
	return n;
}

uint64_t chunk_top(const struct memo_chunk *e)
{
	uint16_t last = e->fp_offset == UINT16_MAX ? 0 : e->fp_offset;
	uint32_t i;

	for (i = 0; i < MEMO_WORDS; i++) {
		if (last < e->offset[i])
			last = e->offset[i];
	}
	return e->sp + (uint64_t)last * 8;
}

bool chunk_prove(const struct thread *t, struct walk *w, const struct memo_chunk *e)
{
	const struct outer_frame *o = &t->copy.frame[e->hint & (OUTER_MAX - 1)];

	if (e->hint < t->copy.count && o->top > chunk_top(e) &&
	    o->sp == e->sp + (uint64_t)e->end_offset * 8 && walk_prove(w, o->top))
		return true;
	return walk_prove(w, chunk_top(e));
}
