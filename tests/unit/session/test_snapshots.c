/* test_snapshots.c - promises of the reader about pools and snapshots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "mkseg.h"
#include "session/load/session.h"

static const uint64_t one_frame[] = {MKSEG_FRAME(1, 0x1010)};

static uint32_t user_site(struct mkseg *m, uint16_t pool)
{
	uint32_t id = mkseg_stack(m, one_frame, 1);

	mkseg_site(m, id)->kind = SEG_SITE_USER;
	mkseg_site(m, id)->api = 0;
	mkseg_site(m, id)->pool = pool;
	return id;
}

static void name_pool(struct mkseg *m, uint32_t number, const char *name)
{
	struct seg_pool *pool = mkseg_pool(m, number);

	pool->name_bytes = (uint32_t)strlen(name);
	memcpy(pool->name, name, strlen(name));
}

TEST(pools_are_no_part_of_the_heap)
{
	struct mkseg *m = mkseg_new();
	struct process *p;
	struct session *s;

	name_pool(m, 2, "red");
	name_pool(m, 3, "blue");
	name_pool(m, 9, "red"); /* a lost race: the same one */
	mkseg_book(m, 0, mkseg_stack(m, one_frame, 1), 10, 100, 4);
	mkseg_book(m, SEG_USER_ARRAY, user_site(m, 2), 5, 7, 1);
	mkseg_book(m, SEG_USER_ARRAY, user_site(m, 3), 50, 1, 0);
	mkseg_book(m, SEG_USER_ARRAY, user_site(m, 9), 3, 7, 1);
	s = mkseg_load(m);
	p = s->processes[0];
	assert_int_equal(p->totals.allocations, 10);
	assert_int_equal(p->totals.live_bytes, 600);
	assert_int_equal(p->site_count, 3); /* heap, red, blue */
	assert_int_equal(p->pool_count, 2);
	assert_string_equal(p->pools[0].name, "red");
	assert_int_equal(p->pools[0].figures.allocations, 8);
	assert_int_equal(p->pools[0].figures.live_bytes, 42);
	assert_int_equal(p->pools[0].site_count, 1);
	assert_string_equal(p->pools[1].name, "blue");
	assert_int_equal(p->pools[1].figures.live_blocks, 50);
	session_free(s);
}

/* Numbers that name nothing, names without an end, row 0, kinds unknown. */
TEST(damaged_pools_are_survived)
{
	struct mkseg *m = mkseg_new();
	struct process *p;
	struct session *s;
	uint32_t odd;

	memset(mkseg_pool(m, 2)->name, 'x', SEG_POOL_BYTES);
	mkseg_pool(m, 2)->name_bytes = UINT32_MAX;
	mkseg_book(m, SEG_USER_ARRAY, user_site(m, 2), 1, 1, 0);
	mkseg_book(m, SEG_USER_ARRAY, user_site(m, UINT16_MAX), 1, 1, 0);
	mkseg_book(m, SEG_USER_ARRAY, user_site(m, 0), 1, 1, 0);
	odd = user_site(m, 2);
	mkseg_site(m, odd)->kind = 77;
	mkseg_book(m, 99, odd, 1, 1, 0);
	s = mkseg_load(m);
	p = s->processes[0];
	assert_int_equal(p->pool_count, 2);
	assert_int_equal(strlen(p->pools[0].name), SEG_POOL_BYTES - 1);
	assert_string_equal(p->pools[1].name, "");
	assert_int_equal(p->pools[1].figures.allocations, 2);
	session_free(s);
}

/* A segment or snapshot of the process with this uuid, as a file. */
static void write_file(
    const char *dir, const char *name, uint8_t uuid, uint32_t number, const char *session)
{
	struct mkseg *m = mkseg_new();
	struct seg_header *h = mkseg_header(m);
	char path[256];
	size_t len;
	void *bytes;
	FILE *f;

	memset(h->uuid, uuid, sizeof(h->uuid));
	snprintf(h->session, sizeof(h->session), "%s", session);
	mkseg_book(m, 0, mkseg_stack(m, one_frame, 1), 10 + number, 1, 0);
	h->end_kind = number ? SEG_END_NONE : SEG_END_EXITED;
	if (number) {
		h->snapshot_reason = SEG_SNAPSHOT_PROGRAM;
		h->snapshot_number = number;
		h->snapshot_realtime_ns = 1000 + number;
		memset(h->snapshot_label, 'l', sizeof(h->snapshot_label));
	}
	bytes = mkseg_finish(m, &len);
	mkseg_free(m);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	free(bytes);
}

static void remove_all(const char *dir)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	assert_int_equal(system(command), 0);
}

TEST(snapshots_of_a_directory_are_listed_not_loaded)
{
	char dir[] = "/tmp/seep-test.XXXXXX";
	struct fault where = {""};
	struct session *s;

	assert_non_null(mkdtemp(dir));
	write_file(dir, "a.seg", 1, 0, "");
	write_file(dir, "a-2.seep-snap", 1, 2, "");
	write_file(dir, "a-1.seep-snap", 1, 1, "");
	write_file(dir, "b-7.seep-snap", 2, 7, ""); /* nothing else of it */
	write_file(dir, "b-6.seep-snap", 2, 6, "");
	write_file(dir, ".b-8.seep-snap.tmp", 2, 8, "");
	assert_int_equal(session_load(dir, &s, &where), 0);
	assert_int_equal(s->count, 2);
	assert_int_equal(s->snapshot_count, 4);
	assert_int_equal(s->snapshots[0].number, 1);
	assert_int_equal(s->snapshots[3].number, 7);
	assert_true(s->snapshots[3].is_loaded);
	assert_int_equal(strlen(s->snapshots[0].label), SEG_SNAPSHOT_LABEL_BYTES - 1);
	for (size_t i = 0; i < s->count; i++)
		assert_int_equal(
		    s->processes[i]->totals.allocations, s->processes[i]->is_snapshot ? 17 : 10);
	/* asked for, they become processes, each once */
	assert_int_equal(session_add_snapshots(s, &where), 0);
	assert_int_equal(session_add_snapshots(s, &where), 0);
	assert_int_equal(s->count, 5);
	session_free(s);
	remove_all(dir);
}

TEST(one_snapshot_by_itself_is_a_process)
{
	char dir[] = "/tmp/seep-test.XXXXXX", path[64];
	struct fault where = {""};
	struct session *s;

	assert_non_null(mkdtemp(dir));
	write_file(dir, "a.seep-snap", 1, 3, "");
	snprintf(path, sizeof(path), "%s/a.seep-snap", dir);
	assert_int_equal(session_load(path, &s, &where), 0);
	assert_int_equal(s->count, 1);
	assert_int_equal(s->snapshot_count, 0);
	assert_true(s->processes[0]->is_snapshot);
	assert_int_equal(s->processes[0]->end, PROCESS_RUNNING);
	session_free(s);
	remove_all(dir);
}
