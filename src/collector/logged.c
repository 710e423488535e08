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

/* The site of a hook that has not looked into the memo yet. */
SEEP_INLINE uint32_t
site_of(struct thread *t, const struct cpu_frame *c, enum seg_api api)
{
	const struct memo_chunk *e = memo_first(t, c, memo_key(c, api));

	return likely(e && memo_holds(t, e)) ? e->site : memo_site(t, c, api).v;
}

/* The pool has no chunk for this event. */
static bool
book_lost(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, uint32_t site)
{
	if (!recorder_book_hit(t, p, size, c, site, t->log_bias))
		return false;
	log_lose(t);
	return true;
}

static bool
book(struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c,
    uint32_t site)
{
	return log_loses(t, tick_now()) ? book_lost(t, p, size, c, site)
	                                : logged_book_hit(t, p, size, c, site);
}

SEEP_NOINLINE bool
logged_alloc(struct gate *g, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api)
{
	struct thread *t = thread_self;

	thread_enter(g);
	if (likely(book(t, p, size, c, site_of(t, c, api)))) {
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
	struct gate *g = thread_gate;
	struct thread *t = thread_self;

	if (likely(book(t, p, size, &c, memo_site(t, &c, api).v))) {
		leave(g, t);
		return p;
	}
	thread_leave(g);
	recorder_alloc_any(p, size, &c, api, RECORDER_NOW);
	return p;
}

/* The thread is busy, and stays so. The site of the block; 0: not recorded. */
SEEP_INLINE uint32_t
free_hit(struct thread *t, const void *p)
{
	struct live_found f;
	struct seg_row *row;

	if (log_loses(t, tick_now())) {
		row = logged_find_lost(t, p, &f);
		if (!row || (logged_has_aged_lost(t, &f) && !logged_age(t, &f)))
			return 0;
		t->countdown--;
		logged_drop_lost(t, &f, row);
	} else {
		row = logged_find(t, p, &f);
		if (!row || (logged_has_aged(t, &f) && !logged_age(t, &f)))
			return 0;
		logged_drop(t, &f, row);
	}
	return f.block.site;
}

SEEP_NOINLINE bool
logged_free_look(const void *p, uint64_t pc)
{
	struct thread *t = thread_self;
	uint32_t site = 0;

	if (pace_look(t)) {
		log_look(t);
		t->countdown++; /* the look was for this event, too */
		site = free_hit(t, p);
		if (site)
			ledger_freed_by(site, pc);
		else
			t->countdown--;
	}
	thread_leave(thread_gate);
	return site != 0;
}

SEEP_NOINLINE bool
logged_free(struct gate *g, const void *p, uint64_t pc)
{
	struct thread *t = thread_self;
	bool done;

	thread_enter(g);
	if (logged_is_due(t))
		return logged_free_look(p, pc);
	done = free_hit(t, p) != 0;
	thread_leave(g);
	return done;
}

/* Is there room for two words, and nothing to be noted before them? */
SEEP_INLINE bool
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
	bool loses;

	thread_enter(g);
	tick = tick_now();
	loses = log_loses(t, tick);
	/* without a name it would be a free and an allocation in the log */
	old = loses || log_is_named(b.birth) ? ledger_settled(t, b.site) : NULL;
	if (unlikely(!old || word != t->seen ||
	        LOAD(lifecycle_command) != lifecycle_obeyed ||
	        (!loses && !has_room_for_two(t, size, tick))))
		goto no;
	site = site_of(t, c, api);
	verify_site((struct site_id){site}, c);
	row = ledger_open_row(t, site);
	if (unlikely(!row))
		goto no;
	ledger_touch(row, word);
	if (ledger_size_is_new(row, size) ||
	    !live_put_fast(
	        &t->live, (uint64_t)(uintptr_t)p, site, size, b.birth))
		goto no;
	if (unlikely(loses)) {
		log_lose(t);
		log_lose(t);
	} else {
		STORE_RELEASE(&t->log_at[1], log_alloc_word(site, size));
		STORE_RELEASE(&t->log_at[0],
		    log_word(LOG_REALLOC,
		        log_realloc_payload(b.birth, cpu_cycles())));
		t->log_at += 2;
	}
	ledger_count_free(t, old, b.size);
	ledger_count_alloc(t, row, size, tick);
	leave(g, t);
	return true;
no:
	thread_leave(g);
	return false;
}
