/* test_events.c - events of a log, its index, moments and lifetimes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "session/events/events.h"
#include "session/events/logblocks.h"
#include "session/events/logread.h"
#include "view/sites/ages.h"
#include "format/seg_log.h"

enum { ENTRIES = 12, ENTRY_EVENTS = 7000, LONG_LIVED = 400, SHORT = 40 };

static uint64_t seed = 88172645463325252;

static uint32_t chance(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed % below);
}

/* A log that is being written: one chunk after the other. */
struct maker {
	uint32_t number, index;
	uint64_t tick;
	uint32_t kept[LONG_LIVED], recent[SHORT];
};

static uint32_t add(struct maker *m, struct logcode *c, uint64_t word)
{
	uint32_t name;

	if (m->index >= LOG_CHUNK_WORDS - 8) {
		m->number++;
		m->index = LOG_FIRST;
	}
	if (c->head.runs == 0 || m->index == LOG_FIRST ||
	    c->runs[c->head.runs - 1].number != m->number) {
		const struct logcode_run run = {.number = m->number,
		    .index = m->index,
		    .thread = 1 + m->number % 3,
		    .tick = m->tick};

		assert_int_equal(logcode_add_run(c, &run), 0);
	}
	name = (m->number << LOG_INDEX_BITS) + m->index++;
	assert_int_equal(logcode_add_word(c, word), 0);
	return name;
}

static uint32_t add_alloc(struct maker *m, struct logcode *c)
{
	return add(m, c, log_alloc_word(1 + chance(20), chance(5000)));
}

/* Frees, resizes or keeps the block in a slot. */
static void turn(struct maker *m, struct logcode *c, uint32_t *slot)
{
	/* the words of one event are in one chunk */
	if (m->index >= LOG_CHUNK_WORDS - 10)
		m->index = LOG_CHUNK_WORDS;
	if (*slot && chance(4) == 0) {
		(void)add(m, c, log_word(LOG_REALLOC, *slot));
		(void)add_alloc(m, c);
		return;
	}
	if (*slot)
		(void)add(m, c, log_free_word(*slot));
	*slot = add_alloc(m, c);
}

static void make_entry(struct maker *m, struct logcode *c)
{
	memset(c, 0, sizeof(*c));
	c->head.version = LOGCODE_VERSION;
	c->head.uuid[0] = 7;
	c->head.first_tick = m->tick;
	for (int i = 0; i < ENTRY_EVENTS; i++) {
		if (chance(500) == 0)
			(void)add(m, c, log_word(LOG_TICK, ++m->tick));
		if (chance(3000) == 0)
			(void)add(m, c, log_word(LOG_GAP, 3));
		if (chance(20) == 0)
			turn(m, c, &m->kept[chance(LONG_LIVED)]);
		else
			turn(m, c, &m->recent[chance(SHORT)]);
	}
	c->head.last_tick = m->tick;
}

static void make_log(struct logcode log[ENTRIES])
{
	struct maker m = {.number = 1, .index = LOG_FIRST};

	for (int i = 0; i < ENTRIES; i++)
		make_entry(&m, &log[i]);
}

static void release_log(struct logcode log[ENTRIES])
{
	for (int i = 0; i < ENTRIES; i++)
		logcode_release(&log[i]);
}

/* The index as a reader gets it; `bytes` for free(). */
static bool index_of(const struct logcode *c, unsigned char **bytes, struct logindex *ret)
{
	struct logindex_head head;
	unsigned char *rest = NULL;
	size_t len = 0;
	int got = logindex_build(c, &head, &rest, &len);

	*bytes = NULL;
	assert_true(got >= 0);
	if (got == 0)
		return false;
	*bytes = malloc(sizeof(head) + len);
	assert_non_null(*bytes);
	memcpy(*bytes, &head, sizeof(head));
	memcpy(*bytes + sizeof(head), rest, len);
	free(rest);
	assert_int_equal(logindex_open(ret, *bytes, sizeof(head) + len), 0);
	return true;
}

static struct events *begin(events_each *each, void *context)
{
	struct events *e;

	assert_int_equal(events_new(each, context, &e), 0);
	events_count_sites(e);
	return e;
}

static void assert_same(const struct events *a, const struct events *b)
{
	const uint8_t uuid[16] = {7};
	struct events_process x, y;
	const struct logblocks_block *block;
	const struct logindex_site *row;
	size_t at = 0;

	assert_true(events_process(a, uuid, &x));
	assert_true(events_process(b, uuid, &y));
	assert_memory_equal(&x.sums, &y.sums, sizeof(x.sums));
	assert_int_equal(x.blocks->count, y.blocks->count);
	while ((block = logblocks_next(x.blocks, &at))) {
		const struct logblocks_block *other = logblocks_find(y.blocks, block->name);

		assert_non_null(other);
		assert_int_equal(block->site, other->site);
		assert_int_equal(block->size, other->size);
		assert_int_equal(block->born, other->born);
	}
	at = 0;
	while ((row = logsites_next(x.sites, &at)))
		assert_memory_equal(row,
		    logsites_row((struct logsites *)(uintptr_t)y.sites, row->site), sizeof(*row));
	assert_int_equal(x.sites->count, y.sites->count);
}

TEST(an_index_says_what_its_entry_says)
{
	struct logcode log[ENTRIES];

	for (int round = 0; round < 20; round++) {
		struct events *all = begin(NULL, NULL);
		struct events *some = begin(NULL, NULL);
		int skipped = 0;

		make_log(log);
		for (int i = 0; i < ENTRIES; i++) {
			unsigned char *bytes;
			struct logindex x;

			assert_int_equal(events_feed(all, &log[i]), 0);
			if (chance(2) && index_of(&log[i], &bytes, &x)) {
				assert_int_equal(events_skip(some, &x), 0);
				free(bytes);
				skipped++;
			} else {
				assert_int_equal(events_feed(some, &log[i]), 0);
			}
			assert_same(all, some);
		}
		assert_true(skipped > 0);
		events_free(all);
		events_free(some);
		release_log(log);
	}
}

/* An index that is large, or of words that contradict each other. */
TEST(no_index_where_it_would_not_help)
{
	struct maker m = {.number = 1, .index = LOG_FIRST};
	struct logindex_head head;
	struct logcode c = {0};
	unsigned char *bytes = NULL;
	uint32_t name = 0;
	size_t len;

	for (int i = 0; i < 20000; i++)
		name = add_alloc(&m, &c);
	assert_int_equal(logindex_build(&c, &head, &bytes, &len), 0);
	logcode_release(&c);
	for (int i = 0; i < 100; i++) {
		name = add_alloc(&m, &c);
		(void)add(&m, &c, log_free_word(name));
	}
	assert_int_equal(logindex_build(&c, &head, &bytes, &len), 1);
	free(bytes);
	for (int i = 0; i < 20000; i++)
		(void)add(&m, &c, log_free_word(name)); /* again and again */
	assert_int_equal(logindex_build(&c, &head, &bytes, &len), 0);
	logcode_release(&c);
}

TEST(an_index_with_odd_lengths_is_refused)
{
	struct logcode log[ENTRIES];
	struct logindex x;
	unsigned char *bytes;
	struct logindex_head *h;
	size_t len;

	make_log(log);
	assert_true(index_of(&log[3], &bytes, &x));
	len = sizeof(x.head) + x.head.sites * sizeof(*x.sites) +
	    (x.head.born + x.head.moved) * sizeof(*x.born) + x.head.gone * sizeof(*x.gone);
	h = (void *)bytes;
	assert_int_equal(logindex_open(&x, bytes, len), 0);
	for (size_t cut = 0; cut < len; cut += 1 + len / 50)
		assert_int_equal(logindex_open(&x, bytes, cut), -EBADMSG);
	h->gone = UINT32_MAX;
	assert_int_equal(logindex_open(&x, bytes, len), -EBADMSG);
	h->gone = 0;
	h->sites = h->born = h->moved = UINT32_MAX;
	assert_int_equal(logindex_open(&x, bytes, len), -EBADMSG);
	h->version = 2;
	assert_int_equal(logindex_open(&x, bytes, len), -ENOTSUP);
	free(bytes);
	release_log(log);
}

/* Whatever an index says, applying it is safe. */
TEST(a_hostile_index_does_no_harm)
{
	struct logindex_site sites[3] = {
	    {.site = UINT32_MAX, .allocated_bytes = UINT64_MAX, .frees = UINT64_MAX},
	    {.site = UINT32_MAX, .allocated_bytes = UINT64_MAX}, {.site = 0}};
	struct logindex_block born[3] = {
	    {.name = 0, .size = UINT64_MAX}, {.name = 9, .tick = UINT64_MAX}, {.name = 9}};
	struct logindex_block moved[2] = {{.name = 0}, {.name = UINT32_MAX}};
	uint32_t gone[3] = {0, 9, UINT32_MAX};
	const struct logindex x = {.head = {.log = {.uuid = {7}, .last_tick = UINT64_MAX},
	                               .sites = 3,
	                               .born = 3,
	                               .moved = 2,
	                               .gone = 3,
	                               .lost = UINT64_MAX},
	    .sites = sites,
	    .born = born,
	    .moved = moved,
	    .gone = gone};
	const uint8_t uuid[16] = {7};
	struct events_process p;
	struct events *e = begin(NULL, NULL);

	for (int i = 0; i < 3; i++)
		assert_int_equal(events_skip(e, &x), 0);
	assert_true(events_process(e, uuid, &p));
	assert_int_equal(p.blocks->count, 2);
	assert_int_equal(p.sums.lost, UINT64_MAX);
	assert_int_equal(events_time_ms(&x.head.log, UINT64_MAX, 0), UINT64_MAX / 1000000);
	events_free(e);
}

/* What was told to a listener that forgets what is later than a tick. */
struct listener {
	uint64_t until;
	int64_t live;
};

static int listen(void *context, const struct events_event *ev)
{
	struct listener *l = context;

	assert_true(ev->tick <= l->until);
	l->live += ev->kind == EVENTS_ALLOC;
	l->live -= ev->kind == EVENTS_FREE;
	return 0;
}

/* Allocations and frees, with those that were left out. */
static uint64_t seen(const struct events *e)
{
	const uint8_t uuid[16] = {7};
	struct events_process p;

	assert_true(events_process(e, uuid, &p));
	return p.sums.allocations + p.sums.frees + p.sums.unlogged + p.left_out;
}

TEST(a_moment_is_the_same_with_and_without_the_index)
{
	struct events *uncut = begin(NULL, NULL);
	struct logcode log[ENTRIES];
	uint64_t whole;

	make_log(log);
	for (int i = 0; i < ENTRIES; i++)
		assert_int_equal(events_feed(uncut, &log[i]), 0);
	whole = seen(uncut);
	events_free(uncut);
	for (uint64_t until = 0; until <= log[ENTRIES - 1].head.last_tick + 1; until += 3) {
		struct listener l = {.until = until};
		struct events *all = begin(listen, &l);
		struct events *some = begin(NULL, NULL);
		const uint8_t uuid[16] = {7};
		struct events_process p;

		events_cut(all, 0, until * 10);
		events_cut(some, 0, until * 10);
		for (int i = 0; i < ENTRIES; i++) {
			unsigned char *bytes;
			struct logindex x;

			assert_int_equal(events_feed(all, &log[i]), 0);
			if ((log[i].head.first_tick <= until && log[i].head.last_tick > until) ||
			    !index_of(&log[i], &bytes, &x)) {
				assert_int_equal(events_feed(some, &log[i]), 0);
				continue;
			}
			if (log[i].head.first_tick > until)
				assert_int_equal(events_drop(some, &x), 0);
			else
				assert_int_equal(events_skip(some, &x), 0);
			free(bytes);
		}
		assert_same(all, some);
		/* what was left out is counted, by the index as well */
		assert_int_equal(seen(all), whole);
		assert_int_equal(seen(some), whole);
		assert_true(events_process(some, uuid, &p));
		assert_int_equal(p.is_whole, until >= log[ENTRIES - 1].head.last_tick);
		assert_int_equal(l.live, p.blocks->count);
		events_free(all);
		events_free(some);
	}
	release_log(log);
}

/* ---- lifetimes ---- */

struct seen {
	uint32_t between[8];
	bool same[8];
	size_t count;
};

static int note_free(void *context, const struct events_event *ev)
{
	struct seen *s = context;

	if (ev->kind != EVENTS_FREE && ev->kind != EVENTS_REALLOC)
		return 0;
	assert_true(s->count < 8);
	s->between[s->count] = ev->between;
	s->same[s->count++] = ev->is_same_thread;
	return 0;
}

static void add_to(struct logcode *c, uint32_t thread, uint32_t number, uint32_t index)
{
	const struct logcode_run run = {.number = number, .index = index, .thread = thread};

	assert_int_equal(logcode_add_run(c, &run), 0);
}

TEST(allocations_of_the_same_thread_are_counted)
{
	const uint32_t first = (1u << LOG_INDEX_BITS) + LOG_FIRST;
	const uint32_t other = (2u << LOG_INDEX_BITS) + LOG_FIRST;
	struct logcode c = {.head = {.uuid = {7}}};
	struct seen seen = {.count = 0};
	struct events *e = begin(note_free, &seen);

	add_to(&c, 1, 1, LOG_FIRST);
	(void)logcode_add_word(&c, log_alloc_word(1, 10)); /* first */
	(void)logcode_add_word(&c, log_alloc_word(1, 10)); /* first + 1 */
	(void)logcode_add_word(&c, log_free_word(first + 1));
	add_to(&c, 2, 2, LOG_FIRST);
	(void)logcode_add_word(&c, log_alloc_word(1, 10)); /* other */
	(void)logcode_add_word(&c, log_alloc_word(1, 10));
	add_to(&c, 1, 1, LOG_FIRST + 3);
	(void)logcode_add_word(&c, log_free_word(first));
	(void)logcode_add_word(&c, log_free_word(other));
	(void)logcode_add_word(&c, log_alloc_word(1, 10)); /* first + 5 */
	(void)logcode_add_word(&c, log_word(LOG_GAP, 100));
	(void)logcode_add_word(&c, log_word(LOG_REALLOC, first + 5));
	(void)logcode_add_word(&c, log_alloc_word(1, 20));
	(void)logcode_add_word(&c, log_free_word(first + 5));
	assert_int_equal(events_feed(e, &c), 0);
	assert_int_equal(seen.count, 5);
	assert_true(seen.same[0] && seen.between[0] == 0);
	assert_true(seen.same[1] && seen.between[1] == 1);
	assert_false(seen.same[2]); /* of the other thread */
	assert_true(seen.same[3] && seen.between[3] == 100);
	assert_true(seen.same[4] && seen.between[4] == 0);
	events_free(e);
	logcode_release(&c);
}

TEST(percentiles_are_exact_to_a_sixteenth)
{
	struct process_id id = {.id = 1, .site = 0};
	struct process_site site = {.id = 1};
	struct process p = {.sites = &site, .site_count = 1, .ids = &id, .id_count = 1};
	struct process *list[] = {&p};
	struct session s = {.processes = list, .count = 1};
	const struct logcode_head head = {.version = 1};
	uint64_t classes[LIFETIMES_CLASSES], sum = 0;
	const struct lifetimes_site *x;
	struct lifetimes *l;

	assert_int_equal(lifetimes_new(&s, 5, &l), 0);
	for (uint64_t i = 1; i <= 100000; i++) {
		const struct events_event ev = {.process = &head,
		    .kind = EVENTS_FREE,
		    .was_found = true,
		    .old_site = 1,
		    .old_size = 3,
		    .tick = i,
		    .is_same_thread = true,
		    .between = (uint32_t)i % 10};

		assert_int_equal(lifetimes_see(l, &ev), 0);
	}
	x = lifetimes_site(l, 0, 0);
	assert_int_equal(x->freed, 100000);
	assert_int_equal(x->within_blocks, 60000);
	assert_int_equal(x->within_bytes, 180000);
	for (unsigned q = 1; q <= 100; q++) {
		uint64_t got = lifetimes_percentile(&x->ticks, q);

		assert_true(got <= q * 1000);
		assert_true(got + got / 16 + 1 >= q * 1000);
	}
	assert_int_equal(lifetimes_percentile(&x->between, 50), 4);
	lifetimes_classes(&x->ticks, classes);
	assert_int_equal(classes[0], 0);
	assert_int_equal(classes[1], 1);
	assert_int_equal(classes[4], 8);
	assert_int_equal(classes[16], 32768);
	for (int i = 0; i < LIFETIMES_CLASSES; i++)
		sum += classes[i];
	assert_int_equal(sum, 100000);
	lifetimes_free(l);
}

TEST(the_longest_lifetime_has_a_place)
{
	struct process_id id = {.id = 1, .site = 0};
	struct process_site site = {.id = 1};
	struct process p = {.sites = &site, .site_count = 1, .ids = &id, .id_count = 1};
	struct process *list[] = {&p};
	struct session s = {.processes = list, .count = 1};
	const struct logcode_head head = {.version = 1};
	const struct events_event ev = {.process = &head,
	    .kind = EVENTS_FREE,
	    .was_found = true,
	    .old_site = 1,
	    .tick = UINT64_MAX};
	const struct events_event elsewhere = {
	    .process = &head, .kind = EVENTS_FREE, .was_found = true, .old_site = 2};
	uint64_t classes[LIFETIMES_CLASSES];
	struct lifetimes *l;

	assert_int_equal(lifetimes_new(&s, 0, &l), 0);
	assert_int_equal(lifetimes_see(l, &ev), 0);
	assert_int_equal(lifetimes_see(l, &elsewhere), 0);
	assert_int_equal(lifetimes_strange(l), 1);
	lifetimes_classes(&lifetimes_site(l, 0, 0)->ticks, classes);
	assert_int_equal(classes[64], 1);
	lifetimes_free(l);
}
