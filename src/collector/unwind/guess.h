/* guess.h - leaves frames of code that has no unwind information. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_GUESS_H
#define SEEP_GUESS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/rule.h"

/*
 * Runtimes make code while they run (JavaScript, Java, Python's trampolines),
 * or contain code that they have generated when they were built. Neither has
 * unwind information, but both follow one of two habits:
 *
 * - A stub's epilogue follows its only call. So the bytes at the return address
 *   say how large its frame is.
 * - All else keeps a frame pointer.
 *
 * That is a guess, and it must be proven: the word that is taken for a return
 * address has to follow a call instruction. Otherwise the stack is cut.
 *
 * Which code may be read? That of a loaded module, in its readable and
 * executable segment; its answers are remembered until a module is unloaded.
 * Code in no module may be replaced or unmapped at any time, and a stale word
 * may point to where it was. So the kernel is asked with MADV_POPULATE_READ
 * right before these bytes are read, which happens once for each return
 * address of a walk, and nothing is remembered after the walk. Code that can
 * only be executed is refused by the kernel. A kernel that lacks the call
 * (before Linux 5.14) makes such code the end of the stack.
 *
 * A thread on another CPU may unmap the code between the answer and the load. It
 * does not do so with code to which this thread will return. Such is code that
 * unwind information has led to, or an epilogue that was seen. Where only a frame
 * pointer has led there, walk.c demands that it leads further, into a module.
 */

enum { GUESS_CODES = 4 };

/* The code at a return address in no module. */
struct guess_code {
	uint64_t pc;
	struct unwind_rule rule; /* RULE_STOP: it cannot be read */
	bool follows_call;
	bool is_seen; /* its epilogue is known */
};

/* What a walk knows of such code; `used` begins with 0. */
struct guess {
	uint32_t used; /* entries that were written, in turn */
	struct guess_code codes[GUESS_CODES];
};

/* Once. can_probe: the kernel has MADV_POPULATE_READ. */
void guess_init(bool on, bool can_probe);

/*
 * The rule by which to leave the frame with the return address `pc`, for which
 * rules_get() had RULE_STOP (no module) or RULE_GUESS: RULE_SP or RULE_FP.
 * RULE_STOP: there is none. *ret_seen: the epilogue was seen, so what the rule
 * leads to is a return address, if pc is one.
 */
struct unwind_rule guess_rule(
    struct guess *g, struct unwind_rule rule, uint64_t pc, bool *ret_seen);

/* May pc, a word that a guess has led to, be an address of code in no module? */
bool guess_is_loose(uint64_t pc);

/* Is pc, a word that a guess has led to, the return address of a call? */
bool guess_is_return(struct guess *g, uint64_t pc);

#endif
