/* test_compose.c - scripts of replays: complete, in order, and without a deadlock, whatever the log is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "session/events/events.h"
#include "replay/compose.h"
#include "format/seg_log.h"

/* ---- logs ---- */

static uint64_t seed;

static uint64_t chance(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

struct log {
	struct logcode code;
	uint32_t next[4096]; /* index of the next word of chunk i */
	uint32_t last;       /* chunk of the last run */
};

static void log_begin(struct log *l)
{
	memset(l, 0, sizeof(*l));
	l->code.head =
	    (struct logcode_head){.uuid = {1}, .version = 1, .mode = LOG_MODE_EVENTS, .pid = 100};
	for (size_t i = 0; i < sizeof(l->next) / sizeof(l->next[0]); i++)
		l->next[i] = LOG_FIRST;
	l->last = UINT32_MAX;
}

/* Appends a word of a thread, whose chunk has the same number. Its name. */
static uint32_t log_add(struct log *l, uint32_t thread, uint64_t tick, uint64_t word)
{
	if (l->last != thread) {
		const struct logcode_run run = {.number = thread,
		    .index = l->next[thread],
		    .thread = thread,
		    .tid = 99 + thread,
		    .tick = tick};

		assert_int_equal(logcode_add_run(&l->code, &run), 0);
		l->last = thread;
	}
	assert_int_equal(logcode_add_word(&l->code, word), 0);
	return (thread << LOG_INDEX_BITS) + l->next[thread]++;
}

static void log_time(struct log *l, uint32_t thread, uint64_t tick)
{
	(void)log_add(l, thread, tick, log_word(LOG_TICK, tick));
}

/* ---- scripts ---- */

struct made {
	struct log_threads threads;
	struct compose *compose;
	struct compose_facts facts;
	int fd, result;
};

static int feed(const struct log *l, events_each *each, void *context)
{
	struct events *e;
	int err;

	assert_int_equal(events_new(each, context, &e), 0);
	err = events_feed(e, &l->code);
	events_free(e);
	return err;
}

static void make(struct made *m, const struct log *l, uint64_t live_max, uint64_t events_max)
{
	struct compose_options o = {
	    .events_max = events_max, .live_max = live_max, .with_time = true};

	memset(m, 0, sizeof(*m));
	m->threads.events_max = events_max;
	assert_int_equal(feed(l, log_threads_count, &m->threads), 0);
	o.threads = log_threads_most(&m->threads, 0);
	assert_non_null(o.threads);
	assert_int_equal(compose_new(&o, &m->compose), 0);
	assert_int_equal(feed(l, compose_event, m->compose), 0);
	m->result = compose_finish(m->compose, &m->facts, &m->fd);
}

static void unmake(struct made *m, struct log *l)
{
	compose_free(m->compose);
	log_threads_release(&m->threads);
	logcode_release(&l->code);
}

/* ---- a performer that takes one step of any thread at a time ---- */

struct actor {
	bool is_open;
	uint64_t at; /* of the next word in the file */
	uint32_t window;
	uint64_t time;
};

struct play {
	int fd;
	struct script_head head;
	struct actor *actors;
	uint32_t *windows, *left;
	uint32_t open_window;
	struct slot {
		uint16_t turn;
		bool is_full;
		uint64_t size;
	} * slots;
	uint64_t allocations, frees, reallocs, live_bytes, live_blocks, spawned;
};

static uint64_t word_at(const struct play *p, uint64_t at)
{
	uint64_t word;

	assert_int_equal(pread(p->fd, &word, 8, (off_t)(at * 8)), 8);
	return word;
}

static void play_begin(struct play *p, int fd)
{
	memset(p, 0, sizeof(*p));
	p->fd = fd;
	assert_int_equal(pread(fd, &p->head, sizeof(p->head), 0), sizeof(p->head));
	assert_int_equal(p->head.magic, SCRIPT_MAGIC);
	assert_true(p->head.carriers <= SCRIPT_CARRIERS_MAX);
	p->actors = calloc(p->head.carriers, sizeof(*p->actors));
	p->slots = calloc(p->head.slots + 1, sizeof(*p->slots));
	p->windows = calloc(p->head.windows, sizeof(*p->windows));
	p->left = calloc(p->head.windows, sizeof(*p->left));
	assert_int_equal(pread(fd, p->windows, p->head.windows * 4, (off_t)p->head.windows_at),
	    p->head.windows * 4);
	p->actors[0] = (struct actor){.is_open = true, .at = p->head.main_at, .window = UINT32_MAX};
}

static void play_end(struct play *p)
{
	free(p->actors);
	free(p->slots);
	free(p->windows);
	free(p->left);
}

static void leave(struct play *p, struct actor *a)
{
	if (a->window == UINT32_MAX)
		return;
	assert_true(a->window < p->head.windows);
	p->left[a->window]++;
	a->window = UINT32_MAX;
	while (p->open_window < p->head.windows &&
	    p->left[p->open_window] >= p->windows[p->open_window])
		p->open_window++;
}

/* False: it is not this word's turn yet. */
static bool step_block(struct play *p, struct actor *a, uint64_t word)
{
	struct slot *s = &p->slots[script_slot(word)];
	enum script_op op = script_op(word);
	uint64_t size = script_size(word), at = a->at + 1;

	assert_true(script_slot(word) < p->head.slots);
	if (s->turn != script_turn(word))
		return false;
	s->turn++;
	if (op == SCRIPT_FREE) {
		assert_true(s->is_full);
		s->is_full = false;
		p->frees++;
		p->live_bytes -= s->size;
		p->live_blocks--;
		a->at = at;
		return true;
	}
	if (size == SCRIPT_LARGE)
		size = word_at(p, at++);
	if (op == SCRIPT_REALLOC) {
		assert_true(s->is_full);
		assert_int_equal(word_at(p, at++), s->size);
		p->reallocs++;
		p->live_bytes -= s->size;
	} else {
		assert_false(s->is_full);
		s->is_full = true;
		p->allocations++;
		p->live_blocks++;
		at += op == SCRIPT_ALIGNED;
	}
	s->size = size;
	p->live_bytes += size;
	a->at = at;
	return true;
}

static bool step(struct play *p, struct actor *a)
{
	uint64_t word = word_at(p, a->at), payload = script_payload(word);
	struct actor *other;

	switch (script_op(word)) {
	case SCRIPT_END:
		leave(p, a);
		a->is_open = false;
		return true;
	case SCRIPT_JUMP:
		assert_true(payload > a->at);
		a->at = payload;
		return true;
	case SCRIPT_WINDOW:
		assert_true(payload < p->head.windows);
		leave(p, a);
		if (p->open_window + 1 < payload)
			return false;
		a->window = (uint32_t)payload;
		break;
	case SCRIPT_TIME:
		assert_true(payload > a->time);
		a->time = payload;
		break;
	case SCRIPT_SPAWN:
		assert_true(payload > 0 && payload < p->head.carriers);
		assert_ptr_equal(a, &p->actors[0]);
		other = &p->actors[payload];
		if (other->is_open)
			return false; /* it joins the thread before */
		*other = (struct actor){
		    .is_open = true, .at = word_at(p, a->at + 1), .window = UINT32_MAX};
		p->spawned++;
		a->at++;
		break;
	default:
		return step_block(p, a, word);
	}
	a->at++;
	return true;
}

/* Performs the whole script; threads go on in any order, for any time. */
static void play_all(struct play *p)
{
	for (;;) {
		uint32_t first = (uint32_t)chance(p->head.carriers);
		bool has_open = false, has_moved = false;

		for (uint32_t i = 0; i < p->head.carriers; i++) {
			struct actor *a = &p->actors[(first + i) % p->head.carriers];
			uint64_t steps = 1 + chance(40);

			while (a->is_open && steps-- > 0 && step(p, a))
				has_moved = true;
			has_open |= a->is_open;
		}
		if (!has_open)
			return;
		assert_true(has_moved); /* else they wait for each other */
	}
}

static void check(struct made *m)
{
	struct play p;

	assert_int_equal(m->result, 0);
	play_begin(&p, m->fd);
	play_all(&p);
	assert_int_equal(p.allocations, m->facts.allocations);
	assert_int_equal(p.frees, m->facts.frees);
	assert_int_equal(p.reallocs, m->facts.reallocs);
	assert_int_equal(p.live_bytes, m->facts.end_bytes);
	assert_int_equal(p.live_blocks, m->facts.end_blocks);
	assert_int_equal(p.open_window, p.head.windows);
	assert_true(p.spawned + 1 + m->facts.sharing >= m->facts.threads);
	play_end(&p);
}

/* ---- tests ---- */

/* What threads do to blocks of any of them, sound or not. */
static void random_log(struct log *l, uint32_t threads, unsigned count, unsigned sound)
{
	uint32_t names[512] = {0};
	uint64_t tick = 1;

	log_begin(l);
	for (unsigned i = 0; i < count; i++) {
		uint32_t thread = 1 + (uint32_t)chance(threads);
		uint64_t k = chance(512);

		if (l->next[thread] + 8 >= LOG_CHUNK_WORDS)
			continue;
		if (chance(100) == 0) {
			tick += chance(5);
			log_time(l, thread, tick);
		}
		if (names[k] == 0) {
			names[k] = log_add(l, thread, tick, log_alloc_word(1, chance(100000)));
		} else if (chance(4) == 0) {
			(void)log_add(l, thread, tick,
			    log_word(LOG_REALLOC, log_realloc_payload(names[k], i)));
			(void)log_add(l, thread, tick, log_alloc_word(1, chance(1000)));
		} else {
			(void)log_add(l, thread, tick, log_free_word(names[k]));
			names[k] = chance(100) < sound ? 0 : (uint32_t)chance(UINT32_C(1) << 31);
		}
	}
}

TEST(any_threads_and_any_order_end)
{
	for (unsigned i = 0; i < 40; i++) {
		struct log l;
		struct made m;

		seed = i;
		random_log(&l, 1 + (uint32_t)chance(i % 4 == 0 ? 200 : 8), 20000, 100);
		make(&m, &l, UINT64_MAX, UINT64_MAX);
		assert_int_equal(m.facts.unknown, 0);
		check(&m);
		unmake(&m, &l);
	}
}

TEST(frees_of_what_is_not_there_are_left_out)
{
	for (unsigned i = 0; i < 20; i++) {
		struct log l;
		struct made m;

		seed = 1000 + i;
		random_log(&l, 8, 20000, 50);
		make(&m, &l, UINT64_MAX, UINT64_MAX);
		assert_true(m.facts.unknown > 0);
		check(&m);
		unmake(&m, &l);
	}
}

TEST(blocks_without_memory_are_left_out)
{
	struct log l;
	struct made m;
	uint32_t huge, small;

	log_begin(&l);
	huge = log_add(&l, 1, 0, log_alloc_word(1, LOG_LARGE));
	(void)log_add(&l, 1, 0, log_word(LOG_SIZE, UINT64_C(1) << 55));
	small = log_add(&l, 1, 0, log_alloc_word(1, 600));
	(void)log_add(&l, 1, 0, log_alloc_word(1, 600));
	/* a realloc beyond the limit ends the block */
	(void)log_add(&l, 1, 0, log_word(LOG_REALLOC, log_realloc_payload(small, 0)));
	(void)log_add(&l, 1, 0, log_alloc_word(1, 1001));
	(void)log_add(&l, 1, 0, log_free_word(huge));
	(void)log_add(&l, 1, 0, log_free_word(small));
	make(&m, &l, 1000, UINT64_MAX);
	assert_int_equal(m.facts.too_large, 3);
	assert_int_equal(m.facts.allocations, 1);
	assert_int_equal(m.facts.frees, 1);
	assert_int_equal(m.facts.unknown, 0);
	assert_int_equal(m.facts.peak_bytes, 600);
	check(&m);
	unmake(&m, &l);
}

TEST(more_threads_than_carriers_share_them)
{
	struct log l;
	struct made m;

	log_begin(&l);
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t i = 1; i <= 3000; i++)
			(void)log_add(&l, i, 0, log_alloc_word(1, 10));
	make(&m, &l, UINT64_MAX, UINT64_MAX);
	assert_int_equal(m.facts.threads, 3000);
	assert_int_equal(m.facts.at_once, SCRIPT_CARRIERS_MAX);
	assert_int_equal(m.facts.sharing, 3000 - SCRIPT_CARRIERS_MAX);
	check(&m);
	unmake(&m, &l);
}

TEST(threads_one_after_the_other_use_one_carrier)
{
	struct log l;
	struct made m;

	log_begin(&l);
	(void)log_add(&l, 1, 0, log_alloc_word(1, 10));
	for (uint32_t i = 2; i <= 3000; i++) {
		uint32_t name = log_add(&l, i, 0, log_alloc_word(1, 10));

		(void)log_add(&l, i, 0, log_free_word(name));
	}
	make(&m, &l, UINT64_MAX, UINT64_MAX);
	assert_int_equal(m.facts.threads, 3000);
	assert_int_equal(m.facts.at_once, 2);
	check(&m);
	unmake(&m, &l);
}

/* One thread allocates, another frees: slots do not become more and more. */
TEST(slots_are_used_again)
{
	struct log l;
	struct made m;
	struct script_head head;

	log_begin(&l);
	for (unsigned i = 0; i < 200000; i++) {
		uint32_t from = 1 + 2 * (i / 8000), to = from + 1;
		uint32_t name = log_add(&l, from, i / 1000, log_alloc_word(1, 10));

		(void)log_add(&l, to, i / 1000, log_free_word(name));
	}
	make(&m, &l, UINT64_MAX, UINT64_MAX);
	assert_int_equal(m.facts.allocations, 200000);
	assert_int_equal(pread(m.fd, &head, sizeof(head), 0), sizeof(head));
	assert_true(head.slots < 30000);
	check(&m);
	unmake(&m, &l);
}

TEST(the_first_events_alone)
{
	struct log l;
	struct made m;

	seed = 5;
	random_log(&l, 4, 5000, 100);
	make(&m, &l, UINT64_MAX, 777);
	assert_int_equal(m.facts.allocations + m.facts.frees + m.facts.reallocs, 777);
	check(&m);
	unmake(&m, &l);
}

TEST(a_log_without_allocations_is_refused)
{
	struct log l;
	struct made m;

	log_begin(&l);
	(void)log_add(&l, 1, 0, log_free_word(12345));
	make(&m, &l, UINT64_MAX, UINT64_MAX);
	assert_int_equal(m.result, -ENODATA);
	unmake(&m, &l);
}
