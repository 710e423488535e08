/* recorder.c - recording an event when the inline path cannot. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/recorder.h"

#include "collector/event/pace.h"
#include "collector/stack/nested.h"
#include "collector/event/recorder_hit.h"
#include "collector/way.h"

/*
 * What an event stores, in this order. A handler may leave a hook between any two
 * of these by siglongjmp, or fork there, or the process may be killed. "Inline" is
 * recorder_hit.h, "full" is this file.
 *
 *                  inline                           full
 *   allocation
 *     no sink      cell, row                        cell, row
 *     log          cell, word, row                  (reserved) cell, row, word
 *     lost         cell, lost, row                  lost, cell, row
 *     flight       cell, row, entry                 cell, row, entry
 *   free
 *     no sink      age, cell, row                   cell, row, age
 *     log          age, word, cell, row             cell, word, row, age
 *     lost         age, lost, cell, row             cell, lost, row, age
 *     flight       age, entry, cell, row            cell, entry, row, age
 *   resizing, whose old cell was taken before the real call
 *     no sink      cell, old row, new row           old row, cell, new row
 *     log          cell, 2 words, old row, new row  old row, (reserved) cell, new row, words
 *     lost         cell, lost, old row, new row     old row, lost, cell, new row
 *     flight       cell, old row, new row, entries  entry, old row, cell, new row, entry
 *
 * A free takes the cell first where it can, because the block is gone even if it
 * cannot be counted. Of two words of a log the first is stored last: a reader that
 * sees it may read the second.
 */

/*
 * Blocks that live without a cell in the live map. A free that finds no cell
 * may be of one of them.
 */
static uint64_t passed_by;

void recorder_unseen(void)
{
	ADD(&passed_by, 1);
}

void recorder_passed_by(enum seg_count why)
{
	recorder_unseen();
	segment_count(why, 1);
}

/*
 * The walk of a nested event shows whether the hook that made the thread busy
 * is still on the stack (`own`). If a complete walk (`whole`) does not find it,
 * a signal handler has left it by siglongjmp, and the thread is made ready.
 */
static void heal(struct thread *t, bool own, bool whole)
{
	if (!t || own || !whole)
		return;
	segment_count(SEG_HEALED, 1);
	thread_drop_caches(t);
	log_heal(t);
	thread_make_ready(lifecycle_mode());
}

static struct site_id nested_site(struct thread *t, const struct cpu_frame *c, enum seg_api api)
{
	uint64_t few[SEG_INNER_FRAMES];
	uint64_t *scratch = few;
	uint32_t max = SEG_INNER_FRAMES, bit = 0;
	bool own, whole;
	struct site_id s;
	int i;

	for (i = 0; t && i < THREAD_SCRATCHES; i++) {
		bit = 1u << i;
		if (!(__atomic_fetch_or(&t->nested.taken, bit, __ATOMIC_ACQ_REL) & bit)) {
			scratch = t->nested.scratch[i];
			max = OUTER_MAX;
			break;
		}
		bit = 0;
	}
	s = nested_walk(t, c, api, scratch, max, &own, &whole);
	if (bit)
		__atomic_fetch_and(&t->nested.taken, ~bit, __ATOMIC_ACQ_REL);
	segment_count(SEG_NESTED_EVENTS, 1);
	heal(t, own, whole);
	return s;
}

/* Records a free in the ledger, in the given way. */
static void book_free(enum way way, struct thread *t, struct block_entry b)
{
	bool booked;

	if (ledger_is_inherited(b.site)) {
		ledger_inherited(b.site, b.size);
		return;
	}
	if (sample_rate())
		booked = ledger_sampled_free(t, b.site, b.size);
	else if (way == WAY_READY)
		booked = ledger_free(t, b.site, b.size);
	else
		booked = ledger_free_shared(way == WAY_SHARED ? t : NULL, b.site, b.size);
	if (!booked)
		segment_count(SEG_LOST_FREES, 1);
}

static bool book_alloc(enum way way, struct thread *t, uint32_t site, uint64_t size)
{
	if (way == WAY_READY)
		return ledger_alloc(t, site, size);
	return ledger_alloc_shared(way == WAY_SHARED ? t : NULL, site, size);
}

static void missed(enum way way, struct thread *t, struct block_entry old)
{
	segment_count(SEG_MISSED_FREES, 1);
	segment_count(SEG_MISSED_BYTES, old.size);
	if (unlikely(log_is_on))
		log_free(way, t, old);
	book_free(way, t, old);
}

/* Blocks that the new one overlaps were freed without our hooks. */
static bool put_slow(
    enum way way, struct thread *t, const void *p, uint32_t site, uint64_t size, uint32_t birth)
{
	uint64_t address = (uint64_t)(uintptr_t)p;
	struct block_entry old;
	bool done;

	while (old = blocks_take_overlapped(address, size), old.site)
		missed(way, t, old);
	done = blocks_put_slow(address, site, size, birth, &old);
	if (old.site)
		missed(way, t, old);
	return done;
}

/*
 * A block whose site has no room in the ledger, or that has no cell. Returns the
 * site that it counts under, 0 if it is lost.
 */
static uint32_t not_booked(enum way way, struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth)
{
	uint64_t address = (uint64_t)(uintptr_t)p;
	struct block_entry b = blocks_take_slow(address);
	struct block_entry old;
	uint32_t site = sites_get(SITES_NODE_NO_ROOM, 0, api).v;

	if (ledger_is_inherited(b.site)) {
		/* the memo is from before the fork, so look again */
		thread_drop_caches(t);
		site = memo_site(t, c, api).v;
	}
	if (!blocks_put_slow(address, site, size, birth, &old)) {
		recorder_passed_by(SEG_LOST_EVENTS);
		return 0;
	}
	if (!book_alloc(way, t, site, size)) {
		blocks_take_slow(address);
		recorder_passed_by(SEG_LOST_EVENTS);
		return 0;
	}
	return site;
}

static void unknown_free(enum way way, struct thread *t, const void *p)
{
	uint64_t n = LOAD(&passed_by);

	if (t && t->record.expect_free == p) {
		t->record.expect_free = NULL; /* operator delete has recorded it */
		return;
	}
	if (sample_rate())
		return; /* most blocks of a sampled process have no cell */
	if (unlikely(flight_is_on))
		flight_unknown(way, t, p);
	if (lifecycle_was_off()) {
		segment_count(SEG_UNTRACKED_FREES, 1);
		return;
	}
	while (n) {
		if (CAS(&passed_by, &n, n - 1)) {
			segment_count(SEG_UNTRACKED_FREES, 1);
			return;
		}
	}
	segment_count(SEG_UNKNOWN_FREES, 1);
}

static uint32_t birth_tick(uint32_t birth)
{
	return birth == RECORDER_NOW ? tick_now() : birth;
}

/* Before an allocation. False: recording was switched off, which is counted. */
static bool still_records(struct thread *t)
{
	if ((--t->pace.countdown == 0 || LOAD(lifecycle_command) != lifecycle_obeyed) &&
	    !pace_look(t)) {
		recorder_passed_by(SEG_EVENTS_OFF);
		return false;
	}
	return true;
}

/* The second half of alloc_by(), when the site is known. */
static void alloc_known(enum way way, struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth, uint32_t site)
{
	const bool is_resized = birth != RECORDER_NOW;
	struct log_slot slot;

	if (unlikely(log_is_on))
		birth = log_reserve(way, t, size, birth, &slot);
	else
		birth = birth_tick(birth);
	if ((!(way == WAY_READY &&
	         blocks_put_fast(&t->leaves, (uint64_t)(uintptr_t)p, site, size, birth)) &&
	        !put_slow(way, t, p, site, size, birth)) ||
	    !book_alloc(way, t, site, size)) {
		if (way == WAY_NESTED) {
			recorder_passed_by(SEG_LOST_EVENTS);
			site = 0;
		} else {
			site = not_booked(way, t, p, size, c, api, birth);
		}
	}
	if (unlikely(log_is_on))
		log_store(&slot, site, size, p);
	else if (unlikely(flight_is_on) && site)
		flight_alloc(way, t, p, size, site, is_resized);
}

static void alloc_by(enum way way, struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth)
{
	struct site_id s;

	if (way == WAY_NESTED) {
		s = nested_site(t, c, api);
		verify_site(s, c);
		tick_read();
	} else {
		s = memo_site(t, c, api);
		verify_site(s, c);
		if (!still_records(t))
			return;
	}
	alloc_known(way, t, p, size, c, api, birth, s.v);
}

/* ---- a thread in the state of its sink, which is busy and is left as it was ---- */

static enum sink sink_of(const struct thread *t)
{
	if (likely(!log_is_on && !flight_is_on))
		return SINK_NONE;
	if (flight_is_on)
		return SINK_FLIGHT;
	return t->log.loses ? SINK_LOST : SINK_LOG;
}

static SEEP_NOINLINE bool book_into(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, uint32_t site, enum sink sink)
{
	switch (sink) {
	case SINK_LOG:
		return recorder_book(t, p, size, c, site, SINK_LOG);
	case SINK_LOST:
		return recorder_book(t, p, size, c, site, SINK_LOST);
	default:
		return recorder_book(t, p, size, c, site, SINK_FLIGHT);
	}
}

/* The site is known, but a row has to be opened or the clock read. */
static SEEP_NOINLINE void alloc_slow(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t site)
{
	verify_site((struct site_id){site}, c);
	if (still_records(t))
		alloc_known(WAY_READY, t, p, size, c, api, RECORDER_NOW, site);
	thread_leave(thread_gate);
}

SEEP_INLINE void alloc_of(struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c,
    enum seg_api api, uint32_t site)
{
	const enum sink sink = sink_of(t);

	if (likely(sink == SINK_NONE ? recorder_book(t, p, size, c, site, SINK_NONE)
	                             : book_into(t, p, size, c, site, sink)))
		recorder_leave(thread_gate, t);
	else
		alloc_slow(t, p, size, c, api, site);
}

SEEP_NOINLINE void recorder_alloc_at(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, struct memo_chunk *e, uint32_t checks)
{
	alloc_of(t, p, size, c, api, memo_site_at(t, c, api, e, checks).v);
}

SEEP_NOINLINE void recorder_alloc_ready(
    struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	alloc_of(t, p, size, c, api, memo_site(t, c, api).v);
}

SEEP_NOINLINE void *recorder_alloc_last(
    void *p, uint64_t size, uint64_t pc, uint64_t sp, uint64_t fp, enum seg_api api)
{
	const struct cpu_frame c = {pc, sp, fp};
	struct thread *t = thread_self;

	alloc_of(t, p, size, &c, api, memo_site(t, &c, api).v);
	return p;
}

/* After a look at the clock. */
static void look_at_sink(struct thread *t)
{
	if (log_is_on)
		log_look(t);
	else if (flight_is_on)
		flight_look(t);
}

SEEP_NOINLINE void *recorder_after(void *p)
{
	struct thread *t = thread_self;

	if (ledger_is_high(t))
		ledger_peak(t);
	if (t->pace.countdown == 0) {
		pace_look(t);
		look_at_sink(t);
	}
	thread_leave(thread_gate);
	return p;
}

/* The site of the block; 0: not recorded. */
SEEP_INLINE uint32_t free_into(struct thread *t, const void *p, const enum sink sink)
{
	struct blocks_found f;
	struct seg_row *row;
	uint32_t age = 0;

	/* one entry more for the stack */
	if (sink == SINK_FLIGHT && t->flight.by && t->flight.at + 2 >= t->flight.end)
		return 0;
	row = recorder_find(t, p, &f, sink);
	if (!row || (sink == SINK_LOG && !log_has_room(t)))
		return 0;
	if (recorder_has_aged(t, &f, sink)) {
		if (!recorder_age(t, &f, sink))
			return 0;
		if (sink == SINK_FLIGHT)
			age = tick_now() - f.block.birth;
	}
	if (sink == SINK_FLIGHT) {
		if (t->flight.by)
			flight_put(t, flight_word(FLIGHT_BY, t->flight.by), (uint64_t)(uintptr_t)p);
		t->flight.by = 0;
	}
	recorder_drop(t, p, &f, row, age, sink);
	return f.block.site;
}

static uint32_t free_hit(struct thread *t, const void *p)
{
	switch (sink_of(t)) {
	case SINK_LOG:
		return free_into(t, p, SINK_LOG);
	case SINK_LOST:
		return free_into(t, p, SINK_LOST);
	case SINK_FLIGHT:
		return free_into(t, p, SINK_FLIGHT);
	default:
		return free_into(t, p, SINK_NONE);
	}
}

SEEP_NOINLINE void recorder_alloc_any(
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api, uint32_t birth)
{
	struct thread *t = NULL;
	enum way way;
	bool counted;

	if (lifecycle_is_out)
		return;
	if (recorder_is_own(thread_gate) && birth == RECORDER_NOW) {
		t = thread_self;
		thread_enter(thread_gate);
		alloc_of(t, p, size, c, api, recorder_site(t, c, api));
		return;
	}
	counted = lifecycle_slow_begins();
	way = way_in(&t);
	if (way == WAY_NONE) {
		lifecycle_passed_by();
	} else if (way == WAY_PAUSED) {
		recorder_passed_by(SEG_PAUSED_EVENTS);
	} else if (way == WAY_CROWDED) {
		recorder_passed_by(SEG_CROWDED_EVENTS);
	} else if (way == WAY_SAMPLED) {
		if (!recorder_misses(thread_gate, size))
			recorder_sample(thread_gate, p, size, c, api, birth);
	} else if (way == WAY_IGNORED) {
		;
	} else if (way == WAY_NESTED) {
		alloc_by(way, t, p, size, c, api, birth);
	} else {
		thread_enter(thread_gate);
		alloc_by(way, t, p, size, c, api, birth);
		thread_leave(thread_gate);
	}
	lifecycle_slow_ends(counted);
}

/*
 * Does the block keep its name in the log if it is resized? A block of the
 * parent has none here, and nor has one whose allocation is not in the log.
 */
static bool keeps_name(struct block_entry b)
{
	return !log_is_on || (log_is_named(b.birth) && !ledger_is_inherited(b.site));
}

/*
 * Why a block goes: freed, or resized, or freed by realloc(p, 0), which is no
 * death for the ages.
 */
enum going { GOING_DIES, GOING_MOVES, GOING_FREED };

static void free_by(
    enum way way, struct thread *t, const void *p, struct block_entry b, enum going going)
{
	uint32_t age;

	if (!b.site) {
		unknown_free(way, t, p);
		return;
	}
	age = tick_now() - log_birth(b.birth);
	if (unlikely(log_is_on) && (going != GOING_MOVES || !keeps_name(b)))
		log_free(way, t, b);
	else if (unlikely(flight_is_on))
		flight_free(way, t, p, b, age, going == GOING_MOVES);
	book_free(way, t, b);
	if (going == GOING_DIES && age)
		ledger_age(way == WAY_NESTED ? NULL : t, b.site, age);
}

/* The thread is in the state of its sink and busy, and has counted down. */
SEEP_NOINLINE void recorder_free_ready(const void *p, uint64_t pc)
{
	struct thread *t = thread_self;
	const bool looks = unlikely(t->pace.countdown == 0);
	uint32_t site = 0;

	if (looks && pace_look(t)) {
		look_at_sink(t);
		site = free_hit(t, p);
	}
	if (!site) {
		struct block_entry b = blocks_take(&t->leaves, (uint64_t)(uintptr_t)p);

		free_by(WAY_READY, t, p, b, GOING_DIES);
		site = b.site;
	}
	if (looks && site)
		ledger_freed_by(site, pc);
	thread_leave(thread_gate);
}

/* A free is recorded while recording is off, too, if it finds a cell. */
static void free_counted(const void *p, struct block_entry b, enum going going, uint64_t pc)
{
	struct thread *t = NULL;
	enum way way = way_in(&t);

	if (b.site && sample_rate())
		sample_remove(p);
	/* if all threads are like this one, nobody else reads the clock */
	if (b.site && way != WAY_READY && way != WAY_SHARED && lifecycle_started())
		tick_read();
	if (way == WAY_NONE || way == WAY_SAMPLED || way == WAY_IGNORED || way == WAY_PAUSED ||
	    way == WAY_CROWDED) {
		if (lifecycle_started())
			free_by(WAY_NESTED, NULL, p, b, going);
		return;
	}
	if (way == WAY_NESTED) {
		if (LOAD(&thread_gate->state) == THREAD_CLOSING)
			module_distrust();
		else
			segment_count(SEG_NESTED_EVENTS, 1);
		free_by(way, t, p, b, going);
		return;
	}
	thread_enter(thread_gate);
	if (--t->pace.countdown == 0) {
		pace_look(t);
		if (b.site)
			ledger_freed_by(b.site, pc);
	}
	free_by(way, t, p, b, going);
	thread_leave(thread_gate);
}

static void free_slow(const void *p, struct block_entry b, enum going going, uint64_t pc)
{
	bool counted = lifecycle_slow_begins();

	free_counted(p, b, going, pc);
	lifecycle_slow_ends(counted);
}

SEEP_NOINLINE void recorder_free_any(const void *p, uint64_t pc)
{
	struct thread *t;

	if (lifecycle_is_out)
		return;
	if (recorder_is_own(thread_gate)) {
		t = thread_self;
		thread_enter(thread_gate);
		if (likely(--t->pace.countdown) && free_hit(t, p))
			thread_leave(thread_gate);
		else
			recorder_free_ready(p, pc);
		return;
	}
	free_slow(p, blocks_take_slow((uint64_t)(uintptr_t)p), GOING_DIES, pc);
}

SEEP_NOINLINE void recorder_free_at(const void *p, const struct cpu_frame *c)
{
	const struct gate *g = thread_gate;
	const uint32_t state = g ? LOAD(&g->state) : 0;

	/* busy states are odd; entries of nested events have no stack */
	if (!(state & 1) && state != THREAD_CLOSING)
		flight_freed_at(recorder_stack(c).v);
	recorder_free_any(p, c->pc);
	flight_freed_at(0);
}

static bool resize_hit(struct thread *t, const void *old, struct block_entry b, const void *p,
    uint64_t size, const struct cpu_frame *c, uint32_t site)
{
	switch (sink_of(t)) {
	case SINK_LOG:
		return recorder_resize_hit(t, old, b, p, size, c, site, SINK_LOG);
	case SINK_LOST:
		return recorder_resize_hit(t, old, b, p, size, c, site, SINK_LOST);
	case SINK_FLIGHT:
		return recorder_resize_hit(t, old, b, p, size, c, site, SINK_FLIGHT);
	default:
		return recorder_resize_hit(t, old, b, p, size, c, site, SINK_NONE);
	}
}

SEEP_NOINLINE void recorder_resize_ready(struct thread *t, const void *old, struct block_entry b,
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	uint32_t site;
	bool records;

	if (!p) { /* realloc(old, 0) */
		free_by(WAY_READY, t, old, b, GOING_FREED);
		thread_leave(thread_gate);
		return;
	}
	site = recorder_site(t, c, api);
	if (likely(b.site) && likely(resize_hit(t, old, b, p, size, c, site))) {
		recorder_leave(thread_gate, t);
		return;
	}
	/* a free and an allocation; the clock first, as in alloc_by() */
	records = still_records(t);
	free_by(WAY_READY, t, old, b, GOING_MOVES);
	if (records)
		alloc_known(WAY_READY, t, p, size, c, api,
		    b.site && keeps_name(b) ? b.birth : RECORDER_NOW, site);
	thread_leave(thread_gate);
}

SEEP_NOINLINE void recorder_resize(const void *old, struct block_entry b, const void *p,
    uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self;
	struct block_entry none;

	if (lifecycle_is_out)
		return;
	if (!p && size) { /* it failed, so the old block lives on */
		if (b.site)
			blocks_put_slow((uint64_t)(uintptr_t)old, b.site, b.size, b.birth, &none);
		return;
	}
	if (likely(recorder_is_own(g))) {
		thread_enter(g);
		recorder_resize_ready(t, old, b, p, size, c, api);
		return;
	}
	if (g && LOAD(&g->state) == THREAD_SAMPLING) {
		if (b.site) {
			sample_remove(old);
			free_by(WAY_SAMPLED, t, old, b, GOING_MOVES);
		}
		if (p && !recorder_misses(g, size))
			recorder_sample(g, p, size, c, api, b.site ? b.birth : RECORDER_NOW);
		return;
	}
	free_slow(old, b, p ? GOING_MOVES : GOING_FREED, 0);
	if (p)
		recorder_alloc_any(
		    p, size, c, api, b.site && keeps_name(b) ? b.birth : RECORDER_NOW);
}

struct site_id recorder_stack(const struct cpu_frame *c)
{
	struct site_id s = {0};
	struct thread *t = NULL;

	enum way way = way_in(&t);

	/* sampled threads have a block from their first sample on */
	if (way == WAY_SAMPLED && !t)
		t = thread_attach();
	if (way == WAY_SAMPLED && !t)
		way = WAY_CROWDED;
	switch (way) {
	case WAY_NONE:
	case WAY_PAUSED:
	case WAY_CROWDED:
		return s;
	case WAY_NESTED:
	case WAY_IGNORED:
		s = nested_site(t, c, SEG_API_NONE);
		break;
	default:
		thread_enter(thread_gate);
		s = memo_site(t, c, SEG_API_NONE);
		if (ledger_is_inherited(s.v)) {
			/* the memo is from before the fork, so look again */
			thread_drop_caches(t);
			s = memo_site(t, c, SEG_API_NONE);
		}
		thread_leave(thread_gate);
		break;
	}
	verify_site(s, c);
	return s;
}

void recorder_forget(struct thread *t)
{
	t->record.expect_free = NULL;
	t->record.paused = 0;
}

void recorder_begin(struct thread *t)
{
	t->nested.taken = 0;
}

void recorder_pause(int by)
{
	bool counted = lifecycle_slow_begins();
	struct thread *t = NULL;

	(void)way_in(&t);
	if (!t && by > 0)
		t = thread_attach();
	if (t && (by > 0 || t->record.paused)) {
		cpu_add_local(&t->record.paused, by);
		lifecycle_poll();
		thread_change_home(lifecycle_mode());
	}
	lifecycle_slow_ends(counted);
}

struct gate *recorder_closing(void)
{
	struct gate *g = thread_gate;
	uint32_t s = g ? thread_home(LOAD(&g->state)) : 0;

	if (s != THREAD_READY && s != THREAD_SHARED && s != THREAD_SAMPLING &&
	    s != THREAD_LOGGING && s != THREAD_FLYING)
		return NULL; /* not set up, off, or inside another dlclose */
	STORE(&g->state, THREAD_CLOSING);
	return g;
}

void recorder_closed(struct gate *g)
{
	if (g && LOAD(&g->state) == THREAD_CLOSING)
		thread_make_ready(lifecycle_mode());
	module_distrust();
}

/* The thread is busy. False: not recorded, and not counted as lost yet. */
static bool take_sample(
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api, uint32_t birth)
{
	struct thread *t = thread_attach();
	struct site_id s;

	if (!t)
		return false;
	s = memo_site(t, c, api);
	verify_site(s, c);
	if (!put_slow(WAY_SAMPLED, t, p, s.v, size, birth_tick(birth)))
		return false;
	sample_enter(p);
	return ledger_sampled_alloc(t, s.v, size);
}

SEEP_NOINLINE void recorder_sample(struct gate *g, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth)
{
	thread_enter(g);
	tick_read();
	if (g->left < 0) {
		g->left = sample_distance(&g->rng);
		if (!take_sample(p, size, c, api, birth))
			segment_count(SEG_LOST_EVENTS, 1);
		thread_lend();
	}
	lifecycle_poll();
	pace_follow_mode(g);
	thread_leave(g);
}

SEEP_NOINLINE void recorder_sampled_free(struct gate *g, const void *p, uint64_t pc)
{
	struct block_entry b = blocks_take_slow((uint64_t)(uintptr_t)p);

	if (!b.site)
		return;
	thread_enter(g);
	tick_read();
	sample_remove(p);
	free_by(WAY_SAMPLED, thread_self, p, b, GOING_DIES);
	ledger_freed_by(b.site, pc);
	thread_leave(g);
}
