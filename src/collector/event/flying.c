/* flying.c - recording an event of a thread with a flight recorder (THREAD_FLYING). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/flying.h"

#include "collector/event/pace.h"

SEEP_NOINLINE void *flying_after(void *p)
{
	struct thread *t = thread_self;

	if (ledger_is_high(t))
		ledger_peak(t);
	if (t->pace.countdown == 0) {
		pace_look(t);
		flight_look(t);
	}
	thread_leave(thread_gate);
	return p;
}

static void leave(struct gate *g, struct thread *t)
{
	if (recorder_is_due(t))
		flying_after(NULL);
	else
		thread_leave(g);
}

/* The thread is busy, and is not any more. */
SEEP_INLINE void alloc_of(
    struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	const uint32_t site = recorder_site(t, c, api);

	if (likely(flying_book_hit(t, p, size, c, site)))
		leave(thread_gate, t);
	else
		recorder_alloc_known(t, p, size, c, api, site);
}

SEEP_NOINLINE void flying_alloc(
    struct gate *g, const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	thread_enter(g);
	alloc_of(thread_self, p, size, c, api);
}

SEEP_NOINLINE void *flying_alloc_last(
    void *p, uint64_t size, uint64_t pc, uint64_t sp, uint64_t fp, enum seg_api api)
{
	const struct cpu_frame c = {pc, sp, fp};

	alloc_of(thread_self, p, size, &c, api);
	return p;
}

SEEP_NOINLINE bool flying_free(struct gate *g, const void *p)
{
	struct thread *t = thread_self;
	struct live_found f;
	struct seg_row *row;
	uint32_t age;

	thread_enter(g);
	/* one entry more for the stack */
	if (t->flight.by && t->flight.at + 2 >= t->flight.end) {
		thread_leave(g);
		return false;
	}
	row = flying_find(t, p, &f);
	age = row ? tick_now() - f.block.birth : 0;
	if (row && (!age || recorder_age(t, &f))) {
		if (t->flight.by)
			flight_put(t, flight_word(FLIGHT_BY, t->flight.by), (uint64_t)(uintptr_t)p);
		t->flight.by = 0;
		flying_drop(t, p, &f, row, age);
	} else {
		row = NULL;
	}
	thread_leave(g);
	return row != NULL;
}

SEEP_NOINLINE void flying_realloc(struct gate *g, const void *old, struct live_block b,
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	struct thread *t = thread_self;
	const uint64_t word = LOAD(&ledger_word);
	struct seg_row *was, *row;
	uint32_t tick, site;

	thread_enter(g);
	tick = tick_now();
	site = recorder_site(t, c, api);
	verify_site((struct site_id){site}, c);
	was = ledger_settled(t, b.site);
	/* two entries, and nothing to be noted before them */
	if (unlikely(!was || word != t->ledger.seen ||
	        LOAD(lifecycle_command) != lifecycle_obeyed || !flight_has_room(t, tick) ||
	        t->flight.at + 2 >= t->flight.end || size >= LOG_LARGE ||
	        b.size >= FLIGHT_FREED_LARGE))
		goto slow;
	row = ledger_open_row(t, site);
	if (unlikely(!row))
		goto slow;
	ledger_touch(row, word);
	if (ledger_size_is_new(row, size) ||
	    !live_put_fast(&t->leaves, (uint64_t)(uintptr_t)p, site, size, b.birth))
		goto slow;
	ledger_count_free(t, was, b.size);
	ledger_count_alloc(t, row, size, tick);
	t->flight.when |= FLIGHT_RESIZED;
	flight_put(t, flight_free_word(b.site, flight_age_code(tick - b.birth), b.size),
	    (uint64_t)(uintptr_t)old);
	flight_put(t, flight_alloc_word(site, size), (uint64_t)(uintptr_t)p);
	t->flight.when &= ~FLIGHT_RESIZED;
	leave(g, t);
	return;
slow:
	recorder_realloc_known(t, old, b, p, size, c, api, site);
}
