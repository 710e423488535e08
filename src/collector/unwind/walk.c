/* walk.c - one step up a stack, with every load inside that stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/unwind/walk.h"

#include "base/sys.h"
#include "format/format.h"

enum {
	STACK_MAX = 1 << 30,   /* no stack is larger than this */
	FRAME_MAX = STACK_MAX, /* outside the thread's own stack */
	GUESS_MAX = 64 << 10,  /* the same, by a guess */
	PROVE_MAX = 256 << 10, /* more is not worth a system call */
	RED_ZONE = 128,
	HOPS = 32,            /* frames that are looked at ahead */
	TCB_SLACK = 64 << 10, /* between the control block and the stack's end */
};

static struct walk_facts facts;
static uint64_t main_tp;

void walk_init(const struct walk_facts *f)
{
	facts = *f;
	guess_init(f->guess, f->can_probe);
	facts.main_end &= ~UINT64_C(7);
	if (facts.main_max > STACK_MAX)
		facts.main_max = STACK_MAX;
	if (facts.main_max > facts.main_end)
		facts.main_max = facts.main_end;
	main_tp = cpu_thread_pointer();
}

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(CPU_PAGE - 1);
}

static bool readable(uint64_t from, uint64_t to)
{
	return sys_madvise((void *)(uintptr_t)from, to - from, MADV_POPULATE_READ) == 0;
}

/*
 * Finds a pthread's stack in glibc's control block, which begins at the thread
 * pointer and lies at the upper end of that stack. The fields are private, but
 * their order has never changed: where the memory begins, its size, the size of
 * its guard. They are recognised by their values, because only this pair ends
 * right above the control block. Returns where the stack begins. If there is no
 * such pair, or more than one, returns tp, and no stack is the thread's own.
 */
static uint64_t pthread_stack(uint64_t tp)
{
	const uint64_t *word = (const uint64_t *)(uintptr_t)tp;
	const uint32_t count = facts.pthread_bytes / 8;
	uint64_t lo = tp;
	uint32_t i;

	if (word[2] != tp)
		return tp; /* not a control block of glibc */
	for (i = 0; i + 2 < count; i++) {
		uint64_t start = word[i], size = word[i + 1];
		uint64_t guard = word[i + 2], above;

		if (start >= tp || size > tp || guard >= size || guard % CPU_PAGE)
			continue;
		above = start + size - tp; /* huge, if it ends below tp */
		if (above < facts.pthread_bytes || above > TCB_SLACK || start + guard >= tp)
			continue;
		if (lo != tp)
			return tp;
		lo = start + guard;
	}
	return lo;
}

/* Fills in the bounds of the thread's own stack, which may be none. */
static void find_own_stack(struct thread *t)
{
	uint64_t tp = cpu_thread_pointer();
	uint64_t hi = tp;

	if (tp != main_tp) {
		t->stack.floor = t->stack.lo = pthread_stack(tp);
	} else if (facts.main_end) {
		/* stack.lo falls as hooks are called deeper on it */
		hi = facts.main_end;
		t->stack.floor = hi - facts.main_max;
		t->stack.lo = hi;
	} else {
		t->stack.floor = t->stack.lo = tp;
	}
	/* last, because a signal handler may come in between */
	__atomic_signal_fence(__ATOMIC_RELEASE);
	t->stack.hi = hi;
}

void walk_forget(struct thread *t)
{
	t->stack.lo = t->stack.hi = 0;
}

/* Is the address on the thread's own stack, readable or not? */
static bool is_own(const struct thread *t, uint64_t address)
{
	return t && address >= t->stack.floor && address < t->stack.hi;
}

SEEP_NOINLINE void walk_enter(struct walk *w, struct thread *t)
{
	uint64_t page = page_of(w->sp - CPU_RETURN_BYTES); /* where the hook's frame is */

	if (t && !t->stack.hi)
		find_own_stack(t);
	w->own = w->sure = is_own(t, w->sp - CPU_RETURN_BYTES);
	if (w->own) {
		if (page < t->stack.lo)
			t->stack.lo = page;
		w->lo = t->stack.lo;
		w->hi = t->stack.hi;
	} else {
		w->lo = page;
		w->hi = page + CPU_PAGE;
	}
}

/* After a signal frame sp was loaded from the stack, and may be anything. */
static void enter_interrupted(struct walk *w, const struct thread *t)
{
	w->home = 0;
	w->own = is_own(t, w->sp);
	w->sure = w->own && w->sp >= t->stack.lo;
	if (w->sure) {
		w->lo = t->stack.lo;
		w->hi = t->stack.hi;
	} else if (w->sp - w->lo >= w->hi - w->lo) {
		w->lo = w->hi = page_of(w->sp); /* nothing is proven there */
	}
}

/* Asks for the page of one word and adds it to [lo, hi). */
static bool prove_page(struct walk *w, uint64_t address)
{
	uint64_t page = page_of(address);

	if (!facts.can_probe || !readable(page, page + CPU_PAGE))
		return false;
	if (page == w->hi && !w->sure) {
		w->hi = page + CPU_PAGE;
		return true;
	}
	/* a frame of more than a page, or words below the hook's page */
	if (page + CPU_PAGE != w->lo || w->sure)
		w->hi = page + CPU_PAGE;
	w->lo = page;
	w->sure = false;
	w->top = WALK_NOWHERE;
	return true;
}

SEEP_NOINLINE bool walk_prove_slow(struct walk *w, uint64_t top)
{
	uint64_t end;

	if (top - w->lo <= w->hi - w->lo)
		return true;
	end = page_of(top - 1) + CPU_PAGE;
	if (w->sure || !facts.can_probe || top <= w->lo || end - w->hi > PROVE_MAX ||
	    !readable(w->hi, end))
		return false;
	w->hi = end;
	return true;
}

/* May a word outside of [lo, hi) be read after all? */
static SEEP_NOINLINE bool reaches(struct walk *w, const struct thread *t, uint64_t address)
{
	if (!w->own)
		return prove_page(w, address);
	if (address >= t->stack.hi)
		return false;
	if (address < t->stack.lo)
		return prove_page(w, address);
	w->lo = t->stack.lo;
	w->hi = t->stack.hi;
	w->sure = true;
	return true;
}

/* The word at an address of this stack, whether above sp or below. */
static bool load_known(struct walk *w, const struct thread *t, uint64_t address, uint64_t *ret)
{
	if (address & 7)
		return false;
	if (unlikely(address - w->lo >= w->hi - w->lo) && !reaches(w, t, address))
		return false;
	if (unlikely(!w->sure) && address + 8 > w->top)
		w->top = address + 8;
	*ret = *(const uint64_t *)(uintptr_t)address;
	return true;
}

static bool load(struct walk *w, const struct thread *t, uint64_t address, uint64_t *ret)
{
	/*
	 * Code that was interrupted in its epilogue has popped registers that
	 * its unwind rules still name. They are in the red zone, which signal
	 * frames do not overwrite.
	 */
	if (likely(address >= w->sp))
		return load_known(w, t, address, ret);
	if (!w->exact || w->sp - address > RED_ZONE || !load_known(w, t, address, ret))
		return false;
	if (!w->sure)
		w->top = WALK_NOWHERE;
	return true;
}

/* The kernel's rt_sigframe has the registers of the interrupted code. */
static enum walk_result step_signal(
    struct walk *w, const struct thread *t, struct walk_slots *slots, uint32_t *ret_why)
{
	const uint64_t at = w->sp;
	uint64_t fp, sp, pc;

	if (!load(w, t, at + CPU_SIGNAL_FP, &fp) || !load(w, t, at + CPU_SIGNAL_SP, &sp) ||
	    !load(w, t, at + CPU_SIGNAL_PC, &pc)) {
		*ret_why = SEG_CUT_BOUNDS;
		return WALK_CUT;
	}
	slots->fp = at + CPU_SIGNAL_FP;
	slots->aux = at + CPU_SIGNAL_SP;
	slots->aux_value = sp;
	slots->ra = at + CPU_SIGNAL_PC;
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->base_slot = at + CPU_SIGNAL_BASE;
	w->exact = true;
	enter_interrupted(w, t);
	return WALK_STEPPED;
}

/*
 * Can a frame of this stack that begins at sp have this CFA? If not, the code
 * has switched stacks (-fsplit-stack does so), or the register that should hold
 * the CFA holds something else.
 */
SEEP_INLINE bool is_above(const struct walk *w, const struct thread *t, uint64_t sp, uint64_t cfa)
{
	if (cfa <= sp)
		return false;
	if (w->own)
		return cfa <= t->stack.hi;
	return cfa - sp <= FRAME_MAX && !is_own(t, cfa - CPU_RETURN_BYTES);
}

/* The same for a frame that is left by a guess. */
static bool is_near_above(const struct walk *w, const struct thread *t, uint64_t sp, uint64_t cfa)
{
	return is_above(w, t, sp, cfa) && (w->own || cfa - sp <= GUESS_MAX);
}

/* Follows frame pointers from the frame with this sp and fp. */
static bool arrives(struct walk *w, const struct thread *t, uint64_t sp, uint64_t fp)
{
	uint64_t pc, cfa;
	uint32_t i;

	for (i = 0; i < HOPS; i++) {
		cfa = fp + CPU_FP_CFA;
		if (!is_near_above(w, t, sp, cfa) || !load(w, t, cfa - CPU_RETURN_BYTES, &pc) ||
		    !load(w, t, cfa - CPU_FP_CFA, &fp))
			return false;
		w->home = sp = cfa;
		if (!guess_is_loose(pc))
			return guess_is_return(&w->guess, pc);
	}
	return true; /* so many frames in a row are no accident */
}

/*
 * A frame pointer has led to a return address in no module. Before a byte of that
 * code is read, the frame pointers from there on have to lead to a return
 * address in a module. A stale word seldom passes, and code that it points to
 * may be unmapped by another thread at the moment of the load. The code of a
 * frame through which a thread will return is not unmapped.
 *
 * In a chain that has arrived once, all frames up to there pass. The bounds
 * stay as they were: these words are not loaded by this step. If they change, so
 * that the chain no longer arrives, a memo still has the frames that were proven
 * before; it reads no code. Only where the stack is cut depends on that.
 */
static bool leads_home(struct walk *w, const struct thread *t, uint64_t sp, uint64_t fp)
{
	const uint64_t lo = w->lo, hi = w->hi, top = w->top;
	const bool sure = w->sure;
	bool yes;

	if (sp < w->home)
		return true;
	yes = arrives(w, t, sp, fp);
	if (!yes)
		w->home = 0;
	w->lo = lo;
	w->hi = hi;
	w->top = top;
	w->sure = sure;
	return yes;
}

/*
 * Leaves a frame without unwind information, by the rule of guess.h. If that is
 * not possible, the stack is cut; the words that the attempt depends on are
 * among the slots, so that other words make another attempt.
 */
static SEEP_NOINLINE enum walk_result step_guess(struct walk *w, const struct thread *t,
    struct unwind_rule rule, struct walk_slots *slots, uint32_t *ret_why)
{
	struct walk_slots s = {0};
	uint64_t cfa, pc, fp = w->fp;
	bool seen;

	*ret_why = SEG_CUT_NO_INFO;
	if (w->exact)
		return WALK_CUT;
	rule = guess_rule(&w->guess, rule, w->pc, &seen);
	if (rule.kind == RULE_STOP)
		return WALK_CUT;
	cfa = (rule.kind == RULE_SP ? w->sp : fp) + (uint64_t)(int64_t)rule.cfa;
	if (rule.kind == RULE_FP)
		w->step_guess |= WALK_GUESS_FP;
	if (!is_near_above(w, t, w->sp, cfa))
		return WALK_CUT;
	s.ra = cfa - CPU_RETURN_BYTES;
	if (!load(w, t, s.ra, &pc))
		return WALK_CUT;
	if (rule.fp == RULE_FP_AT_CFA) {
		s.fp = cfa + (uint64_t)(int64_t)rule.fp_offset;
		if (!load(w, t, s.fp, &fp))
			return WALK_CUT;
	}
	if ((!seen && guess_is_loose(pc) && !leads_home(w, t, cfa, fp)) ||
	    !guess_is_return(&w->guess, pc)) {
		slots->aux = s.ra;
		slots->aux_value = pc;
		return WALK_CUT;
	}
	w->step_guess |= WALK_GUESS_STEPPED;
	*slots = s;
	w->pc = pc;
	w->sp = cfa;
	w->fp = fp;
	w->base_slot = 0;
	w->guessed = true;
	return WALK_STEPPED;
}

enum walk_result walk_step(struct walk *w, const struct thread *t, struct unwind_rule rule,
    struct walk_slots *slots, uint32_t *ret_why)
{
	uint64_t cfa, pc, fp = w->fp;
	struct walk_slots s = {0};

	*slots = s;
	*ret_why = SEG_CUT_BOUNDS;
	switch (rule.kind) {
	case RULE_SP:
		cfa = w->sp + (uint64_t)(int64_t)rule.cfa;
		break;
	case RULE_FP:
		cfa = fp + (uint64_t)(int64_t)rule.cfa;
		break;
	case RULE_FP_DEREF:
		s.aux = fp + (uint64_t)(int64_t)rule.cfa;
		if (!load(w, t, s.aux, &s.aux_value))
			return WALK_CUT;
		cfa = s.aux_value;
		break;
	case RULE_BASE:
		s.aux = w->base_slot;
		if (!s.aux || !load_known(w, t, s.aux, &s.aux_value)) {
			*ret_why = SEG_CUT_RULE;
			return WALK_CUT;
		}
		cfa = s.aux_value + (uint64_t)(int64_t)rule.cfa;
		break;
	case RULE_SIGNAL:
		return step_signal(w, t, slots, ret_why);
	case RULE_END:
		w->vouched = rule.cfa == RULE_END_CONTEXT;
		return WALK_END;
	case RULE_STOP:
	case RULE_GUESS:
		return step_guess(w, t, rule, slots, ret_why);
	default:
		*ret_why = SEG_CUT_RULE;
		return WALK_CUT;
	}
	/* the word of which the CFA was made decides whether it is cut */
	slots->aux = s.aux;
	slots->aux_value = s.aux_value;
	if (!is_above(w, t, w->sp, cfa)) {
		if (rule.kind != RULE_SP)
			*ret_why = SEG_CUT_SWITCHED;
		return WALK_CUT;
	}
	if (rule.fp != RULE_FP_SAME) {
		s.fp = (rule.fp == RULE_FP_AT_CFA ? cfa : fp) + (uint64_t)(int64_t)rule.fp_offset;
		if (!load(w, t, s.fp, &fp))
			return WALK_CUT;
	}
	s.ra = cfa - CPU_RETURN_BYTES;
	if (!load(w, t, s.ra, &pc))
		return WALK_CUT;
	*slots = s;
	if (!pc)
		return WALK_END;
	w->pc = pc;
	w->sp = cfa;
	w->fp = fp;
	w->exact = false;
	if (rule.base)
		w->base_slot = rule.base == RULE_BASE_LOST ? 0 : cfa - UINT64_C(8) * rule.base;
	return WALK_STEPPED;
}
