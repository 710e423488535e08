/* logged.c - recording an event of a thread that logs (THREAD_LOGGING). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/logged.h"

#include "collector/pace.h"

SEEP_NOINLINE void *
logged_after(void *p)
{
	struct thread *t = thread_self;

	if (ledger_is_high(t))
		ledger_peak(t);
	if (t->countdown == 0) {
		pace_look(t);
		log_look(t);
	}
	thread_leave(thread_gate);
	return p;
}

static void
leave(struct gate *g, struct thread *t)
{
	if (recorder_is_due(t))
		logged_after(NULL);
	else
		thread_leave(g);
}

SEEP_NOINLINE bool
logged_alloc(struct gate *g, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api)
{
	struct thread *t = thread_self;

	thread_enter(g);
	if (likely(logged_book_hit(t, p, size, c, memo_site(t, c, api).v))) {
		leave(g, t);
		return true;
	}
	thread_leave(g);
	return false;
}

SEEP_NOINLINE void *
logged_alloc_last(void *p, uint64_t size, uint64_t pc, uint64_t sp, uint64_t fp,
    enum seg_api api)
{
	const struct cpu_frame c = {pc, sp, fp};

	thread_leave(thread_gate);
	recorder_alloc_any(p, size, &c, api, RECORDER_NOW);
	return p;
}

SEEP_NOINLINE bool
logged_free(struct gate *g, const void *p)
{
	struct thread *t = thread_self;
	struct live_found f;
	struct seg_row *row;

	thread_enter(g);
	row = logged_find(t, p, &f);
	if (row && (!logged_has_aged(&f) || logged_age(t, &f)))
		logged_drop(t, &f, row);
	else
		row = NULL;
	thread_leave(g);
	return row != NULL;
}

/* Is there room for two words, and nothing to be noted before them? */
static bool
has_room_for_two(const struct thread *t, uint64_t size, uint32_t tick)
{
	return log_has_room(t, tick) && t->log_at + 1 < t->log_end &&
	    size < LOG_LARGE;
}

SEEP_NOINLINE bool
logged_realloc(struct gate *g, struct live_block b, const void *p,
    uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	struct thread *t = thread_self;
	const uint64_t word = LOAD(&ledger_word);
	struct seg_row *old, *row;
	uint32_t tick, site;

	thread_enter(g);
	tick = tick_now();
	old = log_is_named(b.birth) ? ledger_settled(t, b.site) : NULL;
	if (unlikely(!old || word != t->seen ||
	        LOAD(lifecycle_command) != lifecycle_obeyed ||
	        !has_room_for_two(t, size, tick)))
		goto no;
	site = memo_site(t, c, api).v;
	verify_site((struct site_id){site}, c);
	row = ledger_open_row(t, site);
	if (unlikely(!row))
		goto no;
	ledger_touch(row, word);
	if (ledger_size_is_new(row, size) ||
	    !live_put_fast(
	        &t->live, (uint64_t)(uintptr_t)p, site, size, b.birth))
		goto no;
	STORE_RELEASE(&t->log_at[1], log_alloc_word(site, size));
	STORE_RELEASE(&t->log_at[0], log_word(LOG_REALLOC, b.birth));
	t->log_at += 2;
	ledger_count_free(t, old, b.size);
	ledger_count_alloc(t, row, size, tick);
	leave(g, t);
	return true;
no:
	thread_leave(g);
	return false;
}
