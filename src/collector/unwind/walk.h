/* walk.h - one step up a stack, with every load inside that stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WALK_H
#define SEEP_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/unwind/guess.h"
#include "collector/rule.h"
#include "collector/thread.h"

/*
 * Which memory may be loaded? There are three cases.
 *
 * 1. The thread's own stack, [lo, hi) of `stack` in its block: memory that
 *    exists as long as the thread. glibc notes the stack of a pthread in the
 *    thread's control block. The stack of the first thread ends at
 *    __libc_stack_end; the kernel never shrinks it, so everything above the
 *    lowest sp that a hook has seen there is readable. It is told from other
 *    stacks by RLIMIT_STACK: the kernel places no mapping that near to it.
 * 2. The page that holds the return address of the hook: the CPU has just
 *    written to it.
 * 3. All else (coroutines, sigaltstack): a page is asked for with
 *    MADV_POPULATE_READ right before the first load from it, one page at a
 *    time. Nothing in between is touched. Such an answer holds for this event
 *    only, because the program may unmap what is not its stack at any time.
 *    Where the kernel lacks the call, before Linux 5.14, the stack is cut.
 *
 * A frame of code without unwind information is left by a guess, which also
 * reads code: guess.h says which.
 */
struct walk {
	uint64_t pc, sp, fp;
	uint64_t lo, hi; /* readable now: pages as above, or our own stack */
	/*
	 * end of the highest load in case 2 or 3; 0: there was none; ~0: not
	 * all pages from lo up to it are known to be readable
	 */
	uint64_t top;
	uint64_t base_slot;           /* where base is saved; 0: not known */
	uint64_t home;                /* guesses below it lead to a known frame; 0: unknown */
	const struct cpu_frame *hook; /* where the walk began */
	bool exact;                   /* pc is an interrupted instruction, no return address */
	bool own;                     /* sp is on the thread's own stack */
	bool sure;                    /* [lo, hi) is the thread's own stack */
	bool vouched;                 /* ended at the base frame of makecontext() */
	bool guessed;                 /* a step was a guess */
	/* enum walk_guess, of steps since the caller has cleared it */
	uint8_t step_guess;
	struct guess guess;
};

#define WALK_NOWHERE UINT64_MAX /* a `top` that cannot be proven */

/* How a step depended on a guess (guess.h); bits. */
enum walk_guess {
	WALK_GUESS_FP = 1,      /* on the frame pointer; it may have failed */
	WALK_GUESS_STEPPED = 2, /* the caller was reached by a guess */
};

/* The words that a step loaded, 0 where it loaded none. */
struct walk_slots {
	uint64_t ra, fp, aux;
	uint64_t aux_value;
};

enum walk_result {
	WALK_STEPPED,
	WALK_END, /* outermost frame */
	WALK_CUT, /* no step beyond this frame; *ret_why says which count */
};

/* Facts that are found once, at the start. */
struct walk_facts {
	uint64_t main_end;      /* __libc_stack_end, 0: not known */
	uint64_t main_max;      /* RLIMIT_STACK */
	uint32_t pthread_bytes; /* size of glibc's control block, 0: unknown */
	bool can_probe;         /* the kernel has MADV_POPULATE_READ */
	bool guess;             /* SEEP_GUESS is not 0 */
};

/* Called by the first thread. */
void walk_init(const struct walk_facts *f);

/* The thread has another stack than the last one that had its block. */
void walk_forget(struct thread *t);

/* walk_begin() if sp is not on the known part of the thread's own stack. */
void walk_enter(struct walk *w, struct thread *t);

/* Begins at the caller of a hook. If t is NULL, the thread has no own stack. */
SEEP_INLINE void walk_begin(struct walk *w, struct thread *t, const struct cpu_frame *c)
{
	w->pc = c->pc;
	w->sp = c->sp;
	w->fp = c->fp;
	w->hook = c;
	w->top = w->base_slot = w->home = 0;
	w->exact = w->vouched = w->guessed = false;
	w->step_guess = 0;
	w->guess.used = 0;
	/* sp itself may be in another page than the hook's return address */
	if (likely(t && c->sp - CPU_RETURN_BYTES - t->stack.lo < t->stack.hi - t->stack.lo)) {
		w->lo = t->stack.lo;
		w->hi = t->stack.hi;
		w->own = w->sure = true;
	} else {
		walk_enter(w, t);
	}
}

/*
 * Moves to a frame further out on the same stack, to which the words of a memo
 * have led. So the word right below sp, a return address, has just been loaded.
 */
SEEP_INLINE void walk_move(struct walk *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->base_slot = 0;
	if (unlikely(sp - CPU_RETURN_BYTES - w->lo >= w->hi - w->lo)) {
		w->lo = (sp - CPU_RETURN_BYTES) & ~(uint64_t)(CPU_PAGE - 1);
		w->hi = w->lo + CPU_PAGE;
	}
}

/*
 * May a memo load its words up to `top`, which a walk on this stack has loaded
 * before? A `top` of 0 means that all are on the thread's own stack.
 */
bool walk_prove_slow(struct walk *w, uint64_t top);

SEEP_INLINE bool walk_prove(struct walk *w, uint64_t top)
{
	return likely(!top) || walk_prove_slow(w, top);
}

/*
 * Leaves a usual frame of the thread's own stack as walk_step() does, in few
 * instructions. False: it is not one, or the outermost, and nothing was changed.
 */
SEEP_INLINE bool walk_step_own(
    struct walk *w, struct unwind_rule rule, struct walk_slots *ret_slots)
{
	const uint64_t hi = w->hi;
	uint64_t cfa, pc, slot = 0;

	if (unlikely(!w->sure))
		return false;
	if (likely(rule.kind == RULE_SP))
		cfa = w->sp + (uint64_t)(int64_t)rule.cfa;
	else if (rule.kind == RULE_FP)
		cfa = w->fp + (uint64_t)(int64_t)rule.cfa;
	else
		return false;
	if (unlikely(cfa - w->sp - CPU_RETURN_BYTES > hi - w->sp || cfa > hi || (cfa & 7)))
		return false;
	if (rule.fp == RULE_FP_AT_CFA) {
		slot = cfa + (uint64_t)(int64_t)rule.fp_offset;
		if (unlikely(slot < w->sp || slot >= hi || (slot & 7)))
			return false;
	} else if (unlikely(rule.fp != RULE_FP_SAME)) {
		return false;
	}
	pc = *(const uint64_t *)(uintptr_t)(cfa - CPU_RETURN_BYTES);
	if (unlikely(!pc))
		return false;
	if (slot)
		w->fp = *(const uint64_t *)(uintptr_t)slot;
	w->pc = pc;
	w->sp = cfa;
	w->exact = false;
	if (unlikely(rule.base))
		w->base_slot = rule.base == RULE_BASE_LOST ? 0 : cfa - UINT64_C(8) * rule.base;
	*ret_slots = (struct walk_slots){.ra = cfa - CPU_RETURN_BYTES, .fp = slot};
	return true;
}

/* Leaves the frame at *w by `rule`. The position is changed on WALK_STEPPED. */
enum walk_result walk_step(struct walk *w, const struct thread *t, struct unwind_rule rule,
    struct walk_slots *ret_slots, uint32_t *ret_why);

#endif
