/* malloc.c - the hooks of the malloc family: call the real function, record. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/event/next.h"
#include "collector/event/recorder_hit.h"

/* Declared here, because the headers of older libcs lack them. */
SEEP_EXPORT void *malloc(size_t size);
SEEP_EXPORT void free(void *p);
SEEP_EXPORT void *calloc(size_t n, size_t size);
SEEP_EXPORT void *realloc(void *old, size_t size);
SEEP_EXPORT void *reallocarray(void *old, size_t n, size_t size);
SEEP_EXPORT void *memalign(size_t align, size_t size);
SEEP_EXPORT void *aligned_alloc(size_t align, size_t size);
SEEP_EXPORT int posix_memalign(void **ret, size_t align, size_t size);
SEEP_EXPORT void *valloc(size_t size);
SEEP_EXPORT void *pvalloc(size_t size);
SEEP_EXPORT void cfree(void *p);
SEEP_EXPORT void free_sized(void *p, size_t size);
SEEP_EXPORT void free_aligned_sized(void *p, size_t align, size_t size);

/*
 * A hook calls the next definition of its function (next.h) and then records the
 * result; free records first. A thread is never busy during a call of the real
 * allocator. Only the real functions change errno.
 */

static SEEP_NOINLINE void *malloc_in_state(struct gate *g, size_t size, const struct cpu_frame *c)
{
	uint32_t state = g ? LOAD(&g->state) : 0;
	void *p;

	next_need();
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
 * malloc and free only test the state of the thread and jump on. So a thread
 * that records nothing (dormant, off, between two samples) executes a few loads
 * and no prologue. malloc_ready() and free_ready() are entered by a jump, too.
 * So the return address above their frame is the host's, and CPU_CALLER relies
 * on that. With a call instead, each stack would differ from libgcc's in the
 * verifying build (verify.h).
 */

/*
 * What malloc_into() hands on: the caller's registers, without the return
 * address, which is right below its sp. Whether it calls or jumps does not
 * matter.
 */
SEEP_INLINE struct cpu_frame caller_of(uint64_t sp, uint64_t fp)
{
	return (struct cpu_frame){((const uint64_t *)(uintptr_t)sp)[-1], sp, fp};
}

/* The inner words hold, but the outer ones do not. */
static SEEP_NOINLINE void *malloc_joins(
    void *p, size_t size, struct memo_chunk *e, uint32_t checks, uint64_t sp, uint64_t fp)
{
	const struct cpu_frame c = caller_of(sp, fp);

	recorder_alloc_at(thread_self, p, size, &c, SEG_API_MALLOC, e, checks);
	return p;
}

/* Word i of the chunk at the first place differs. */
SEEP_INLINE void *malloc_second(void *p, size_t size, struct memo_chunk *first, uint32_t i,
    uint64_t sp, uint64_t fp, const enum sink sink)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_block(g);
	const struct cpu_frame c = caller_of(sp, fp);
	uint32_t site;

	if (unlikely(!memo_second(t, &c, memo_key(&c, SEG_API_MALLOC), first, i, &site)) ||
	    !recorder_book(t, p, size, &c, site, sink))
		return recorder_alloc_last(p, size, c.pc, sp, fp, SEG_API_MALLOC);
	first->passed_over++;
	if (recorder_is_due(t))
		return recorder_after(p);
	thread_leave(g);
	return p;
}

typedef void *second_fn(void *, size_t, struct memo_chunk *, uint32_t, uint64_t, uint64_t);

SEEP_INLINE void *malloc_into(
    size_t size, struct gate *g, second_fn *do_second, const enum sink sink)
{
	void *p = next.malloc(size);
	struct thread *t = thread_block(g);
	struct memo_chunk *e;
	uint64_t checks;
	uint32_t i, site = 0;
	CPU_CALLER(c); /* after the call, so it needs no saved register */

	if (unlikely(!p))
		return p;
	if (unlikely(g->state != recorder_state(sink))) {
		CPU_CALLER_AGAIN(d);
		return malloc_interrupted(p, size, d.pc, d.sp, d.fp);
	}
	thread_enter(g);
	e = memo_look(t, &c, memo_key(&c, SEG_API_MALLOC), &i, &checks);
	if (unlikely(i < MEMO_WORDS))
		return do_second(p, size, e, i, c.sp, c.fp);
	if (likely(i == MEMO_WORDS)) {
		if (unlikely(!memo_is_stamped(t, e, checks, &site)))
			return malloc_joins(p, size, e, 0, c.sp, c.fp);
		i = memo_fails(t, checks);
		if (unlikely(i))
			return malloc_joins(p, size, e, i, c.sp, c.fp);
	}
	if (unlikely(i || !recorder_book(t, p, size, &c, site, sink))) {
		CPU_CALLER_AGAIN(d);
		return recorder_alloc_last(p, size, d.pc, d.sp, d.fp, SEG_API_MALLOC);
	}
	if (recorder_is_due(t))
		return recorder_after(p);
	thread_leave(g);
	return p;
}

/* Functions of their own, so that malloc() can jump to them. */
#define MALLOC(name, sink) \
	static SEEP_NOINLINE void *name##_second( \
	    void *p, size_t size, struct memo_chunk *e, uint32_t i, uint64_t sp, uint64_t fp) \
	{ \
		return malloc_second(p, size, e, i, sp, fp, sink); \
	} \
	static SEEP_NOINLINE void *name(size_t size, struct gate *g) \
	{ \
		return malloc_into(size, g, name##_second, sink); \
	}

MALLOC(malloc_ready, SINK_NONE)
MALLOC(malloc_logging, SINK_LOG)
MALLOC(malloc_losing, SINK_LOST)
MALLOC(malloc_flying, SINK_FLIGHT)

static SEEP_NOINLINE void *malloc_slow(size_t size)
{
	CPU_CALLER(c);

	return malloc_in_state(thread_gate, size, &c);
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

/* With SEEP_LOG=last,frees: the stack of the free is recorded, too. */
static SEEP_NOINLINE void free_with_stack(void *p)
{
	CPU_CALLER(c);

	next_need();
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
	next_need();
	if (g && g->state == THREAD_SAMPLING)
		recorder_sampled_free(g, p, RETURNS_TO);
	else
		recorder_free_any(p, RETURNS_TO);
	next.free(p);
}

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

SEEP_INLINE void free_aged(void *p, struct gate *g, struct thread *t, uint64_t *cell,
    struct seg_row *row, const enum sink sink)
{
	struct blocks_found f = blocks_found_at(cell);

	if ((sink == SINK_LOG && unlikely(!log_has_room(t))) ||
	    unlikely(!recorder_age(t, &f, sink))) {
		free_miss(p);
		return;
	}
	recorder_drop(t, p, &f, row, tick_now() - f.block.birth, sink);
	thread_leave(g);
	next.free(p);
}

typedef void aged_fn(void *, struct gate *, struct thread *, uint64_t *, struct seg_row *);

SEEP_INLINE void free_into(
    void *p, struct gate *g, struct thread *t, aged_fn *do_aged, const enum sink sink)
{
	struct blocks_found f;
	struct seg_row *row;

	if (sink == SINK_FLIGHT && unlikely(flight_has_frees)) {
		free_any(p);
		return;
	}
	thread_enter(g);
	/* look at the clock first: this may be the first event after a pause */
	if (unlikely(--t->pace.countdown == 0)) {
		free_miss(p);
		return;
	}
	row = recorder_find(t, p, &f, sink);
	if (unlikely(!row)) {
		free_miss(p);
		return;
	}
	if (recorder_has_aged(t, &f, sink)) {
		do_aged(p, g, t, f.cell, row);
		return;
	}
	if (sink == SINK_LOG && unlikely(!log_has_room(t))) {
		free_miss(p);
		return;
	}
	recorder_drop(t, p, &f, row, 0, sink);
	thread_leave(g);
	next.free(p);
}

/*
 * A block that was not born in this tick has a function of its own, so that the
 * other need not save registers for it.
 */
#define FREE(name, sink) \
	static SEEP_NOINLINE void name##_aged( \
	    void *p, struct gate *g, struct thread *t, uint64_t *cell, struct seg_row *row) \
	{ \
		free_aged(p, g, t, cell, row, sink); \
	} \
	static SEEP_NOINLINE void name(void *p, struct gate *g, struct thread *t) \
	{ \
		free_into(p, g, t, name##_aged, sink); \
	}

FREE(free_ready, SINK_NONE)
FREE(free_logging, SINK_LOG)
FREE(free_losing, SINK_LOST)
FREE(free_flying, SINK_FLIGHT)

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

	next_need();
	p = next.calloc(n, size);
	recorder_allocated(p, n * size, &c, SEG_API_CALLOC);
	return p;
}

SEEP_EXPORT void *calloc(size_t n, size_t size)
{
	struct gate *g = thread_gate;

	if (g && recorder_looks_away(g, n * size))
		return next.calloc(n, size);
	return calloc_any(n, size);
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
		recorder_allocated(p, size, c, api);
		return p;
	}
	if (unlikely(next.has_bootstrap) && bootstrap_owns(old)) {
		p = bootstrap_move(old, size);
		recorder_allocated(p, size, c, api);
		return p;
	}
	if (unlikely(old == cpu_dtv_block()))
		thread_forget_dtv();
	return recorder_resizes(old, size, c, api, real_realloc, 0);
}

static SEEP_NOINLINE void *realloc_any(void *old, size_t size)
{
	CPU_CALLER(c);

	next_need();
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

	next_need();
	/* the real function fails and sets errno */
	if (__builtin_mul_overflow(n, size, &bytes))
		return next.reallocarray(old, n, size);
	return reallocate(old, bytes, &c, SEG_API_REALLOCARRAY);
}

SEEP_EXPORT void *memalign(size_t align, size_t size)
{
	CPU_CALLER(c);
	void *p;

	next_need();
	p = next.memalign(align, size);
	recorder_allocated(p, size, &c, SEG_API_MEMALIGN);
	return p;
}

SEEP_EXPORT void *aligned_alloc(size_t align, size_t size)
{
	CPU_CALLER(c);
	void *p;

	next_need();
	p = next.aligned_alloc(align, size);
	recorder_allocated(p, size, &c, SEG_API_ALIGNED_ALLOC);
	return p;
}

SEEP_EXPORT int posix_memalign(void **ret, size_t align, size_t size)
{
	CPU_CALLER(c);
	int err;

	next_need();
	err = next.posix_memalign(ret, align, size);
	if (!err)
		recorder_allocated(*ret, size, &c, SEG_API_POSIX_MEMALIGN);
	return err;
}

SEEP_EXPORT void *valloc(size_t size)
{
	CPU_CALLER(c);
	void *p;

	next_need();
	p = next.valloc(size);
	recorder_allocated(p, size, &c, SEG_API_VALLOC);
	return p;
}

SEEP_EXPORT void *pvalloc(size_t size)
{
	CPU_CALLER(c);
	void *p;

	next_need();
	p = next.pvalloc(size);
	recorder_allocated(p, size, &c, SEG_API_PVALLOC);
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
	next_need();
	recorder_freeing(p, RETURNS_TO);
	next.free(p);
}

SEEP_EXPORT void free_aligned_sized(void *p, size_t align, size_t size)
{
	(void)align;
	free_sized(p, size);
}
