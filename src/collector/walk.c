/* walk.c - one step up a stack, with every load inside that stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/walk.h"

#include "base/attr.h"
#include "base/sys.h"
#include "trace/format.h"

enum {
	STACK_MAX = 1 << 30, /* an own stack is not larger than this */
	FRAME_MAX = 64 << 20,
	RED_ZONE = 128,
};

static uint64_t main_end;
static uint64_t main_tp;
static bool can_probe;

void
walk_init(uint64_t main_stack_end, bool probe)
{
	main_end = main_stack_end & ~UINT64_C(7);
	main_tp = cpu_thread_pointer();
	can_probe = probe;
}

static bool
readable(uint64_t from, uint64_t to)
{
	uint64_t page = from & ~(uint64_t)(CPU_PAGE - 1);

	return sys_madvise(
	           (void *)(uintptr_t)page, to - page, MADV_POPULATE_READ) == 0;
}

/*
 * Is sp on the thread's own stack? Known parts are remembered; a new part is
 * probed as a whole, from sp up to what is known: above a living sp a stack
 * has no holes, so a hole says that this is another stack.
 */
static bool
own_stack(struct thread *t, uint64_t sp)
{
	uint64_t tp = cpu_thread_pointer();
	uint64_t top = tp == main_tp ? main_end : tp;

	if (!t || sp >= top || top - sp > STACK_MAX)
		return false;
	if (t->stack_hi != top)
		t->stack_lo = t->stack_hi = top;
	if (sp >= t->stack_lo)
		return true;
	if (can_probe ? !readable(sp, t->stack_lo) : top - sp > (8 << 20))
		return false;
	t->stack_lo = sp & ~(uint64_t)(CPU_PAGE - 1);
	return true;
}

static void
enter_stack(struct walk *w, struct thread *t)
{
	w->foreign = !own_stack(t, w->sp);
	if (w->foreign)
		w->hi = (w->sp | (CPU_PAGE - 1)) + 1;
	else
		w->hi = t->stack_hi;
}

void
walk_resume(
    struct walk *w, struct thread *t, uint64_t pc, uint64_t sp, uint64_t fp)
{
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->exact = false;
	enter_stack(w, t);
}

void
walk_begin(struct walk *w, struct thread *t, const struct cpu_frame *c)
{
	walk_resume(w, t, c->pc, c->sp, c->fp);
}

/*
 * Code that was interrupted in its epilogue has popped registers which its
 * unwind rules still name: they are in the red zone, which signals spare.
 */
static bool
in_red_zone(const struct walk *w, uint64_t address)
{
	if (!w->exact || w->sp - address > RED_ZONE)
		return false;
	return (w->sp ^ address) < CPU_PAGE ||
	    (can_probe && readable(address, address + 8));
}

/* May [address, address + 8) be read? */
static bool
reaches(struct walk *w, uint64_t address)
{
	if (address & 7)
		return false;
	if (unlikely(address < w->sp))
		return in_red_zone(w, address);
	if (likely(address + 8 <= w->hi))
		return true;
	if (!w->foreign || !can_probe || address - w->sp > FRAME_MAX)
		return false;
	while (address + 8 > w->hi) {
		if (!readable(w->hi, w->hi + CPU_PAGE))
			return false;
		w->hi += CPU_PAGE;
	}
	return true;
}

static bool
load(struct walk *w, uint64_t address, uint64_t *ret)
{
	if (!reaches(w, address))
		return false;
	*ret = *(const uint64_t *)(uintptr_t)address;
	return true;
}

/* The kernel's rt_sigframe: rbp, rsp and rip of the interrupted code. */
static enum walk_result
step_signal(struct walk *w, struct thread *t, struct walk_slots *slots,
    uint32_t *ret_why)
{
	uint64_t fp, sp, pc;

	slots->fp = w->sp + 120;
	slots->aux = w->sp + 160;
	slots->ra = w->sp + 168;
	if (!load(w, slots->fp, &fp) || !load(w, slots->aux, &sp) ||
	    !load(w, slots->ra, &pc)) {
		*ret_why = SEG_CUT_BOUNDS;
		return WALK_CUT;
	}
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->exact = true;
	enter_stack(w, t);
	return WALK_STEPPED;
}

enum walk_result
walk_step(struct walk *w, struct thread *t, struct row row,
    struct walk_slots *slots, uint32_t *ret_why)
{
	uint64_t cfa, pc, fp = w->fp;

	slots->ra = slots->fp = slots->aux = 0;
	switch (row.kind) {
	case ROW_SP:
		cfa = w->sp + (uint64_t)(int64_t)row.cfa;
		break;
	case ROW_FP:
		cfa = fp + (uint64_t)(int64_t)row.cfa;
		break;
	case ROW_FP_DEREF:
		slots->aux = fp + (uint64_t)(int64_t)row.cfa;
		if (!load(w, slots->aux, &cfa)) {
			slots->aux = 0;
			goto out_of_bounds;
		}
		break;
	case ROW_SIGNAL:
		return step_signal(w, t, slots, ret_why);
	case ROW_END:
		return WALK_END;
	case ROW_STOP:
		*ret_why = SEG_CUT_NO_INFO;
		return WALK_CUT;
	default:
		*ret_why = SEG_CUT_RULE;
		return WALK_CUT;
	}
	if (cfa <= w->sp || cfa - w->sp > FRAME_MAX)
		goto out_of_bounds;
	slots->ra = cfa - 8;
	if (!load(w, slots->ra, &pc))
		goto out_of_bounds;
	if (row.fp != ROW_FP_SAME) {
		slots->fp = (row.fp == ROW_FP_AT_CFA ? cfa : fp) +
		    (uint64_t)(int64_t)row.fp_offset;
		if (!load(w, slots->fp, &fp))
			goto out_of_bounds;
	}
	if (!pc)
		return WALK_END;
	w->pc = pc;
	w->sp = cfa;
	w->fp = fp;
	w->exact = false;
	return WALK_STEPPED;
out_of_bounds:
	slots->ra = slots->fp = 0;
	*ret_why = SEG_CUT_BOUNDS;
	return WALK_CUT;
}
