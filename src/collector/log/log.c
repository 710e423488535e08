/* log.c - the event log: which words an event stores, and where. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/log/log.h"

#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/log/flight.h"
#include "collector/heap/ledger.h"
#include "collector/log/logpool.h"
#include "collector/segment/mem.h"
#include "collector/owner.h"
#include "collector/segment/segment.h"
#include "collector/thread.h"
#include "collector/segment/tick.h"

enum {
	/* of one event, with a tick and a gap before it */
	ROOM_WORDS = LOG_EVENT_WORDS + 2,
	CHUNK_TICKS = 10, /* of SEG_TICK_NS; then a chunk is closed */
	TICKS_IN_TICK = SEG_TICK_NS / LOG_TICK_NS,
	NUMBERS = 1 << LOG_NUMBER_BITS,
	/* kept for births after the end of the log, see void_name() */
	NUMBERS_KEPT = 2048,
	/* of a forked child in its first events */
	EARLY_WORDS = CPU_PAGE / sizeof(uint64_t) * 2,
	EARLY_INDEX = 0xffff, /* as the index of a chunk */
	TRIES = 64,
	PARKED = 8,
	/* words that are clear after a look: for all events until the next */
	CLEAR_AHEAD = 80,
	/* of a thread that takes a parked chunk, before its first event */
	PARKED_WORDS = 3,
};

_Static_assert((int)CHUNK_TICKS < (int)LOG_BIRTH_STEPS, "births of a chunk");
_Static_assert((int)LOG_CHUNKS_MAX < (int)EARLY_INDEX, "indexes of chunks");

bool log_is_on;
uint32_t log_resizes;
struct log_birth *log_births[LOG_BIRTH_LEAVES];

static uint32_t numbers; /* the next one for a chunk */
static uint32_t kept;    /* the next one of NUMBERS_KEPT */
static uint32_t first_number;
static uint64_t void_word; /* number << 32 | tick, see void_name(); 0: none */
static uint32_t threads;   /* that have got a number */
static bool has_addresses;
static bool is_early;   /* a forked child in its first events */
static uint64_t *early; /* EARLY_WORDS */

/*
 * The chunk of nested events and of threads that have no block: index of the
 * chunk << 48 | number << 16 | index of the next word; 0: there is none.
 */
static uint64_t common;

/*
 * Chunks of threads that have ended, for threads that begin: as `common`, 0:
 * none. Otherwise each thread would take a chunk, however short its life is.
 */
static uint64_t parked[PARKED];

/* ---- numbers and births --------------------------------------------------- */

static struct log_birth *birth_of(uint32_t number)
{
	return &log_births[number >> LOG_BIRTH_BITS][number & (LOG_BIRTH_ENTRIES - 1)];
}

static bool open_birth(uint32_t number, uint32_t tick)
{
	struct log_birth **leaf = &log_births[number >> LOG_BIRTH_BITS];

	if (!mem_publish(leaf, sizeof(**leaf) * LOG_BIRTH_ENTRIES))
		return false;
	STORE(&birth_of(number)->first, tick);
	return true;
}

/* A number that no other chunk has. False: the log has ended, or no memory. */
static bool take_number(uint32_t *next, uint32_t end, uint32_t tick, uint32_t *ret)
{
	uint32_t n = LOAD(next);

	do {
		if (n >= end)
			return false;
	} while (!CAS(next, &n, n + 1));
	*ret = n;
	return open_birth(n, tick);
}

static bool has_ended(void)
{
	return LOAD(&numbers) >= NUMBERS - NUMBERS_KEPT;
}

/*
 * What a cell has in place of the birth if the allocation is not in the log: a
 * number for eight ticks, and the tick as an index below LOG_FIRST. When the log
 * has ended, few numbers are left, and a birth is exact to one percent.
 */
static uint32_t void_name(uint32_t tick)
{
	uint64_t v = LOAD_ACQUIRE(&void_word);
	int i;

	for (i = 0; i < TRIES; i++) {
		uint32_t first = (uint32_t)v, since = tick - first, n;
		bool over = has_ended();
		uint32_t span = over && first >> 7 > LOG_FIRST ? first >> 7 : LOG_FIRST;

		if (v && since < span)
			return (uint32_t)(v >> 32) << LOG_INDEX_BITS |
			    (since < LOG_FIRST ? since : LOG_FIRST - 1);
		if (!(over ? take_number(&kept, NUMBERS, tick, &n)
		           : take_number(&numbers, NUMBERS - NUMBERS_KEPT, tick, &n)))
			break;
		if (CAS(&void_word, &v, (uint64_t)n << 32 | tick))
			return n << LOG_INDEX_BITS;
	}
	return (uint32_t)(v >> 32) << LOG_INDEX_BITS | (LOG_FIRST - 1);
}

/* From this index on, blocks of the chunk are born at this tick. */
static void note_tick(uint32_t number, uint32_t index, uint32_t tick)
{
	struct log_birth *b = birth_of(number);
	uint32_t step = tick - LOAD(&b->first);

	while (step > 0 && step <= LOG_BIRTH_STEPS && !LOAD(&b->at[step - 1])) {
		STORE(&b->at[step - 1], (uint16_t)index);
		step--;
	}
}

/* ---- the chunk of a thread ------------------------------------------------ */

/* Does the thread store its words into the log? Else they are lost. */
static bool is_logging(const struct thread *t)
{
	return t->log.base;
}

/* Allocations and frees in these words. */
static uint64_t events_in(const uint64_t *from, const uint64_t *to)
{
	uint64_t n = 0;

	for (; from < to; from++) {
		uint64_t w = *from;

		n += log_tag(w) == LOG_TAG_ALLOC || log_tag(w) == LOG_TAG_FREE ||
		    (log_tag(w) == LOG_TAG_OTHER &&
		        (log_type(w) == LOG_REALLOC || log_type(w) == LOG_INHERITED ||
		            log_type(w) == LOG_UNNAMED));
	}
	return n;
}

static void lose(uint64_t events)
{
	segment_count(SEG_LOG_LOST, events);
}

/* Counts the events that the thread has lost since it did this last. */
static void count_lost(struct thread *t)
{
	const uint32_t n = t->log.lost;

	t->log.lost = 0;
	if (n)
		lose(n);
	t->log.gap += n;
}

static uint32_t index_of(uint32_t name)
{
	return name & LOG_INDEX_MASK;
}

/*
 * Clears the words that come next. Not all of the chunk at once, because that
 * would be more than the first cache of many CPUs holds, and what the host has
 * there would be gone.
 */
static void clear_ahead(struct thread *t)
{
	const uint32_t end = (t->log.number + 1) << LOG_INDEX_BITS;

	while (t->log.clear < end && t->log.clear - t->log.next < CLEAR_AHEAD) {
		cpu_zero(log_word_of(t, t->log.clear), LOG_CLEAR_WORDS);
		t->log.clear += LOG_CLEAR_WORDS;
	}
	/* with addresses, an allocation has two words: not inline */
	if (!has_addresses)
		t->log.limit = t->log.clear - ROOM_WORDS;
}

/* The thread has no chunk; nothing is stored inline. */
static void leave_chunk(struct thread *t)
{
	t->log.base = NULL;
	t->log.origin = 0;
	t->log.next = t->log.limit = t->log.stop = 0;
}

uint32_t log_tid(const struct thread *t)
{
	const struct gate *g = t->gate;

	return g && g->owner ? LOAD(&g->owner->tid) : 0;
}

/*
 * A free chunk with a number, of which so many words are clear. NULL: there is
 * none.
 */
static struct log_chunk *new_chunk(
    uint32_t words, uint32_t tick, uint64_t now, uint32_t *ret_index, uint32_t *ret_number)
{
	struct log_chunk *c = has_ended() ? NULL : logpool_take(words, ret_index);

	if (!c)
		return NULL;
	if (!take_number(&numbers, NUMBERS - NUMBERS_KEPT, tick, ret_number)) {
		logpool_give_back(*ret_index);
		if (has_ended())
			STORE(&segment.header->counts[SEG_LOG_ENDED], 1);
		return NULL;
	}
	c->tick = now;
	return c;
}

static void publish(struct log_chunk *c, uint32_t number)
{
	STORE_RELEASE(&c->head, log_word(LOG_CHUNK, number));
}

static void close_chunk(struct thread *t)
{
	/* the index after the last word of a full chunk is LOG_CHUNK_WORDS */
	logpool_close(t->log.chunk, t->log.next - (t->log.number << LOG_INDEX_BITS));
	leave_chunk(t);
}

/* The thread stores into this chunk from index `at` on. */
static void own_chunk(
    struct thread *t, struct log_chunk *c, uint32_t index, uint32_t number, uint32_t at)
{
	const uint32_t first = number << LOG_INDEX_BITS;

	t->log.chunk = index;
	t->log.number = number;
	t->log.base = (uint64_t *)(void *)c;
	t->log.limit = 0; /* until clear_ahead() */
	t->log.origin = (uint64_t)(uintptr_t)c - first * sizeof(uint64_t);
	t->log.next = first + at;
	t->log.stop = first + LOG_CHUNK_WORDS - ROOM_WORDS;
	t->log.clear = first + LOG_CLEAR_WORDS;
	t->log.loses = false;
}

/* Leaves the chunk of a thread that has ended to one that begins. */
static void park_chunk(struct thread *t)
{
	const uint64_t word =
	    (uint64_t)t->log.chunk << 48 | (uint64_t)t->log.number << 16 | index_of(t->log.next);
	int i;

	for (i = 0; i < PARKED; i++) {
		uint64_t none = 0;

		if (t->log.next + PARKED_WORDS > t->log.stop || !CAS(&parked[i], &none, word))
			continue;
		leave_chunk(t);
		return;
	}
	close_chunk(t);
}

/* The words of this thread go to the chunk of one that has ended. */
static void adopt_chunk(
    struct thread *t, struct log_head *head, uint64_t word, uint32_t tick, uint64_t now)
{
	const uint32_t index = (uint32_t)(word >> 48);
	const uint32_t at = (uint32_t)(word & 0xffff);

	t->log.thread = ADD(&threads, 1) + 1;
	own_chunk(
	    t, logpool_chunk_of(head, index), index, (uint32_t)(word >> 16) & (NUMBERS - 1), at);
	t->log.first = LOAD(&birth_of(t->log.number)->first);
	/* its last thread has cleared at least that much */
	t->log.clear = (t->log.number << LOG_INDEX_BITS) +
	    ((at + ROOM_WORDS + LOG_CLEAR_WORDS - 1) & ~(LOG_CLEAR_WORDS - 1u));
	note_tick(t->log.number, at, tick);
	/* the tick last: without it, the thread before would have this word */
	log_put(t, log_word(LOG_THREAD, log_thread_payload(t->log.thread, log_tid(t))));
	log_put(t, log_word(LOG_TICK, now));
}

/* False: there is none. */
static bool take_parked(struct thread *t, uint32_t tick, uint64_t now)
{
	struct log_head *head = LOAD(&logpool.head);
	int i;

	for (i = 0; head && i < PARKED; i++) {
		uint64_t w = LOAD_ACQUIRE(&parked[i]);

		if (!w || !CAS(&parked[i], &w, 0))
			continue;
		if (tick - LOAD(&birth_of((uint32_t)(w >> 16) & (NUMBERS - 1))->first) <
		    CHUNK_TICKS) {
			adopt_chunk(t, head, w, tick, now);
			return true;
		}
		logpool_close((uint32_t)(w >> 48), (uint32_t)(w & 0xffff));
	}
	return false;
}

/* False: there is none. */
static bool open_new(struct thread *t, uint32_t tick, uint64_t now)
{
	uint32_t index = 0, number = 0;
	struct log_chunk *c = new_chunk(LOG_CLEAR_WORDS, tick, now, &index, &number);

	if (!c)
		return false;
	if (!t->log.thread)
		t->log.thread = ADD(&threads, 1) + 1;
	c->thread = t->log.thread;
	c->tid = log_tid(t);
	publish(c, number);
	own_chunk(t, c, index, number, LOG_FIRST);
	t->log.first = tick;
	return true;
}

/* Says in the log how many events before the next one are not there. */
static void put_gap(struct thread *t)
{
	const uint64_t gap = t->log.gap;

	t->log.gap = 0;
	if (gap)
		log_put(t, log_word(LOG_GAP, gap));
}

static void open_chunk(struct thread *t, uint32_t tick, uint64_t now)
{
	if (!(!t->log.thread && take_parked(t, tick, now)) && !open_new(t, tick, now)) {
		t->log.loses = true;
		return;
	}
	put_gap(t);
}

uint64_t log_time(uint64_t clock_ns, uint32_t tick)
{
	uint64_t now = tick_since(clock_ns) / LOG_TICK_NS;
	uint64_t least = (uint64_t)tick * TICKS_IN_TICK;

	return now > least ? now : least;
}

/*
 * Says in the state of the calling thread whether its events are lost. It is busy,
 * and not in another state, such as SHARED, unless this has changed meanwhile.
 */
static void show_loses(const struct thread *t)
{
	const uint32_t is = t->log.loses ? THREAD_LOSING_BUSY : THREAD_LOGGING_BUSY;
	uint32_t was = is ^ (THREAD_LOSING ^ THREAD_LOGGING);

	if (LOAD(&thread_gate->state) == was)
		CAS(&thread_gate->state, &was, is);
}

/* The time has changed, the chunk is full, or there is none. */
static SEEP_NOINLINE void prepare_anew(struct thread *t, uint32_t tick)
{
	/* a thread that begins may go on in a chunk with later words */
	const uint64_t ns = t->log.thread ? t->pace.clock_ns : tick_read();
	uint64_t now = log_time(ns, tick), since;

	if (now < t->log.time)
		now = t->log.time;
	/* a handler has opened this chunk while an event was about to be lost */
	if (is_logging(t) && unlikely(t->log.lost))
		count_lost(t);
	if (is_logging(t) && (t->log.next > t->log.stop || tick - t->log.first >= CHUNK_TICKS)) {
		close_chunk(t);
		open_chunk(t, tick, now);
	} else if (!is_logging(t) && (!t->log.loses || now != t->log.time)) {
		/* asked once in a tick: the pool may have a chunk again */
		count_lost(t);
		open_chunk(t, tick, now);
	} else if (is_logging(t)) {
		if (tick != t->log.tick)
			note_tick(t->log.number, index_of(t->log.next), tick);
		if (now != t->log.time)
			log_put(t, log_word(LOG_TICK, now));
		put_gap(t);
	}
	if (is_logging(t))
		clear_ahead(t);
	/*
	 * Numbers that are taken from now on are of chunks of this tick, or of
	 * later ones. Not those of NUMBERS_KEPT, which are for many ticks.
	 */
	if (tick != t->log.tick || !t->log.fresh)
		t->log.fresh = has_ended() ? UINT32_MAX : LOAD(&numbers) << LOG_INDEX_BITS;
	if (t->log.loses)
		t->log.lost_name = void_name(tick);
	t->log.tick = tick;
	t->log.time = now;
	/* tick_since() is 0 as long as the clock is behind tick 0 */
	since = tick_since(ns);
	t->log.until = since ? ns - since + (now + 1) * LOG_TICK_NS : 0;
	show_loses(t);
}

/* Makes room for the words of one event, at the present tick. */
static void prepare(struct thread *t)
{
	const uint32_t tick = tick_now();

	if (unlikely(tick != t->log.tick) || unlikely(t->pace.clock_ns >= t->log.until))
		prepare_anew(t, tick);
	else if (!is_logging(t) && likely(t->log.loses))
		show_loses(t); /* it has asked for a chunk in this tick */
	else if (likely(is_logging(t)) && likely(t->log.next <= t->log.stop))
		clear_ahead(t);
	else
		prepare_anew(t, tick);
}

void log_look(struct thread *t)
{
	prepare(t);
}

void log_leave(struct thread *t)
{
	if (flight_is_on)
		flight_leave(t);
	if (!log_is_on)
		return;
	if (is_logging(t))
		park_chunk(t);
	count_lost(t);
	log_forget(t);
}

/*
 * The hook may have been left between any two stores. A word that was reserved
 * and not stored is zero, so all that follows it would never be read: the chunk
 * ends there.
 */
void log_heal(struct thread *t)
{
	uint32_t end = LOG_FIRST;

	if (!log_is_on)
		return;
	count_lost(t);
	if (t->log.base) {
		while (end < LOG_CHUNK_WORDS && LOAD(&t->log.base[end]))
			end++;
		logpool_close(t->log.chunk, end);
	}
	leave_chunk(t);
	t->log.loses = false;
}

void log_forget(struct thread *t)
{
	if (flight_is_on) {
		flight_forget(t);
		return;
	}
	leave_chunk(t);
	t->log.loses = false;
	t->log.lost = t->log.fresh = 0;
	t->log.thread = 0;
	t->log.gap = t->log.time = 0;
}

/* ---- the common chunk ----------------------------------------------------- */

/* `head` was read before the word, see logpool.c. */
static uint64_t *common_words(struct log_head *head, uint64_t word)
{
	return word >> 48 == EARLY_INDEX
	    ? early
	    : (uint64_t *)(void *)logpool_chunk_of(head, (uint32_t)(word >> 48));
}

static uint32_t common_number(uint64_t word)
{
	return (uint32_t)(word >> 16) & (NUMBERS - 1);
}

static bool common_has_room(uint64_t word, uint32_t words, uint32_t tick)
{
	uint32_t end = word >> 48 == EARLY_INDEX ? EARLY_WORDS : LOG_CHUNK_WORDS;

	return word && (uint32_t)(word & 0xffff) + words <= end &&
	    (is_early || tick - LOAD(&birth_of(common_number(word))->first) < CHUNK_TICKS);
}

/* Replaces the common chunk by a new one. False: there is none. */
static bool renew_common(uint64_t old, uint32_t tick, uint64_t now)
{
	uint32_t index = 0, number = 0;
	struct log_chunk *c =
	    is_early ? NULL : new_chunk(LOG_CHUNK_WORDS, tick, now, &index, &number);

	if (!c)
		return false;
	publish(c, number);
	if (!CAS(&common, &old, (uint64_t)index << 48 | (uint64_t)number << 16 | LOG_FIRST)) {
		logpool_give_back(index); /* another thread was faster */
		return true;
	}
	if (old)
		logpool_close((uint32_t)(old >> 48), (uint32_t)(old & 0xffff));
	return true;
}

/* `words` in the common chunk, behind one for the time. */
static uint32_t reserve_common(uint32_t words, struct log_slot *ret)
{
	uint64_t ns = tick_read(), w;
	uint32_t tick = tick_now(), i;
	uint64_t now = log_time(ns, tick);

	for (i = 0; i < TRIES; i++) {
		struct log_head *head = LOAD(&logpool.head);

		w = LOAD_ACQUIRE(&common);
		if (!common_has_room(w, words + 1, tick)) {
			if (!renew_common(w, tick, now))
				break;
			continue;
		}
		if (!CAS(&common, &w, w + words + 1))
			continue;
		ret->at = common_words(head, w) + (w & 0xffff);
		ret->done = &((struct log_chunk *)(void *)common_words(head, w))->done;
		ret->words = words + 1;
		ret->time = log_word(LOG_TICK, now);
		note_tick(common_number(w), (uint32_t)(w & 0xffff), tick);
		return common_number(w) << LOG_INDEX_BITS | (uint32_t)((w & 0xffff) + 1);
	}
	return void_name(tick);
}

/* ---- events --------------------------------------------------------------- */

/* Has the event a thread that logs by itself, or counts what it loses? */
static bool is_own(enum way way, const struct thread *t)
{
	return t && !is_early && (way == WAY_READY || way == WAY_SHARED);
}

/* `words` for an event. Returns the name of the first one. */
static uint32_t reserve(
    enum way way, struct thread *t, uint32_t words, uint32_t events, struct log_slot *ret)
{
	*ret = (struct log_slot){0};
	if (!is_own(way, t))
		return reserve_common(words, ret);
	prepare(t);
	if (!is_logging(t)) {
		ret->lost = &t->log.lost;
		log_lose(t, events);
		return t->log.lost_name;
	}
	ret->at = log_word_of(t, t->log.next);
	ret->words = words;
	t->log.next += words;
	return t->log.next - words;
}

/* The first word last, because it shows a reader that all are there. */
static void store(const struct log_slot *s, const uint64_t *words, uint32_t count)
{
	uint64_t *at = s->at + (s->time ? 1 : 0);
	uint32_t i;

	for (i = count; i-- > 0;)
		STORE_RELEASE(&at[i], words[i]);
	if (s->time)
		STORE_RELEASE(s->at, s->time);
	if (s->done)
		__atomic_fetch_add(s->done, s->words, __ATOMIC_RELEASE);
}

uint32_t log_reserve(
    enum way way, struct thread *t, uint64_t size, uint32_t moved, struct log_slot *ret)
{
	uint32_t words = 1 + (size >= LOG_LARGE) + has_addresses + (moved != UINT32_MAX);
	uint32_t name = reserve(way, t, words, 1 + (moved != UINT32_MAX), ret);

	ret->moved = moved;
	return moved != UINT32_MAX ? moved : name;
}

void log_store(const struct log_slot *s, uint32_t site, uint64_t size, const void *p)
{
	uint64_t words[LOG_EVENT_WORDS];
	const bool moves = s->moved != UINT32_MAX;
	uint32_t n = 0;

	if (s->lost) {
		if (!site) /* it is no event at all */
			*s->lost -= 1 + moves;
		return;
	}
	if (!s->at) {
		lose(site ? 1 + moves : 0);
		return;
	}
	if (!site) {
		uint32_t count = s->words - (s->time ? 1 : 0);

		while (n < count)
			words[n++] = log_word(LOG_NOTHING, 0);
		store(s, words, n);
		return;
	}
	if (moves)
		words[n++] = log_word(LOG_REALLOC, log_realloc_payload(s->moved, log_next_stamp()));
	words[n++] = log_alloc_word(site, size);
	if (size >= LOG_LARGE)
		words[n++] = log_word(LOG_SIZE, size);
	if (has_addresses)
		words[n++] = log_word(LOG_ADDRESS, (uint64_t)(uintptr_t)p);
	store(s, words, n);
}

void log_free(enum way way, struct thread *t, struct block_entry b)
{
	const bool inherited = ledger_is_inherited(b.site);
	const bool named = !inherited && log_is_named(b.birth);
	const uint64_t words[2] = {named
	        ? log_free_word(b.birth)
	        : log_word(inherited ? LOG_INHERITED : LOG_UNNAMED, b.site),
	    log_word(LOG_SIZE, b.size)};
	struct log_slot s;

	(void)reserve(way, t, named ? 1 : 2, 1, &s);
	if (s.at)
		store(&s, words, named ? 1 : 2);
	else if (!s.lost)
		lose(1);
}

/* ---- life ----------------------------------------------------------------- */

/* Says in the header why there is no log. */
static void lack(enum seg_log_lack why, uint32_t error)
{
	struct seg_header *h = segment.header;

	h->log_lack = why;
	h->log_lack_error = error;
	if (why != SEG_LOG_LACK_NONE)
		h->log_state = SEG_LOG_NO_POOL;
}

static void describe(void)
{
	struct seg_header *h = segment.header;

	h->log_births = (uint64_t)(uintptr_t)log_births;
	h->log_pool = logpool_number();
	lack(SEG_LOG_LACK_NONE, 0);
	h->log_state = logpool.head ? SEG_LOG_ON : SEG_LOG_NO_POOL;
}

void log_start(void)
{
	segment.header->log_lack = config.log_lack;
	if (config.log_last)
		flight_start();
	if (!config.log || config.log_last)
		return;
	numbers = 1; /* 0 is no number of a chunk */
	kept = NUMBERS - NUMBERS_KEPT;
	if (!logpool.head || !open_birth(0, 0)) {
		lack(logpool.head ? SEG_LOG_LACK_MEMORY : logpool_lack.why, logpool_lack.error);
		segment.header->log_state = SEG_LOG_NO_POOL;
		return;
	}
	has_addresses = config.log == LOG_MODE_ADDRESSES;
	log_is_on = true;
	first_number = numbers;
	describe();
	logpool_publish(first_number, segment.header->start_monotonic_ns);
}

/* Events go to `early`, as if it were the common chunk. */
void log_restart(void)
{
	uint32_t number, i;

	if (flight_is_on)
		flight_restart();
	if (!log_is_on)
		return;
	void_word = common = 0;
	threads = 0;
	for (i = 0; i < PARKED; i++)
		parked[i] = 0;
	is_early = true;
	first_number = LOAD(&numbers);
	describe();
	lack(SEG_LOG_LACK_EARLY, 0);
	if (!early)
		early = mem_alloc(EARLY_WORDS * sizeof(*early));
	if (!early || !take_number(&numbers, NUMBERS - NUMBERS_KEPT, 0, &number))
		return;
	for (i = 0; i < EARLY_WORDS; i++)
		STORE(&early[i], 0);
	common = (uint64_t)EARLY_INDEX << 48 | (uint64_t)number << 16 | LOG_FIRST;
}

/* Copies what the child has stored so far into a chunk of its pool. */
static void move_early(void)
{
	uint32_t end = (uint32_t)(common & 0xffff), index, i;
	uint32_t number = common_number(common);
	struct log_chunk *c;
	uint64_t *to;

	if (!common || end <= LOG_FIRST)
		return;
	c = logpool.head ? logpool_take(LOG_CHUNK_WORDS, &index) : NULL;
	if (!c) {
		lose(events_in(early + LOG_FIRST, early + end));
		return;
	}
	to = (uint64_t *)(void *)c;
	for (i = LOG_FIRST; i < end; i++)
		STORE(&to[i], early[i]);
	STORE(&c->done, end - LOG_FIRST);
	publish(c, number);
	logpool_close(index, end);
}

void log_move(void)
{
	if (flight_is_on)
		flight_move();
	if (!log_is_on || !is_early)
		return;
	if (logpool.head) {
		logpool_publish(first_number, segment.header->start_monotonic_ns);
		describe();
	} else {
		lack(SEG_LOG_LACK_CHILD, 0);
	}
	move_early();
	common = 0;
	is_early = false;
}

void log_end(void)
{
	struct thread *t;

	if (!log_is_on)
		return;
	for (t = thread_first(); t; t = t->next) {
		const uint32_t n = t->log.lost;

		t->log.lost = 0;
		if (n)
			lose(n);
	}
}
