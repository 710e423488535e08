/* test_logread.c - the words of a pool: whose they are, and in which order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "session/events/events.h"
#include "session/events/logread.h"
#include "format/seg_log.h"

enum { CHUNKS = 3 };

static uint64_t words[CHUNKS][LOG_CHUNK_WORDS];
static uint32_t at[CHUNKS]; /* where the next word goes */

static uint32_t name(uint32_t chunk, uint32_t index)
{
	return (chunk + 1) << LOG_INDEX_BITS | index;
}

static void begin(uint32_t chunk, uint32_t thread, uint64_t tick)
{
	const struct log_chunk c = {.head = log_word(LOG_CHUNK, chunk + 1),
	    .thread = thread,
	    .tid = thread ? 100 + thread : 0,
	    .tick = tick,
	    .use = 1};

	memset(words[chunk], 0, sizeof(words[chunk]));
	memcpy(words[chunk], &c, sizeof(c));
	at[chunk] = LOG_FIRST;
}

/* Returns its name. */
static uint32_t put(uint32_t chunk, uint64_t word)
{
	words[chunk][at[chunk]] = word;
	return name(chunk, at[chunk]++);
}

/* A thread goes on in the chunk of one that has ended. */
static void go_on(uint32_t chunk, uint32_t thread, uint64_t tick)
{
	(void)put(chunk, log_word(LOG_THREAD, log_thread_payload(thread, 100 + thread)));
	if (tick)
		(void)put(chunk, log_word(LOG_TICK, tick));
}

/* Reads the pool as its recorder does, in `calls` calls. */
static struct logcode read_pool(int calls)
{
	const struct log_head h = {.magic = LOG_MAGIC,
	    .version = LOG_VERSION,
	    .mode = LOG_MODE_EVENTS,
	    .chunk_bytes = LOG_CHUNK_BYTES,
	    .chunk_count = CHUNKS,
	    .tick_ns = LOG_TICK_NS};
	static const uint8_t uuid[16];
	const char *place = getenv("TMPDIR");
	struct logcode c = {0};
	struct logread *r;
	char dir[4096];
	int where, fd;

	(void)snprintf(dir, sizeof(dir), "%s/logread.XXXXXX", place ? place : "/tmp");
	assert_non_null(mkdtemp(dir));
	where = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(where, "x.seg.log", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(where >= 0 && fd >= 0);
	assert_int_equal(pwrite(fd, &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(pwrite(fd, words, sizeof(words), LOG_HEAD_BYTES), sizeof(words));
	assert_int_equal(logread_open(where, "x.seg", 0, uuid, false, &r), 0);
	for (int i = 0; i < calls; i++)
		assert_int_equal(logread_take(r, i == calls - 1, &c), 0);
	logread_close(r);
	assert_int_equal(unlinkat(where, "x.seg.log", 0), 0);
	assert_int_equal(rmdir(dir), 0);
	(void)close(fd);
	(void)close(where);
	return c;
}

struct seen {
	struct {
		uint32_t thread, tid, name;
		uint64_t tick;
		enum events_kind kind;
	} at[64];
	size_t count;
	struct events_sums sums;
};

static int see(void *context, const struct events_event *e)
{
	struct seen *s = context;

	assert_true(s->count < 64);
	s->at[s->count].thread = e->thread;
	s->at[s->count].tid = e->tid;
	s->at[s->count].name = e->name;
	s->at[s->count].tick = e->tick;
	s->at[s->count++].kind = e->kind;
	return 0;
}

static void read_events(struct seen *ret, int calls)
{
	struct logcode c = read_pool(calls);
	struct events *e;

	*ret = (struct seen){0};
	assert_int_equal(events_new(see, ret, &e), 0);
	assert_int_equal(events_feed(e, &c), 0);
	ret->sums = events_sums(e);
	events_free(e);
	logcode_release(&c);
}

TEST(words_behind_another_thread_are_those_of_that_thread)
{
	struct seen s;

	memset(words, 0, sizeof(words));
	begin(0, 1, 3);
	(void)put(0, log_alloc_word(2, 10));
	go_on(0, 2, 4);
	(void)put(0, log_alloc_word(2, 20));
	go_on(0, 7, 9);
	(void)put(0, log_free_word(name(0, LOG_FIRST)));
	for (int calls = 1; calls < 4; calls++) {
		read_events(&s, calls);
		assert_int_equal(s.count, 3);
		assert_int_equal(s.at[0].thread, 1);
		assert_int_equal(s.at[0].tick, 3);
		assert_int_equal(s.at[1].thread, 2);
		assert_int_equal(s.at[1].tid, 102);
		assert_int_equal(s.at[1].tick, 4);
		/* the two words of the other thread have places, too */
		assert_int_equal(s.at[1].name, name(0, LOG_FIRST + 3));
		assert_int_equal(s.at[2].thread, 7);
		assert_int_equal(s.at[2].tick, 9);
		assert_int_equal(s.sums.orphans + s.sums.strange, 0);
	}
}

/* Thread 2 begins in chunk 0, goes on in 1; both have the same tick. */
TEST(the_next_chunk_of_a_thread_waits_for_the_one_that_it_went_on_in)
{
	struct seen s;
	uint32_t first;

	memset(words, 0, sizeof(words));
	begin(0, 1, 5);
	(void)put(0, log_alloc_word(2, 10));
	go_on(0, 2, 6);
	first = put(0, log_alloc_word(2, 20));
	begin(1, 2, 5);
	(void)put(1, log_alloc_word(2, 30));
	(void)put(1, log_free_word(first));
	read_events(&s, 1);
	assert_int_equal(s.count, 4);
	assert_int_equal(s.at[1].name, first);
	assert_int_equal(s.at[2].name, name(1, LOG_FIRST));
	assert_int_equal(s.at[3].kind, EVENTS_FREE);
	assert_int_equal(s.sums.orphans, 0);
}

TEST(a_thread_that_was_killed_between_its_first_two_words_has_no_events)
{
	struct seen s;

	memset(words, 0, sizeof(words));
	begin(0, 1, 5);
	(void)put(0, log_alloc_word(2, 10));
	go_on(0, 2, 0);
	read_events(&s, 2);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.sums.strange, 0);
}

TEST(in_a_chunk_of_several_threads_the_word_has_no_meaning)
{
	struct seen s;

	memset(words, 0, sizeof(words));
	begin(0, 0, 5);
	(void)put(0, log_alloc_word(2, 10));
	go_on(0, 4, 0);
	(void)put(0, log_alloc_word(2, 10));
	(void)put(0, 1); /* neither has a word without a tag */
	(void)put(0, log_alloc_word(2, 10));
	read_events(&s, 2);
	assert_int_equal(s.count, 3);
	for (size_t i = 0; i < s.count; i++)
		assert_int_equal(s.at[i].thread, 0);
	assert_int_equal(s.sums.strange, 2);
}

/* A number of 0, and that of a thread that has an earlier chunk. */
TEST(threads_that_cannot_be_end_nothing)
{
	struct seen s;

	memset(words, 0, sizeof(words));
	begin(0, 1, 5);
	go_on(0, 0, 6);
	(void)put(0, log_alloc_word(2, 10));
	begin(1, 2, 5);
	go_on(1, 3, 6);
	(void)put(1, log_alloc_word(2, 10));
	begin(2, 3, 5);
	go_on(2, 2, 6);
	(void)put(2, log_alloc_word(2, 10));
	for (int calls = 1; calls < 4; calls++) {
		read_events(&s, calls);
		assert_int_equal(s.count, 3);
	}
}
