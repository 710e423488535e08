/* test_chapters.c - chapters that become one session: whose counters, whose time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "../lib/mkseg.h"
#include "session/load/session.h"
#include "recording/file/chapter.h"
#include "recording/file/meta.h"
#include "view/sites/enum_words.h"
#include "recording/file/codec.h"
#include "recording/parts/rss_account.h"

#define S UINT64_C(1000000000)

enum { HEADER_WORDS = sizeof(struct seg_header) / 8 };

/* A process as a chapter has it. */
struct state {
	uint8_t uuid;
	uint32_t pid;
	uint64_t owner;
	uint64_t allocations, frees; /* of 16 bytes */
	uint32_t end;                /* enum recording_end, and flags * FLAG */
	bool lacks_end_state;
	uint64_t at_us; /* of its point in the time line; 0: it has none */
};

/* When the pages of each of them were read, 0: not; NULL: of nobody. */
static const uint64_t (*read_ns)[2];

enum { FLAG = 256 };

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/seep-chapters.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int empty_folder(void **state)
{
	struct chapter_entry *all;
	char path[160];
	size_t count;

	(void)state;
	if (chapter_list(folder, &all, &count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, all[i].text);
		unlink(path);
	}
	free(all);
	return 0;
}

static int remove_folder(void **state)
{
	(void)empty_folder(state);
	return rmdir(folder);
}

static void *segment_of(const struct state *x, size_t *ret_len, struct seg_header *ret)
{
	const uint64_t frame = MKSEG_FRAME(1, 0x1000);
	struct mkseg *m = mkseg_new();
	void *bytes;

	memset(mkseg_header(m)->uuid, x->uuid, 16);
	mkseg_header(m)->pid = x->pid;
	mkseg_book(m, 0, mkseg_stack(m, &frame, 1), x->allocations, 16, x->frees);
	bytes = mkseg_finish(m, ret_len);
	memcpy(ret, bytes, sizeof(*ret));
	mkseg_free(m);
	return bytes;
}

/* The items of one process at one moment. */
static void put_point(
    struct codec_out *out, uint64_t number, const struct state *x, const struct seg_header *h)
{
	struct codec_out body = {0};
	uint64_t words[HEADER_WORDS];

	codec_put(&body, x->at_us);
	codec_put_item(out, CODEC_TIME, &body);
	body.len = 0;
	codec_put(&body, number);
	codec_put_item(out, CODEC_PROCESS, &body);
	body.len = 0;
	memcpy(words, h, sizeof(words));
	codec_put(&body, number);
	for (size_t i = 0; i < HEADER_WORDS; i++) {
		codec_put(&body, 0);
		codec_put_signed(&body, (int64_t)words[i]);
	}
	codec_put_item(out, CODEC_HEADER, &body);
	body.len = 0;
	codec_put(&body, number);
	codec_put_signed(&body, (int64_t)x->allocations);
	codec_put_signed(&body, (int64_t)x->allocations * 16);
	codec_put_signed(&body, (int64_t)x->frees);
	codec_put_signed(&body, (int64_t)x->frees * 16);
	codec_put_item(out, CODEC_TOTALS, &body);
	codec_release(&body);
}

static void put_reading(struct recording_writer *w, const struct seg_header *h, uint64_t time_ns)
{
	struct rss_site site = {.id = 1, .blocks = 1, .live = 16, .holds = time_ns};
	const struct rss_account r = {.page_bytes = 4096,
	    .time_ns = time_ns,
	    .rss_bytes = time_ns,
	    .classes = {[RSS_LIVE] = time_ns},
	    .sites = &site,
	    .site_count = 1};
	uint8_t *bytes;
	size_t len;

	assert_int_equal(rss_account_encode(&r, &bytes, &len), 0);
	assert_int_equal(recording_append_packed(
	                     w, RECORDING_RESIDENCE, h->uuid, sizeof(h->uuid), bytes, len, 1),
	    0);
	free(bytes);
}

/* Processes with points come in the order of time. */
static void write_chapter(uint64_t start_s, const struct state *list, size_t count)
{
	char name[] = "true", *const command[] = {name, NULL};
	const struct meta about = {.version = "0",
	    .session = "",
	    .program = "",
	    .command = command,
	    .start_ns = start_s * S,
	    .start_monotonic_ns = S};
	struct codec_out line = {0};
	struct chapter *c;

	assert_int_equal(chapter_begin(folder, start_s * S, &c), 0);
	assert_int_equal(meta_write(&about, chapter_writer(c)), 0);
	for (size_t i = 0; i < count; i++) {
		const struct recording_segment head = {.end_kind = list[i].end % FLAG,
		    .exit_status = -1,
		    .signal = list[i].end % FLAG == RECORDING_END_KILLED ? 9 : 0,
		    .flags = list[i].end / FLAG,
		    .owner = list[i].owner};
		struct seg_header h;
		size_t len;
		void *bytes = segment_of(&list[i], &len, &h);

		if (!list[i].lacks_end_state)
			assert_int_equal(recording_append(chapter_writer(c), RECORDING_SEGMENT,
			                     &head, sizeof(head), bytes, len),
			    0);
		if (list[i].at_us)
			put_point(&line, i + 1, &list[i], &h);
		for (size_t k = 0; read_ns && k < 2; k++)
			if (read_ns[i][k])
				put_reading(chapter_writer(c), &h, read_ns[i][k]);
		free(bytes);
	}
	if (line.len > 0)
		assert_int_equal(recording_append_packed(chapter_writer(c), RECORDING_LINE, NULL, 0,
		                     line.bytes, line.len, 1),
		    0);
	codec_release(&line);
	assert_int_equal(chapter_finish(c), 0);
}

static struct session *load(void)
{
	struct session *s = NULL;
	struct fault where = {""};

	if (session_load(folder, &s, &where) < 0)
		fail_msg("%s", where.text);
	return s;
}

static const struct process *find(const struct session *s, uint8_t uuid, uint64_t owner)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->processes[i]->header.uuid[0] == uuid && s->processes[i]->owner == owner)
			return s->processes[i];
	return NULL;
}

#define WRITE(start_s, ...) \
	do { \
		const struct state states[] = {__VA_ARGS__}; \
		write_chapter(start_s, states, sizeof(states) / sizeof(states[0])); \
	} while (0)

TEST_WITH(the_last_chapter_has_the_counters, NULL, empty_folder)
{
	const struct process *p;
	struct session *s;

	WRITE(1000, {1, 10, 1, 100, 50, RECORDING_END_RUNNING, false, 0},
	    {2, 11, 1, 7, 7, RECORDING_END_EXITED, false, 0});
	WRITE(2000, {1, 10, 1, 300, 60, RECORDING_END_EXITED, false, 0});
	s = load();
	assert_int_equal(s->count, 2);
	assert_false(s->is_truncated);
	p = find(s, 1, 1);
	assert_int_equal(p->totals.allocations, 300);
	assert_int_equal(p->totals.live_blocks, 240);
	assert_int_equal(p->end, PROCESS_EXITED);
	p = find(s, 2, 1);
	assert_int_equal(p->totals.allocations, 7);
	assert_int_equal(p->end, PROCESS_EXITED);
	assert_int_equal(s->start_ns, 1000 * S);
	session_free(s);
}

/* The flag means something for a killed process alone. */
TEST_WITH(lack_of_memory_is_part_of_the_end, NULL, empty_folder)
{
	struct session *s;

	WRITE(1000, {1, 10, 1, 100, 50, RECORDING_END_RUNNING + FLAG, false, 0},
	    {2, 11, 1, 7, 7, RECORDING_END_KILLED + FLAG, false, 0},
	    {3, 12, 1, 7, 7, RECORDING_END_KILLED + 2 * FLAG, false, 0},
	    {4, 13, 1, 7, 7, RECORDING_END_EXITED + FLAG, false, 0});
	s = load();
	assert_false(find(s, 1, 1)->is_out_of_memory);
	assert_true(find(s, 2, 1)->is_out_of_memory);
	assert_int_equal(find(s, 2, 1)->signal, 9);
	assert_string_equal(enum_words_ended(find(s, 2, 1)), "oom");
	assert_false(find(s, 3, 1)->is_out_of_memory);
	assert_false(find(s, 4, 1)->is_out_of_memory);
	session_free(s);
}

TEST_WITH(another_owner_or_pid_is_another_process, NULL, empty_folder)
{
	struct session *s;

	WRITE(1000, {1, 10, 1, 100, 50, RECORDING_END_RUNNING, false, 0});
	WRITE(2000, {1, 10, 2, 300, 60, RECORDING_END_EXITED, false, 0});
	WRITE(3000, {1, 12, 1, 500, 60, RECORDING_END_EXITED, false, 0});
	s = load();
	assert_int_equal(s->count, 3);
	assert_int_equal(find(s, 1, 2)->totals.allocations, 300);
	session_free(s);
}

/* All readings of a process, in their order. */
static void readings_are(const struct process *p, size_t count, const uint64_t *times)
{
	assert_non_null(p);
	assert_non_null(p->rss_account);
	assert_int_equal(p->earlier_count + 1, count);
	for (size_t i = 0; i < count; i++) {
		const struct rss_account *r =
		    i < p->earlier_count ? &p->earlier[i] : p->rss_account;

		assert_int_equal(r->time_ns, times[i]);
		assert_int_equal(rss_account_find(r, 1)->holds, times[i]);
	}
}

TEST_WITH(readings_of_all_chapters_are_one_course, NULL, empty_folder)
{
	const uint64_t both[] = {1000, 2000, 3000, 4000};
	/* of two chapters; of the first; of the second; cut off; ended before */
	static const uint64_t first[][2] = {{2000, 1000}, {1000}, {0}, {1000, 2000}, {1000}};
	static const uint64_t second[][2] = {{3000, 4000}, {0}, {1000, 2000}, {3000, 4000}};
	struct session *s;

	read_ns = first;
	WRITE(1000, {1, 10, 1, 100, 50, RECORDING_END_RUNNING, false, 0},
	    {2, 11, 1, 100, 50, RECORDING_END_RUNNING, false, 0},
	    {3, 12, 1, 100, 50, RECORDING_END_RUNNING, false, 0},
	    {4, 13, 1, 100, 50, RECORDING_END_RUNNING, false, 0},
	    {5, 14, 1, 100, 50, RECORDING_END_EXITED, false, 0});
	read_ns = second;
	WRITE(2000, {1, 10, 1, 300, 60, RECORDING_END_EXITED, false, 0},
	    {2, 11, 1, 300, 60, RECORDING_END_EXITED, false, 0},
	    {3, 12, 1, 300, 60, RECORDING_END_EXITED, false, 0},
	    {4, 13, 1, 90, 40, RECORDING_END_EXITED, false, 0});
	read_ns = NULL;
	s = load();
	assert_int_equal(s->count, 5);
	readings_are(find(s, 1, 1), 4, both);
	readings_are(find(s, 2, 1), 1, both);
	readings_are(find(s, 3, 1), 2, both);
	readings_are(find(s, 4, 1), 4, both);
	assert_int_equal(find(s, 4, 1)->totals.allocations, 100);
	readings_are(find(s, 5, 1), 1, both);
	session_free(s);
}

TEST_WITH(two_of_one_chapter_stay_two, NULL, empty_folder)
{
	struct session *s;

	WRITE(1000, {1, 10, 1, 100, 50, RECORDING_END_RUNNING, false, 0},
	    {1, 10, 1, 300, 60, RECORDING_END_RUNNING, false, 0});
	s = load();
	assert_int_equal(s->count, 2);
	session_free(s);
}

TEST_WITH(counters_never_go_back, NULL, empty_folder)
{
	struct session *s;

	WRITE(1000, {1, 10, 1, 100, 50, RECORDING_END_RUNNING, false, 0});
	WRITE(2000, {1, 10, 1, 40, 20, RECORDING_END_RUNNING, false, 0});
	/* of this one there is a header, and no row; nor an owner */
	WRITE(3000, {1, 10, 1, 150, 50, RECORDING_END_RUNNING, true, 700});
	s = load();
	assert_int_equal(s->count, 1);
	assert_int_equal(s->processes[0]->totals.allocations, 100);
	assert_int_equal(s->processes[0]->owner, 1);
	assert_false(s->processes[0]->is_unfinished);
	assert_int_equal(s->processes[0]->point_count, 1);
	session_free(s);
}

TEST_WITH(who_ran_and_is_not_known_any_more_has_an_unknown_end, NULL, empty_folder)
{
	struct session *s;

	WRITE(1000, {1, 10, 1, 100, 50, RECORDING_END_RUNNING, false, 0});
	WRITE(2000, {2, 11, 1, 1, 0, RECORDING_END_RUNNING, false, 0});
	s = load();
	assert_int_equal(find(s, 1, 1)->end, PROCESS_UNKNOWN);
	assert_int_equal(find(s, 2, 1)->end, PROCESS_RUNNING);
	assert_false(s->is_truncated);
	session_free(s);
}

TEST_WITH(time_goes_on_with_gaps_and_never_back, NULL, empty_folder)
{
	const struct process *p;
	struct session *s;

	WRITE(1000, {1, 10, 1, 10, 0, RECORDING_END_RUNNING, false, 500});
	WRITE(1060, {1, 10, 1, 20, 0, RECORDING_END_RUNNING, false, 700});
	/* the clock was set back by an hour */
	WRITE(100, {1, 10, 1, 30, 0, RECORDING_END_RUNNING, false, 900});
	/* and is off by centuries */
	WRITE(UINT64_C(17000000000), {1, 10, 1, 40, 0, RECORDING_END_EXITED, false, 100});
	s = load();
	assert_int_equal(s->count, 1);
	p = s->processes[0];
	assert_int_equal(p->point_count, 4);
	assert_int_equal(p->points[0].time_us, 500);
	assert_int_equal(p->points[1].time_us, 60000700);
	assert_int_equal(p->points[2].time_us, 60000700 + 900);
	assert_int_equal(p->points[3].time_us, 60000700 + 900 + 100);
	assert_int_equal(p->points[3].allocations, 40);
	assert_int_equal(s->until_us, 60000700 + 900 + 100);
	session_free(s);
}

/* Random histories against a list of what is to be expected. */
TEST_WITH(any_history_has_the_last_counters_of_each, NULL, empty_folder)
{
	enum { PROCESSES = 6, CHAPTERS = 7 };
	uint64_t seed = 88172645463325252u;

	for (int round = 0; round < 40; round++) {
		struct state now[PROCESSES] = {{0}};
		size_t points[PROCESSES] = {0};
		bool known[PROCESSES] = {false};
		struct session *s;
		size_t count = 0;

		for (int i = 0; i < PROCESSES; i++)
			now[i] = (struct state){.uuid = (uint8_t)(i / 2 + 1),
			    .pid = 10 + (uint32_t)i / 2,
			    .owner = 1 + (uint64_t)i % 2, /* one lies */
			    .end = RECORDING_END_RUNNING};
		for (int k = 0; k < CHAPTERS; k++) {
			struct state list[PROCESSES];
			size_t n = 0;

			for (int i = 0; i < PROCESSES; i++) {
				seed ^= seed << 13;
				seed ^= seed >> 7;
				seed ^= seed << 17;
				if (seed % 3 == 0)
					continue; /* nobody saw it */
				now[i].allocations += seed % 1000;
				now[i].frees += now[i].allocations > now[i].frees
				    ? seed % (now[i].allocations - now[i].frees)
				    : 0;
				/* owners share a uuid: a line cannot tell */
				now[i].at_us = i % 2 ? 0 : 100 * (n + 1);
				points[i] += i % 2 == 0;
				known[i] = true;
				list[n++] = now[i];
			}
			write_chapter(1000 + 100 * (uint64_t)k, list, n);
		}
		s = load();
		for (int i = 0; i < PROCESSES; i++) {
			const struct process *p = find(s, now[i].uuid, now[i].owner);

			count += known[i];
			assert_true(!known[i] == !p);
			if (!p)
				continue;
			assert_int_equal(p->totals.allocations, now[i].allocations);
			assert_int_equal(p->totals.frees, now[i].frees);
			if (i % 2 == 0 && p->point_count > points[i])
				fail_msg("%zu points, not %zu", p->point_count, points[i]);
			for (size_t k = 1; k < p->point_count; k++)
				assert_true(p->points[k].time_us >= p->points[k - 1].time_us);
		}
		assert_int_equal(s->count, count);
		session_free(s);
		(void)empty_folder(NULL);
	}
}

TEST_GROUP(make_folder, remove_folder);
