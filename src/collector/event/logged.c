/* logged.c - recording an event of a thread that logs (THREAD_LOGGING). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/logged.h"

#include "collector/event/pace.h"

SEEP_NOINLINE void *logged_after(void *p)
{
	struct thread *t = thread_self;

	if (ledger_is_high(t))
		ledger_peak(t);
	if (t->pace.countdown == 0) {
		pace_look(t);
		log_look(t);
	}
	thread_leave(thread_gate);
	return p;
}

static void leave(struct gate *g, struct thread *t)
{
	if (recorder_is_due(t))
		logged_after(NULL);
	else
		thread_leave(g);
}

/* The pool has no chunk for this event. */
static SEEP_NOINLINE bool book_lost(
    struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c, uint32_t site)
{
	return logged_book(t, p, size, c, site, true);
}

SEEP_INLINE bool book(
    struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c, uint32_t site)
{
	return unlikely(t->log.loses) ? book_lost(t, p, size, c, site)
	                              : logged_book(t, p, size, c, site, false);
}

/* The thread is busy, and is not any more. */
SEEP_INLINE void alloc_of(struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c,
    enum seg_api api, uint32_t site)
{
	if (likely(book(t, p, size, c, site)))
		leave(thread_gate, t);
	else
		recorder_alloc_known(t, p, size, c, api, site);
}

SEEP_NOINLINE void logged_alloc(
    struct gate *g, const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	struct thread *t = thread_self;

	thread_enter(g);
	alloc_of(t, p, size, c, api, recorder_site(t, c, api));
}

SEEP_NOINLINE void *logged_alloc_last(
    void *p, uint64_t size, uint64_t pc, uint64_t sp, uint64_t fp, enum seg_api api)
{
	const struct cpu_frame c = {pc, sp, fp};
	struct thread *t = thread_self;

	alloc_of(t, p, size, &c, api, memo_site(t, &c, api).v);
	return p;
}

SEEP_NOINLINE void logged_alloc_at(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, struct memo_chunk *e, uint32_t checks)
{
	alloc_of(t, p, size, c, api, memo_site_at(t, c, api, e, checks).v);
}

/* The thread is busy, and stays so. The site of the block; 0: not recorded. */
SEEP_INLINE uint32_t free_hit(struct thread *t, const void *p)
{
	struct live_found f;
	struct seg_row *row;

	if (t->log.loses) {
		row = recorder_find(t, p, &f);
		if (!row || (logged_may_have_aged_lost(t, &f) && !logged_age(t, &f)))
			return 0;
		logged_drop_lost(t, &f, row);
	} else {
		row = logged_find(t, p, &f);
		if (!row || !log_has_room(t) || (logged_may_have_aged(t, &f) && !logged_age(t, &f)))
			return 0;
		logged_drop(t, &f, row);
	}
	return f.block.site;
}

SEEP_NOINLINE void logged_free_look(const void *p, uint64_t pc)
{
	struct thread *t = thread_self;
	uint32_t site = 0;

	if (pace_look(t)) {
		log_look(t);
		site = free_hit(t, p);
	}
	if (!site) {
		recorder_free_known(t, p, pc, true);
		return;
	}
	ledger_freed_by(site, pc);
	thread_leave(thread_gate);
}

SEEP_NOINLINE void logged_free(struct gate *g, const void *p, uint64_t pc)
{
	struct thread *t = thread_self;

	thread_enter(g);
	if (unlikely(--t->pace.countdown == 0))
		logged_free_look(p, pc);
	else if (free_hit(t, p))
		thread_leave(g);
	else
		recorder_free_known(t, p, pc, false);
}

SEEP_INLINE bool has_room_for_two(const struct thread *t, uint64_t size)
{
	return t->log.next + 1 < t->log.limit && size < LOG_LARGE;
}

SEEP_NOINLINE void logged_realloc(struct gate *g, const void *old, struct live_block b,
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	struct thread *t = thread_self;
	const uint64_t word = LOAD(&ledger_word);
	struct seg_row *was, *row;
	uint32_t tick, site;
	bool loses;

	thread_enter(g);
	tick = tick_now();
	loses = t->log.loses;
	site = recorder_site(t, c, api);
	verify_site((struct site_id){site}, c);
	/* without a name it would be a free and an allocation in the log */
	was = loses || log_is_named(b.birth) ? ledger_settled(t, b.site) : NULL;
	if (unlikely(!was || word != t->ledger.seen ||
	        LOAD(lifecycle_command) != lifecycle_obeyed ||
	        (!loses && !has_room_for_two(t, size))))
		goto slow;
	row = ledger_open_row(t, site);
	if (unlikely(!row))
		goto slow;
	ledger_touch(row, word);
	if (ledger_size_is_new(row, size) ||
	    !live_put_fast(&t->leaves, (uint64_t)(uintptr_t)p, site, size, b.birth))
		goto slow;
	if (unlikely(loses)) {
		log_lose(t, 2);
	} else {
		uint64_t *at = log_word_of(t, t->log.next);

		STORE_RELEASE(&at[1], log_alloc_word(site, size));
		STORE_RELEASE(
		    &at[0], log_word(LOG_REALLOC, log_realloc_payload(b.birth, log_next_stamp())));
		t->log.next += 2;
	}
	ledger_count_free(t, was, b.size);
	ledger_count_alloc(t, row, size, tick);
	leave(g, t);
	return;
slow:
	recorder_realloc_known(t, old, b, p, size, c, api, site);
}
