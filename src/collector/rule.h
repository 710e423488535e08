/* rule.h - how to leave one frame: eight bytes per code address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RULE_H
#define SEEP_RULE_H

#include <stdint.h>

enum rule_kind {
	RULE_STOP,     /* in no module, so no unwind information: guess.h */
	RULE_SP,       /* CFA = sp + cfa */
	RULE_FP,       /* CFA = fp + cfa */
	RULE_FP_DEREF, /* CFA = *(fp + cfa): realigned stack */
	RULE_SIGNAL,   /* signal frame: all registers are in the ucontext */
	RULE_END,      /* outermost frame of the thread; cfa: enum rule_end */
	RULE_OTHER,    /* a rule that we do not know: the stack is cut */
	RULE_BASE,     /* CFA = base + cfa: see CPU_DWARF_BASE */
	RULE_GUESS,    /* no unwind information, but in a module: guess.h */
};

/* Which outermost frame: that of a coroutine of makecontext(), or another? */
enum rule_end { RULE_END_OTHER, RULE_END_CONTEXT };

/* Where the caller's frame pointer register is. */
enum rule_fp { RULE_FP_SAME, RULE_FP_AT_CFA, RULE_FP_AT_FP };

/* Except in signal frames the return address is at CFA - CPU_RETURN_BYTES. */
struct unwind_rule {
	uint8_t kind;   /* enum rule_kind */
	uint8_t fp : 2; /* enum rule_fp */
	/* the caller's base register is at CFA - 8 * base; 0: unchanged */
	uint8_t base : 6;
	int16_t fp_offset;
	int32_t cfa;
};

enum { RULE_BASE_LOST = 63 }; /* saved in a way that `base` cannot express */

_Static_assert(sizeof(struct unwind_rule) == 8, "a rule is one word");

#endif
