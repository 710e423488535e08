/* flight.c - the flight recorder: the last events of each thread, in rings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/log/flight.h"

#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/heap/ledger.h"
#include "collector/log/log.h"
#include "collector/log/logpool.h"
#include "collector/segment/mem.h"
#include "collector/owner.h"
#include "collector/segment/segment.h"
#include "collector/thread.h"
#include "collector/segment/tick.h"

enum {
	NO_RING = UINT32_MAX, /* as the index of a ring */
	PAGE_ENTRIES = CPU_PAGE / sizeof(struct flight_entry),
	TID_SHIFT = 42, /* in FLIGHT_NUMBER, above the time */
};

bool flight_is_on;
bool flight_has_frees;

static uint32_t numbers; /* the next one for a ring */
static uint32_t threads; /* that have got a number */
static bool is_early;    /* a forked child in its first events */

/* The ring of nested events, and the number of pairs that it was given. */
static struct log_chunk *common;
static uint64_t common_pairs;

static struct flight_entry *entries_of(struct log_chunk *c)
{
	return (struct flight_entry *)(void *)(c + 1);
}

static bool has_ring(const struct thread *t)
{
	return t->flight.index != NO_RING;
}

/* ---- the ring of a thread -------------------------------------------------- */

/* As flight_put(), for any entry of the ring, with any second word. */
static void put(struct thread *t, uint64_t what, uint64_t where)
{
	uint64_t *at = t->flight.at;
	uint64_t *next = at + 2;

	if (at >= t->flight.end) {
		next = t->flight.base;
		if (has_ring(t))
			STORE_RELEASE(&t->flight.ring->done, t->flight.ring->done + 1);
	}
	STORE(&at[1], where);
	STORE(&next[0], 0);
	STORE_RELEASE(&at[0], what);
	t->flight.at = next;
}

static void begin(struct thread *t, struct flight_entry *e, uint32_t entries)
{
	t->flight.base = t->flight.at = &e[0].what;
	t->flight.end = &e[entries - 1].what;
}

static void use_page(struct thread *t)
{
	uint32_t i;

	t->flight.index = NO_RING;
	if (!t->flight.page)
		t->flight.page = mem_alloc(CPU_PAGE);
	if (!t->flight.page)
		return;
	for (i = 0; i < 2 * PAGE_ENTRIES; i++)
		t->flight.page[i] = 0;
	begin(t, (struct flight_entry *)(void *)t->flight.page, PAGE_ENTRIES);
}

/* What is in the private page goes to the ring that the thread has now. */
static void copy_page(struct thread *t, const uint64_t *at)
{
	const uint64_t *page = t->flight.page;
	size_t i, from = (size_t)(at - page) / 2;

	for (i = 0; i < PAGE_ENTRIES; i++) {
		const uint64_t *e = &page[(from + i) % PAGE_ENTRIES * 2];

		if (e[0])
			put(t, e[0], e[1]);
	}
}

static uint32_t ring_entries(void)
{
	return flight_entries(config.log_last, flight_has_frees);
}

static struct log_chunk *new_ring(uint64_t now, uint32_t thread, uint32_t tid, uint32_t *ret_index)
{
	struct log_chunk *c = logpool.head && !is_early ? logpool_take_oldest(ret_index) : NULL;

	if (!c)
		return NULL;
	c->tick = c->now = now;
	c->thread = thread;
	c->tid = tid;
	STORE_RELEASE(&c->head, log_word(LOG_CHUNK, ADD(&numbers, 1) + 1));
	return c;
}

/* False: there is no memory, not even for a page. */
static bool open_ring(struct thread *t, uint64_t now)
{
	const uint64_t *at = t->flight.base ? t->flight.at : NULL;
	struct log_chunk *c;
	uint32_t index;

	if (!t->flight.thread)
		t->flight.thread = ADD(&threads, 1) + 1;
	c = new_ring(now, t->flight.thread, log_tid(t), &index);
	if (c) {
		t->flight.ring = c;
		t->flight.index = index;
		begin(t, entries_of(c), ring_entries());
		if (at)
			copy_page(t, at);
		return true;
	}
	if (!is_early && !t->flight.is_counted) {
		t->flight.is_counted = true;
		segment_count(SEG_LOG_THREADS, 1);
	}
	if (!at)
		use_page(t);
	return t->flight.base != NULL;
}

/*
 * The time of the entries from here on. An entry has the low bits of it, so
 * after a long pause another one says what the time was before.
 */
static void set_time(struct thread *t, uint64_t now)
{
	if ((now - t->flight.time) >> FLIGHT_TIME_BITS)
		put(t, flight_word(FLIGHT_TIME, t->flight.time), flight_where(0, now, false));
	t->flight.time = now;
	t->flight.when = now << FLIGHT_TIME_SHIFT;
	if (has_ring(t))
		STORE_RELEASE(&t->flight.ring->now, now);
}

/* False: this event cannot be stored. */
static bool prepare(struct thread *t)
{
	uint32_t tick = tick_now();
	uint64_t now = log_time(t->pace.clock_ns, tick);
	const bool is_first = !t->flight.base;

	if (is_first)
		t->flight.time = now;
	/* asked once in a tick: a thread may have ended */
	if ((is_first || (!has_ring(t) && now != t->flight.time)) && !open_ring(t, now))
		return false;
	if (is_first || now != t->flight.time)
		set_time(t, now);
	t->flight.tick = tick;
	return true;
}

void flight_look(struct thread *t)
{
	(void)prepare(t);
}

void flight_forget(struct thread *t)
{
	t->flight.base = t->flight.at = t->flight.end = NULL;
	t->flight.index = NO_RING;
	t->flight.thread = 0;
	t->flight.is_counted = false;
	t->flight.by = 0;
}

void flight_leave(struct thread *t)
{
	if (t->flight.base && has_ring(t))
		logpool_close(t->flight.index, 1);
	flight_forget(t);
}

/* ---- the ring of nested events --------------------------------------------- */

static struct log_chunk *common_ring(uint64_t now)
{
	struct log_chunk *was = LOAD_ACQUIRE(&common), *c;
	uint32_t index;

	if (was)
		return was;
	c = new_ring(now, 0, 0, &index);
	if (!c || CAS(&common, &was, c))
		return c;
	logpool_give_back(index); /* another thread was faster */
	return was;
}

static void put_common(uint64_t what, const void *p, bool is_resized)
{
	uint64_t now = log_time(tick_read(), tick_now());
	struct log_chunk *c = common_ring(now);
	const struct gate *g = thread_gate;
	uint32_t tid = g && g->owner ? LOAD(&g->owner->tid) : 0;
	struct flight_entry *e;
	uint64_t n;

	if (!c) {
		segment_count(SEG_LOG_LOST, 1);
		return;
	}
	n = ADD(&common_pairs, 1) + 1;
	e = entries_of(c) + n % (ring_entries() / 2) * 2;
	STORE(&e[0].what, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	STORE(&e[0].where, (uint64_t)tid << TID_SHIFT | now);
	STORE(&e[1].where, flight_where((uint64_t)(uintptr_t)p, now, is_resized));
	STORE_RELEASE(&e[1].what, what);
	STORE_RELEASE(&e[0].what, flight_word(FLIGHT_NUMBER, n));
}

/* ---- events ---------------------------------------------------------------- */

/* Has the event a thread with a ring, or a page, of its own? */
static bool is_own(enum way way, const struct thread *t)
{
	return t && (way == WAY_READY || way == WAY_SHARED);
}

static void put_own(struct thread *t, uint64_t what, const void *p, bool is_resized)
{
	put(t, what, flight_where((uint64_t)(uintptr_t)p, t->flight.time, is_resized));
}

void flight_alloc(
    enum way way, struct thread *t, const void *p, uint64_t size, uint32_t site, bool is_resized)
{
	const uint64_t word = flight_alloc_word(site, size);

	if (!is_own(way, t)) {
		put_common(word, p, is_resized);
		return;
	}
	if (!prepare(t))
		return;
	if (size >= LOG_LARGE)
		put_own(t, flight_word(FLIGHT_SIZE, size), p, false);
	put_own(t, word, p, is_resized);
}

void flight_freed_at(uint32_t site)
{
	if (thread_self)
		thread_self->flight.by = site;
}

static void put_by(struct thread *t, const void *p)
{
	if (t->flight.by)
		put_own(t, flight_word(FLIGHT_BY, t->flight.by), p, false);
	t->flight.by = 0;
}

void flight_free(enum way way, struct thread *t, const void *p, struct block_entry b, uint32_t age,
    bool is_resized)
{
	/* a block of the parent was born on another clock */
	const uint32_t code = ledger_is_inherited(b.site) ? 0 : flight_age_code(age);
	const uint64_t word = flight_free_word(b.site, code, b.size);

	if (!is_own(way, t)) {
		put_common(word, p, is_resized);
		return;
	}
	if (!prepare(t))
		return;
	if (!is_resized)
		put_by(t, p);
	if (b.size >= FLIGHT_FREED_LARGE)
		put_own(t, flight_word(FLIGHT_SIZE, b.size), p, false);
	put_own(t, word, p, is_resized);
}

void flight_unknown(enum way way, struct thread *t, const void *p)
{
	const uint64_t word = flight_word(FLIGHT_UNKNOWN, 0);

	if (!is_own(way, t)) {
		put_common(word, p, false);
	} else if (prepare(t)) {
		put_by(t, p);
		put_own(t, word, p, false);
	}
}

/* ---- life ------------------------------------------------------------------ */

static void describe(void)
{
	struct seg_header *h = segment.header;

	h->log_pool = logpool_number();
	h->log_state = logpool.head && !is_early ? SEG_LOG_LAST : SEG_LOG_NO_POOL;
	h->log_last = config.log_last;
	h->log_lack = logpool.head ? SEG_LOG_LACK_NONE : logpool_lack.why;
	h->log_lack_error = logpool.head ? 0 : logpool_lack.error;
	if (is_early)
		h->log_lack = SEG_LOG_LACK_EARLY;
}

void flight_start(void)
{
	flight_is_on = logpool.head != NULL;
	flight_has_frees = flight_is_on && config.log == (uint32_t)FLIGHT_MODE_FREES;
	describe();
	if (flight_is_on)
		logpool_publish(1, segment.header->start_monotonic_ns);
}

void flight_restart(void)
{
	common = NULL;
	numbers = threads = 0;
	common_pairs = 0;
	is_early = true;
	describe();
}

void flight_move(void)
{
	struct thread *t;

	is_early = false;
	describe();
	if (!logpool.head)
		return;
	logpool_publish(1, segment.header->start_monotonic_ns);
	/* the others are held; so their first events are safe from now on */
	for (t = thread_first(); t; t = t->next) {
		if (t->flight.base && !has_ring(t) && open_ring(t, t->flight.time))
			set_time(t, t->flight.time);
	}
}
