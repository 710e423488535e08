/* hook.c - the hooks of the malloc family: call the real function, record. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/event/bootstrap.h"
#include "collector/segment/config.h"
#include "collector/event/flying.h"
#include "collector/event/hook.h"
#include "collector/event/logged.h"
#include "collector/heap/moving.h"
#include "collector/event/next.h"
#include "collector/segment/ours.h"
#include "collector/event/recorder.h"
#include "collector/event/recorder_hit.h"
#include "collector/event/recorder_pass.h"
#include "collector/process/spaces.h"
#include "collector/event/within.h"

/*
 * A hook calls the next definition of its function (next.h) and then records the
 * result; free records first. A thread is never busy during a call of the real
 * allocator. Only the real functions change errno.
 */

/* Records an allocation, after the real function has returned p. */
SEEP_INLINE void allocated(
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self;

	if (unlikely(!p))
		return;
	if (likely(recorder_is_ready(g))) {
		thread_enter(g);
		if (unlikely(!recorder_alloc_hit(t, p, size, c, api, RECORDER_NOW)))
			recorder_alloc_ready(t, p, size, c, api, RECORDER_NOW);
		else
			recorder_leave(g, t);
	} else if (g && recorder_looks_away(g, size)) {
		return;
	} else if (g && g->state == THREAD_SAMPLING) {
		recorder_sample(g, p, size, c, api, RECORDER_NOW);
	} else if (logged_is_ready(g)) {
		logged_alloc(g, p, size, c, api);
	} else {
		recorder_alloc_any(p, size, c, api, RECORDER_NOW);
	}
}

/* Records a free, before the real function is called. */
SEEP_INLINE void freeing(const void *p, uint64_t pc)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self;
	struct live_found f;
	struct seg_row *row;

	if (unlikely(!recorder_is_ready(g))) {
		recorder_free_any(p, pc);
		return;
	}
	thread_enter(g);
	/* look at the clock first: this may be the first event after a pause */
	if (likely(--t->pace.countdown)) {
		row = recorder_find(t, p, &f);
		if (likely(row) && (likely(!recorder_has_aged(&f)) || recorder_age(t, &f))) {
			recorder_drop(t, &f, row);
			thread_leave(g);
			return;
		}
	}
	recorder_free_ready(p, pc);
}

/*
 * Finds the real functions. A thread that is READY, DORMANT, OFF or SAMPLING
 * need not call it, because they were found before it got into that state.
 */
SEEP_INLINE void need_next(void)
{
	if (unlikely(!next.complete))
		next_ready();
}

static SEEP_NOINLINE void *malloc_in_state(struct gate *g, size_t size, const struct cpu_frame *c)
{
	uint32_t state = g ? LOAD(&g->state) : 0;
	void *p;

	need_next();
	p = next.malloc(size);
	if (!p)
		return p;
	if (state == THREAD_SAMPLING && LOAD(&g->state) == state)
		recorder_sample(g, p, size, c, SEG_API_MALLOC, RECORDER_NOW);
	else
		recorder_alloc_any(p, size, c, SEG_API_MALLOC, RECORDER_NOW);
	return p;
}

/* A signal handler or a fork has changed the state during the real malloc. */
static SEEP_NOINLINE void *malloc_interrupted(
    void *p, size_t size, uint64_t pc, uint64_t sp, uint64_t fp)
{
	const struct cpu_frame c = {pc, sp, fp};

	recorder_alloc_any(p, size, &c, SEG_API_MALLOC, RECORDER_NOW);
	return p;
}

/*
 * The return address of the function that contains it. In a hook, and in a
 * function that a hook jumps to, it is in the host. Functions such as operator
 * delete and g_free jump to free, so it is the address of their caller.
 */
#define RETURNS_TO ((uint64_t)(uintptr_t)__builtin_return_address(0))

/*
 * A free that the inline part cannot record. Bootstrap blocks have no cell in
 * the live map, so their frees come here, too.
 */
static SEEP_NOINLINE void free_miss(void *p)
{
	if (next.has_bootstrap && bootstrap_owns(p)) {
		thread_self->pace.countdown++; /* this is not an event */
		thread_leave(thread_gate);
		return;
	}
	recorder_free_ready(p, RETURNS_TO);
	next.free(p);
}

/*
 * Frees a block that was not born in this tick. A function of its own, so that
 * free_ready() need not save registers for it.
 */
static SEEP_NOINLINE void free_aged(
    void *p, struct gate *g, struct thread *t, uint64_t *cell, struct seg_row *row)
{
	struct live_found f = live_found_at(cell);

	if (unlikely(!recorder_age(t, &f))) {
		free_miss(p);
		return;
	}
	recorder_drop(t, &f, row);
	thread_leave(g);
	next.free(p);
}

/*
 * malloc and free only test the state of the thread and jump on. So a thread
 * that records nothing (dormant, off, between two samples) executes a few loads
 * and no prologue. malloc_ready() and free_ready() are entered by a jump, too.
 * So the return address above their frame is the host's, and CPU_CALLER relies
 * on that. With a call instead, each stack would differ from libgcc's in the
 * verifying build (verify.h).
 */
/*
 * What malloc_ready() hands on: the caller's registers, without the return
 * address, which is right below its sp. Whether it calls or jumps does not
 * matter.
 */
SEEP_INLINE struct cpu_frame caller_of(uint64_t sp, uint64_t fp)
{
	return (struct cpu_frame){((const uint64_t *)(uintptr_t)sp)[-1], sp, fp};
}

/* Word i of the chunk at the first place differs. */
static SEEP_NOINLINE void *malloc_second(
    void *p, size_t size, struct memo_chunk *first, uint32_t i, uint64_t sp, uint64_t fp)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_block(g);
	const struct cpu_frame c = caller_of(sp, fp);

	if (unlikely(!recorder_alloc_second(t, p, size, &c, SEG_API_MALLOC, first, i)))
		return recorder_alloc_last(p, size, c.pc, sp, fp, SEG_API_MALLOC);
	if (recorder_is_due(t))
		return recorder_after(p);
	thread_leave(g);
	return p;
}

/* The inner words hold, but the outer ones do not. */
static SEEP_NOINLINE void *malloc_joins(
    void *p, size_t size, struct memo_chunk *e, uint32_t checks, uint64_t sp, uint64_t fp)
{
	const struct cpu_frame c = caller_of(sp, fp);

	recorder_alloc_at(thread_self, p, size, &c, SEG_API_MALLOC, e, checks);
	return p;
}

static SEEP_NOINLINE void *malloc_ready(size_t size, struct gate *g)
{
	void *p = next.malloc(size);
	struct thread *t = thread_block(g);
	struct memo_chunk *e;
	uint64_t checks;
	uint32_t i, site = 0;
	CPU_CALLER(c); /* after the call, so it needs no saved register */

	if (unlikely(!p))
		return p;
	if (unlikely(g->state != THREAD_READY)) {
		CPU_CALLER_AGAIN(d);
		return malloc_interrupted(p, size, d.pc, d.sp, d.fp);
	}
	thread_enter(g);
	e = memo_look(t, &c, memo_key(&c, SEG_API_MALLOC), &i, &checks);
	if (unlikely(i < MEMO_WORDS))
		return malloc_second(p, size, e, i, c.sp, c.fp);
	if (likely(i == MEMO_WORDS)) {
		if (unlikely(!memo_is_stamped(t, e, checks, &site)))
			return malloc_joins(p, size, e, 0, c.sp, c.fp);
		i = memo_fails(t, checks);
		if (unlikely(i))
			return malloc_joins(p, size, e, i, c.sp, c.fp);
	}
	if (unlikely(i || !recorder_book_hit(t, p, size, &c, site, RECORDER_NOW))) {
		CPU_CALLER_AGAIN(d);
		return recorder_alloc_last(p, size, d.pc, d.sp, d.fp, SEG_API_MALLOC);
	}
	if (recorder_is_due(t))
		return recorder_after(p);
	thread_leave(g);
	return p;
}

static SEEP_NOINLINE void *malloc_slow(size_t size)
{
	CPU_CALLER(c);

	return malloc_in_state(thread_gate, size, &c);
}

/*
 * The same as malloc_ready() for a thread with an event log, and for one whose
 * events are lost: a function each.
 */
SEEP_INLINE void *second_logged(void *p, size_t size, struct memo_chunk *first, uint32_t i,
    uint64_t sp, uint64_t fp, const bool loses)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_block(g);
	const struct cpu_frame c = caller_of(sp, fp);

	if (unlikely(!logged_alloc_second(t, p, size, &c, SEG_API_MALLOC, first, i, loses)))
		return logged_alloc_last(p, size, c.pc, sp, fp, SEG_API_MALLOC);
	if (recorder_is_due(t))
		return logged_after(p);
	thread_leave(g);
	return p;
}

static SEEP_NOINLINE void *malloc_logging_second(
    void *p, size_t size, struct memo_chunk *first, uint32_t i, uint64_t sp, uint64_t fp)
{
	return second_logged(p, size, first, i, sp, fp, false);
}

static SEEP_NOINLINE void *malloc_losing_second(
    void *p, size_t size, struct memo_chunk *first, uint32_t i, uint64_t sp, uint64_t fp)
{
	return second_logged(p, size, first, i, sp, fp, true);
}

static SEEP_NOINLINE void *malloc_logged_joins(
    void *p, size_t size, struct memo_chunk *e, uint32_t checks, uint64_t sp, uint64_t fp)
{
	const struct cpu_frame c = caller_of(sp, fp);

	logged_alloc_at(thread_self, p, size, &c, SEG_API_MALLOC, e, checks);
	return p;
}

SEEP_INLINE void *malloc_logged(size_t size, struct gate *g, const bool loses)
{
	void *p = next.malloc(size);
	struct thread *t = thread_block(g);
	struct memo_chunk *e;
	uint64_t checks;
	uint32_t i, site = 0;
	CPU_CALLER(c);

	if (unlikely(!p))
		return p;
	if (unlikely(g->state != (loses ? THREAD_LOSING : THREAD_LOGGING))) {
		CPU_CALLER_AGAIN(d);
		return malloc_interrupted(p, size, d.pc, d.sp, d.fp);
	}
	thread_enter(g);
	e = memo_look(t, &c, memo_key(&c, SEG_API_MALLOC), &i, &checks);
	if (unlikely(i < MEMO_WORDS))
		return loses ? malloc_losing_second(p, size, e, i, c.sp, c.fp)
		             : malloc_logging_second(p, size, e, i, c.sp, c.fp);
	if (likely(i == MEMO_WORDS)) {
		if (unlikely(!memo_is_stamped(t, e, checks, &site)))
			return malloc_logged_joins(p, size, e, 0, c.sp, c.fp);
		i = memo_fails(t, checks);
		if (unlikely(i))
			return malloc_logged_joins(p, size, e, i, c.sp, c.fp);
	}
	if (unlikely(i || !logged_book(t, p, size, &c, site, loses))) {
		CPU_CALLER_AGAIN(d);
		return logged_alloc_last(p, size, d.pc, d.sp, d.fp, SEG_API_MALLOC);
	}
	if (recorder_is_due(t))
		return logged_after(p);
	thread_leave(g);
	return p;
}

static SEEP_NOINLINE void *malloc_logging(size_t size, struct gate *g)
{
	return malloc_logged(size, g, false);
}

static SEEP_NOINLINE void *malloc_losing(size_t size, struct gate *g)
{
	return malloc_logged(size, g, true);
}

/* The same for a thread with a flight recorder. */
static SEEP_NOINLINE void *malloc_flying(size_t size, struct gate *g)
{
	void *p = next.malloc(size);
	struct thread *t = thread_block(g);
	CPU_CALLER(c);

	if (unlikely(!p))
		return p;
	if (unlikely(g->state != THREAD_FLYING)) {
		CPU_CALLER_AGAIN(d);
		return malloc_interrupted(p, size, d.pc, d.sp, d.fp);
	}
	thread_enter(g);
	if (unlikely(!flying_alloc_hit(t, p, size, &c, SEG_API_MALLOC))) {
		CPU_CALLER_AGAIN(d);
		return flying_alloc_last(p, size, d.pc, d.sp, d.fp, SEG_API_MALLOC);
	}
	if (recorder_is_due(t))
		return flying_after(p);
	thread_leave(g);
	return p;
}

static SEEP_NOINLINE void *malloc_any(size_t size)
{
	/* a jump in both cases, as above */
	return lifecycle_is_out ? next.malloc(size) : malloc_slow(size);
}

SEEP_EXPORT void *malloc(size_t size)
{
	struct gate *g = thread_gate;
	int32_t above;

	if (likely(recorder_is_ready(g)))
		return malloc_ready(size, g);
	if (g) {
		/* one subtraction for all other states */
		above = (int32_t)(g->state - THREAD_LOGGING);
		if (likely(above >= 0)) {
			if (likely(above == 0))
				return malloc_logging(size, g);
			if (likely(above == THREAD_LOSING - THREAD_LOGGING))
				return malloc_losing(size, g);
			if (above == THREAD_FLYING - THREAD_LOGGING)
				return malloc_flying(size, g);
		}
	}
	if (g && recorder_looks_away(g, size))
		return next.malloc(size);
	return malloc_any(size);
}

static SEEP_NOINLINE void free_ready(void *p, struct gate *g, struct thread *t)
{
	struct live_found f;
	struct seg_row *row;

	thread_enter(g);
	/* look at the clock first: this may be the first event after a pause */
	if (unlikely(--t->pace.countdown == 0)) {
		free_miss(p);
		return;
	}
	row = recorder_find(t, p, &f);
	if (unlikely(!row)) {
		free_miss(p);
		return;
	}
	if (recorder_has_aged(&f)) {
		free_aged(p, g, t, f.cell, row);
		return;
	}
	recorder_drop(t, &f, row);
	thread_leave(g);
	next.free(p);
}

/* With SEEP_LOG=last,frees: the stack of the free is recorded, too. */
static SEEP_NOINLINE void free_with_stack(void *p)
{
	CPU_CALLER(c);

	need_next();
	recorder_free_at(p, &c);
	next.free(p);
}

static SEEP_NOINLINE void free_any(void *p)
{
	struct gate *g = thread_gate;

	if (next.has_bootstrap && bootstrap_owns(p))
		return;
	if (unlikely(flight_has_frees)) {
		free_with_stack(p);
		return;
	}
	if (lifecycle_is_out) {
		next.free(p);
		return;
	}
	need_next();
	if (g && g->state == THREAD_SAMPLING)
		recorder_sampled_free(g, p, RETURNS_TO);
	else
		recorder_free_any(p, RETURNS_TO);
	next.free(p);
}

/*
 * The same as free_miss(), free_aged() and free_ready() for a thread with an
 * event log.
 */
static SEEP_NOINLINE void free_logging_miss(void *p)
{
	struct thread *t = thread_self;

	if (next.has_bootstrap && bootstrap_owns(p)) {
		t->pace.countdown++; /* this is not an event */
		thread_leave(thread_gate);
		return;
	}
	recorder_free_known(t, p, RETURNS_TO, false);
	next.free(p);
}

static SEEP_NOINLINE void free_logging_aged(
    void *p, struct gate *g, struct thread *t, uint64_t *cell, struct seg_row *row)
{
	struct live_found f = live_found_at(cell);

	if (unlikely(!log_has_room(t)) || unlikely(!logged_age(t, &f))) {
		free_logging_miss(p);
		return;
	}
	logged_drop(t, &f, row);
	thread_leave(g);
	next.free(p);
}

static SEEP_NOINLINE void free_logging_look(void *p)
{
	if (next.has_bootstrap && bootstrap_owns(p)) {
		thread_self->pace.countdown++; /* this is not an event */
		thread_leave(thread_gate);
		return;
	}
	logged_free_look(p, RETURNS_TO);
	next.free(p);
}

static SEEP_NOINLINE void free_logging(void *p, struct gate *g, struct thread *t)
{
	struct live_found f;
	struct seg_row *row;

	thread_enter(g);
	if (unlikely(--t->pace.countdown == 0)) {
		free_logging_look(p);
		return;
	}
	row = logged_find(t, p, &f);
	if (unlikely(!row)) {
		free_logging_miss(p);
		return;
	}
	if (logged_may_have_aged(t, &f)) {
		free_logging_aged(p, g, t, f.cell, row);
		return;
	}
	if (unlikely(!log_has_room(t))) {
		free_logging_miss(p);
		return;
	}
	logged_drop(t, &f, row);
	thread_leave(g);
	next.free(p);
}

/* The same while its events are lost. */
static SEEP_NOINLINE void free_losing_aged(
    void *p, struct gate *g, struct thread *t, uint64_t *cell, struct seg_row *row)
{
	struct live_found f = live_found_at(cell);

	if (unlikely(!logged_age(t, &f))) {
		free_logging_miss(p);
		return;
	}
	logged_drop_lost(t, &f, row);
	thread_leave(g);
	next.free(p);
}

static SEEP_NOINLINE void free_losing(void *p, struct gate *g, struct thread *t)
{
	struct live_found f;
	struct seg_row *row;

	thread_enter(g);
	if (unlikely(--t->pace.countdown == 0)) {
		free_logging_look(p);
		return;
	}
	row = recorder_find(t, p, &f);
	if (unlikely(!row)) {
		free_logging_miss(p);
		return;
	}
	if (logged_may_have_aged_lost(t, &f)) {
		free_losing_aged(p, g, t, f.cell, row);
		return;
	}
	logged_drop_lost(t, &f, row);
	thread_leave(g);
	next.free(p);
}

/* The same for a thread with a flight recorder. */
static SEEP_NOINLINE void free_flying_aged(
    void *p, struct gate *g, struct thread *t, uint64_t *cell, struct seg_row *row)
{
	struct live_found f = live_found_at(cell);

	if (unlikely(!recorder_age(t, &f))) {
		thread_leave(g);
		free_any(p);
		return;
	}
	flying_drop(t, p, &f, row, tick_now() - f.block.birth);
	thread_leave(g);
	next.free(p);
}

static SEEP_NOINLINE void free_flying(void *p, struct gate *g, struct thread *t)
{
	struct live_found f;
	struct seg_row *row;

	if (unlikely(flight_has_frees)) {
		free_any(p);
		return;
	}
	thread_enter(g);
	row = flying_find(t, p, &f);
	if (unlikely(!row)) {
		thread_leave(g);
		free_any(p);
		return;
	}
	if (recorder_has_aged(&f)) {
		free_flying_aged(p, g, t, f.cell, row);
		return;
	}
	flying_drop(t, p, &f, row, 0);
	thread_leave(g);
	next.free(p);
}

SEEP_INLINE bool free_looks_away(const struct gate *g, const void *p)
{
	const uint32_t state = LOAD(&g->state);

	if (unlikely(next.has_bootstrap))
		return false;
	return state == THREAD_DORMANT || (state == THREAD_SAMPLING && !sample_maybe(p));
}

SEEP_EXPORT void free(void *p)
{
	struct gate *g = thread_gate;
	struct thread *t;

	if (unlikely(!p))
		return;
	if (likely(g)) {
		t = thread_block(g);
		if (likely(g->state == THREAD_READY)) {
			free_ready(p, g, t);
			return;
		}
		/* likely(), so that it is in line: one taken jump less */
		if (likely(g->state == THREAD_LOGGING)) {
			free_logging(p, g, t);
			return;
		}
		if (g->state > THREAD_LOGGING) {
			if (likely(g->state == THREAD_LOSING)) {
				free_losing(p, g, t);
				return;
			}
			if (g->state == THREAD_FLYING) {
				free_flying(p, g, t);
				return;
			}
		}
	}
	if (g && free_looks_away(g, p)) {
		next.free(p);
		return;
	}
	free_any(p);
}

static SEEP_NOINLINE void *calloc_any(size_t n, size_t size)
{
	CPU_CALLER(c);
	void *p;

	need_next();
	p = next.calloc(n, size);
	allocated(p, n * size, &c, SEG_API_CALLOC);
	return p;
}

SEEP_EXPORT void *calloc(size_t n, size_t size)
{
	struct gate *g = thread_gate;

	if (g && recorder_looks_away(g, n * size))
		return next.calloc(n, size);
	return calloc_any(n, size);
}

/*
 * Gives a block another size with `resize`, which returns its new address or
 * NULL. The cell is taken out of the live map before, because another thread
 * may get the old address at once; so that a reader does not miss the block
 * meanwhile, it is in a note.
 */
SEEP_INLINE void *resize_block(void *old, size_t size, const struct cpu_frame *c, enum seg_api api,
    hook_resize *resize, size_t extra)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self;
	struct moving_note *note = likely(t) ? t->resizing : moving_note_lend();
	struct live_block b = {0};
	void *p;

	moving_begin(note, old);
	if (recorder_is_ready(g) || logged_is_ready(g) || flying_is_ready(g)) {
		thread_enter(g);
		b = live_take(&t->leaves, (uint64_t)(uintptr_t)old);
		thread_leave(g);
	} else if (!sample_filter || sample_maybe(old)) {
		b = live_take_slow((uint64_t)(uintptr_t)old);
	}
	moving_taken(note, b.size);
	p = resize(old, size, extra);
	moving_moved(note, p, size);
	if (p && b.site && logged_is_ready(g))
		logged_realloc(g, old, b, p, size, c, api);
	else if (unlikely(!p || !b.site || !recorder_is_ready(g)) ||
	    !recorder_realloc_hit(g, thread_block(g), b, p, size, c, api))
		recorder_realloc_any(old, b, p, size, c, api);
	moving_end(note);
	return p;
}

SEEP_INLINE void *real_realloc(void *old, size_t size, size_t unused)
{
	(void)unused;
	return next.realloc(old, size);
}

static void *reallocate(void *old, size_t size, const struct cpu_frame *c, enum seg_api api)
{
	void *p;

	if (!old) {
		p = next.realloc(old, size);
		allocated(p, size, c, api);
		return p;
	}
	if (unlikely(next.has_bootstrap) && bootstrap_owns(old)) {
		p = bootstrap_move(old, size);
		allocated(p, size, c, api);
		return p;
	}
	if (unlikely(old == cpu_dtv_block()))
		thread_forget_dtv();
	return resize_block(old, size, c, api, real_realloc, 0);
}

static SEEP_NOINLINE void *realloc_any(void *old, size_t size)
{
	CPU_CALLER(c);

	need_next();
	return reallocate(old, size, &c, SEG_API_REALLOC);
}

SEEP_EXPORT void *realloc(void *old, size_t size)
{
	struct gate *g = thread_gate;

	if (g && old && !next.has_bootstrap && recorder_looks_away_again(g, old, size))
		return next.realloc(old, size);
	return realloc_any(old, size);
}

SEEP_EXPORT void *reallocarray(void *old, size_t n, size_t size)
{
	CPU_CALLER(c);
	size_t bytes;

	need_next();
	/* the real function fails and sets errno */
	if (__builtin_mul_overflow(n, size, &bytes))
		return next.reallocarray(old, n, size);
	return reallocate(old, bytes, &c, SEG_API_REALLOCARRAY);
}

SEEP_EXPORT void *memalign(size_t align, size_t size)
{
	CPU_CALLER(c);
	void *p;

	need_next();
	p = next.memalign(align, size);
	allocated(p, size, &c, SEG_API_MEMALIGN);
	return p;
}

SEEP_EXPORT void *aligned_alloc(size_t align, size_t size)
{
	CPU_CALLER(c);
	void *p;

	need_next();
	p = next.aligned_alloc(align, size);
	allocated(p, size, &c, SEG_API_ALIGNED_ALLOC);
	return p;
}

SEEP_EXPORT int posix_memalign(void **ret, size_t align, size_t size)
{
	CPU_CALLER(c);
	int err;

	need_next();
	err = next.posix_memalign(ret, align, size);
	if (!err)
		allocated(*ret, size, &c, SEG_API_POSIX_MEMALIGN);
	return err;
}

SEEP_EXPORT void *valloc(size_t size)
{
	CPU_CALLER(c);
	void *p;

	need_next();
	p = next.valloc(size);
	allocated(p, size, &c, SEG_API_VALLOC);
	return p;
}

SEEP_EXPORT void *pvalloc(size_t size)
{
	CPU_CALLER(c);
	void *p;

	need_next();
	p = next.pvalloc(size);
	allocated(p, size, &c, SEG_API_PVALLOC);
	return p;
}

SEEP_EXPORT void cfree(void *p)
{
	free(p);
}

/*
 * C23 says that this is equivalent to free, so the next allocator's free is
 * called. Its free_sized would have to be found with dlsym, which takes memory
 * from the host's heap if there is none.
 */
SEEP_EXPORT void free_sized(void *p, size_t size)
{
	(void)size;
	if (!p || (next.has_bootstrap && bootstrap_owns(p)))
		return;
	need_next();
	freeing(p, RETURNS_TO);
	next.free(p);
}

SEEP_EXPORT void free_aligned_sized(void *p, size_t align, size_t size)
{
	(void)align;
	free_sized(p, size);
}

/*
 * The unwind rules of a module that is unloaded are no longer valid. Modules
 * that libc unloads by itself (NSS, gconv) are noticed when an address is in no
 * module, or in another one.
 */
SEEP_EXPORT int dlclose(void *handle)
{
	struct gate *g;
	int err;

	need_next();
	if (!next.dlclose)
		return -1; /* without libdl there is no handle */
	g = recorder_closing();
	err = next.dlclose(handle);
	recorder_closed(g);
	return err;
}

/* Returns the flags to load with. */
static SEEP_COLD int binding_deep(const char *file, int flags)
{
	bool counted;

	if (config.no_deepbind && lifecycle_started())
		return flags & ~RTLD_DEEPBIND;
	if (!file || flags & RTLD_NOLOAD)
		return flags;
	counted = lifecycle_slow_begins();
	spaces_deepbind(file, lifecycle_running());
	lifecycle_slow_ends(counted);
	return flags;
}

/*
 * These are hooked to notice RTLD_DEEPBIND. The real functions use their return
 * address to find the calling object (RUNPATH, $ORIGIN, the namespace), so they
 * are entered by a jump; tools/lint/check-symbols.sh checks the instructions.
 */
SEEP_EXPORT void *dlopen(const char *file, int mode)
{
	need_next();
	if (unlikely(mode & RTLD_DEEPBIND))
		mode = binding_deep(file, mode);
	if (unlikely(!next.dlopen))
		return NULL; /* an older libc, and libdl is not loaded */
	return next.dlopen(file, mode);
}

SEEP_EXPORT void *dlmopen(long nsid, const char *file, int mode)
{
	need_next();
	if (unlikely(mode & RTLD_DEEPBIND))
		mode = binding_deep(file, mode);
	if (unlikely(!next.dlmopen))
		return NULL;
	return next.dlmopen(nsid, file, mode);
}

/*
 * For libseep-cxx.so. If the next operator new has called our malloc, the block
 * is in the live map already, and stays as it is. Likewise for delete and free.
 */
SEEP_EXPORT void seep_cxx_allocated(
    const void *p, size_t size, const struct cpu_frame *c, uint32_t api)
{
	if (!live_peek((uint64_t)(uintptr_t)p))
		allocated(p, size, c, (enum seg_api)api);
}

SEEP_EXPORT void seep_cxx_library(const void *start, size_t bytes)
{
	ours_add(start, bytes, OURS_FOREVER);
	within_add_companion(start, bytes);
}

SEEP_EXPORT void seep_cxx_freeing(const void *p, uint64_t pc)
{
	freeing(p, pc);
	if (thread_self)
		thread_self->record.expect_free = p;
}

SEEP_EXPORT void seep_next_module(const void *function)
{
	within_add_module(function);
}

SEEP_EXPORT void seep_next_allocated(
    const void *p, size_t size, const struct cpu_frame *c, uint32_t api)
{
	if (likely(!within_is(c->pc)))
		allocated(p, size, c, (enum seg_api)api);
}

SEEP_EXPORT void seep_next_freeing(const void *p, uint64_t pc)
{
	if (likely(!within_is(pc)))
		freeing(p, pc);
}

SEEP_EXPORT void *seep_next_resize(void *old, size_t size, const struct cpu_frame *c, uint32_t api,
    hook_resize *resize, size_t extra)
{
	if (unlikely(within_is(c->pc)))
		return resize(old, size, extra);
	return resize_block(old, size, c, (enum seg_api)api, resize, extra);
}
