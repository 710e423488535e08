/* test_pulse.c - the counters of a segment, read again and again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "../lib/mkseg.h"
#include "follow/engine/pulse.h"
#include "session/load/session.h"

enum { ROOM = 64 << 20 };

/* A segment in memory that the test goes on writing. */
struct host {
	uint8_t *bytes;
	size_t len;
	struct segfile *file;
	struct pulse_room room;
	struct pulse *pulse;
	struct seg_header header;
	struct engine_totals now;
	uint64_t looks;
};

static void host_init(struct host *x, struct mkseg *m, size_t room)
{
	*x = (struct host){.room.left = room};
	x->bytes = mkseg_finish(m, &x->len);
	mkseg_free(m);
	assert_int_equal(segfile_open_bytes(x->bytes, x->len, &x->file, NULL), 0);
	assert_int_equal(pulse_new(&x->room, true, &x->pulse), 0);
	assert_int_equal(segfile_header(x->file, SEGFILE_OWN, &x->header, NULL), 0);
}

static int look(struct host *x)
{
	bool changed;

	return pulse_look(
	    x->pulse, x->file, SEGFILE_OWN, x->looks++, &x->header, &x->now, &changed);
}

static void host_release(struct host *x, size_t room)
{
	pulse_free(x->pulse);
	assert_int_equal(x->room.left, room);
	segfile_close(x->file);
	free(x->bytes);
}

/* The row of an id in an array; NULL: there is none. */
static struct seg_row *row_of(const struct host *x, uint32_t array, uint32_t id)
{
	const struct seg_header *h = (const struct seg_header *)x->bytes;

	for (uint32_t i = 0; i < h->dir_used; i++) {
		struct seg_extent e;

		memcpy(&e, x->bytes + h->dir_offset + i * sizeof(e), sizeof(e));
		if (e.kind == SEG_EXT_LEDGER && e.owner == array && id >= e.first &&
		    id < e.first + e.count)
			return (
			    struct seg_row *)(x->bytes + e.offset + (id - e.first) * e.row_bytes);
	}
	return NULL;
}

static struct mkseg *some_sites(uint32_t count)
{
	struct mkseg *m = mkseg_new_rows(count + 16);
	uint32_t module = mkseg_module(m, "/bin/host", 0);

	for (uint32_t i = 0; i < count; i++) {
		uint64_t frame = MKSEG_FRAME(module, 0x1000 + 16 * i);
		uint32_t id = mkseg_stack(m, &frame, 1);

		mkseg_book(m, 0, id, 2 + i % 3, 100 + i, 1);
		mkseg_book(m, 1, id, 1, 100 + i, i % 2);
	}
	return m;
}

static const struct engine_site *moved(const struct host *x, uint32_t id)
{
	size_t n;
	const struct engine_site *s = pulse_moved(x->pulse, &n);

	for (size_t i = 0; i < n; i++)
		if (s[i].id == id)
			return &s[i];
	return NULL;
}

struct count {
	size_t sites;
	uint64_t allocations, live;
};

static bool count_site(void *context, const struct engine_site *s)
{
	struct count *c = context;

	c->sites++;
	c->allocations += s->allocations;
	c->live += s->allocated_bytes - s->freed_bytes;
	return true;
}

TEST(figures_are_those_of_a_report)
{
	struct session *s = mkseg_load(some_sites(700));
	const struct process_figures *f = &s->processes[0]->totals;
	struct count c = {0};
	struct host x;

	host_init(&x, some_sites(700), ROOM);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(look(&x), 0);
		assert_int_equal(x.now.allocations, f->allocations);
		assert_int_equal(x.now.allocated_bytes, f->allocated_bytes);
		assert_int_equal(x.now.frees, f->frees);
		assert_int_equal(x.now.freed_bytes, f->freed_bytes);
		assert_int_equal(x.now.live_bytes, f->live_bytes);
		assert_int_equal(x.now.live_blocks, f->live_blocks);
	}
	assert_int_equal(pulse_site_count(x.pulse), s->processes[0]->site_count);
	pulse_each(x.pulse, count_site, &c);
	assert_int_equal(c.sites, 700);
	assert_int_equal(c.allocations, f->allocations);
	assert_int_equal(c.live, f->live_bytes);
	assert_null(moved(&x, 1));
	session_free(s);
	host_release(&x, ROOM);
}

TEST(a_site_that_moves_is_listed_with_its_base)
{
	const struct engine_site *s;
	struct seg_row *row;
	uint64_t live;
	struct host x;

	host_init(&x, some_sites(300), ROOM);
	assert_int_equal(look(&x), 0);
	live = x.now.live_bytes;
	row = row_of(&x, 0, 200);
	assert_non_null(row);
	row->allocations += 5;
	row->allocated_bytes += 5000;
	assert_int_equal(look(&x), 0);
	assert_int_equal(x.now.live_bytes, live + 5000);
	s = moved(&x, 200);
	assert_non_null(s);
	assert_null(moved(&x, 201));
	assert_int_equal(s->allocated_bytes - s->freed_bytes, s->base_live_bytes + 5000);
	assert_int_equal(s->allocations, s->base_allocations + 5);
	assert_int_equal(pulse_then(s, 0), s->base_live_bytes);
	assert_int_equal(pulse_then(s, 1), s->base_live_bytes + 5000);
	pulse_set_base(x.pulse);
	assert_int_equal(moved(&x, 200)->base_live_bytes, s->allocated_bytes - s->freed_bytes);
	host_release(&x, ROOM);
}

TEST(pools_are_no_part_of_the_totals)
{
	struct mkseg *m = some_sites(10);
	struct host x;

	mkseg_book(m, SEG_USER_ARRAY, 20, 7, 1 << 20, 0);
	host_init(&x, m, ROOM);
	assert_int_equal(look(&x), 0);
	assert_true(x.now.live_bytes < 1 << 20);
	row_of(&x, SEG_USER_ARRAY, 20)->allocations++;
	assert_int_equal(look(&x), 0);
	assert_true(moved(&x, 20)->is_pool);
	host_release(&x, ROOM);
}

/* Random histories of one site, against a list of all that it had. */
TEST(trends_are_what_was)
{
	enum { LOOKS = 1000 };
	static const uint64_t scales[] = {1, 4096, 1 << 30};
	uint64_t had[LOOKS], most;
	struct host x;

	for (unsigned seed = 0; seed < 24; seed++) {
		struct seg_row *row;

		srand(seed);
		host_init(&x, some_sites(3), ROOM);
		row = row_of(&x, 0, 2);
		row_of(&x, 1, 2)->allocated_bytes = 0;
		row_of(&x, 1, 2)->freed_bytes = 0;
		row->allocated_bytes = 1000;
		row->freed_bytes = 0;
		for (uint64_t i = 0; i < LOOKS; i++) {
			const struct engine_site *s;
			unsigned rest = seed % 2 ? 200 : 3;

			if ((unsigned)rand() % rest == 0) {
				unsigned down = (unsigned)rand() % 31;

				row->allocated_bytes = row->freed_bytes +
				    ((uint64_t)rand() >> down) * scales[seed % 3];
				row->allocations++;
			}
			had[i] = row->allocated_bytes - row->freed_bytes;
			assert_int_equal(look(&x), 0);
			if (i % 120 == 0)
				pulse_rest(x.pulse, x.looks);
			s = moved(&x, 2);
			if (!s)
				continue;
			most = 0;
			for (uint64_t k = 0; k < 256 && k <= i; k++)
				most = had[i - k] > most ? had[i - k] : most;
			for (uint64_t k = 0; k < LIVE_LOOKS && k <= i; k++) {
				uint64_t then = pulse_then(s, i - k);

				assert_true(then <= had[i - k]);
				assert_true(had[i - k] - then <= most / 32768);
			}
		}
		host_release(&x, ROOM);
	}
}

TEST(more_sites_than_are_listed_are_counted)
{
	struct host x;
	size_t n;

	host_init(&x, some_sites(LIVE_SITES + 500), ROOM);
	assert_int_equal(look(&x), 0);
	for (int i = 0; i < 3; i++) {
		struct count c = {0};

		for (uint32_t id = 1; id <= LIVE_SITES + 500; id++)
			row_of(&x, 0, id)->allocations++;
		assert_int_equal(look(&x), 0);
		(void)pulse_moved(x.pulse, &n);
		assert_int_equal(n, LIVE_SITES);
		assert_int_equal(pulse_unlisted(x.pulse), 500);
		pulse_each(x.pulse, count_site, &c);
		assert_int_equal(c.sites, LIVE_SITES + 500);
		assert_int_equal(c.allocations, x.now.allocations);
	}
	host_release(&x, ROOM);
}

TEST(no_more_memory_is_taken_than_there_is)
{
	static const size_t rooms[] = {0, 100, 1000, 5000, 20000, 100000, 300000};

	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		struct host x;

		host_init(&x, some_sites(900), rooms[i]);
		for (int k = 0; k < 3; k++) {
			int err = look(&x);

			assert_true(err == 0 || err == -EFBIG);
			for (uint32_t id = 1; id <= 900; id++)
				row_of(&x, 0, id)->allocated_bytes += 10;
		}
		host_release(&x, rooms[i]);
	}
}

TEST(a_slot_that_others_have_taken_is_not_read)
{
	struct host x;

	host_init(&x, some_sites(10), ROOM);
	assert_int_equal(look(&x), 0);
	((struct seg_header *)x.bytes)->uuid[3] ^= 1;
	row_of(&x, 0, 1)->allocations += 1000;
	x.now.allocations = 7;
	assert_int_equal(look(&x), -ESTALE);
	assert_int_equal(x.now.allocations, 7);
	((struct seg_header *)x.bytes)->magic = 0;
	assert_int_equal(look(&x), -ESTALE);
	host_release(&x, ROOM);
}

/* Words of directory and header that make no sense, while it is read. */
TEST(damage_does_no_harm)
{
	for (unsigned seed = 0; seed < 300; seed++) {
		struct host x;

		srand(seed);
		host_init(&x, some_sites(400), ROOM);
		for (int i = 0; i < 60; i++) {
			size_t at = (size_t)rand() % (SEG_HEADER_BYTES + 2048);
			uint64_t value = (uint64_t)rand() << (rand() % 40);

			at = at / 8 * 8;
			if (at >= 80 || i % 10 == 0)
				memcpy(x.bytes + at, &value, sizeof(value));
			(void)look(&x);
		}
		host_release(&x, ROOM);
	}
}
