/* test_score_text.c - the lines of scores, as they are printed: tests/golden/scores.txt. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "mkseg.h"
#include "names/find/names.h"
#include "session/process/process.h"
#include "session/load/session.h"
#include "print/text/verdict_text.h"
#include "recording/parts/aging.h"
#include "recording/parts/rss_account.h"
#include "workloads.h"
#include "recording/parts/inventory.h"

enum { HOUR_TICKS = 36000, SEED = 301 };

static int kind_of(const char *name)
{
	int i = 0;

	while (strcmp(workloads_name(i), name) != 0)
		assert_true(++i < WORKLOADS);
	return i;
}

/* A process that exits after so many hours with these workloads. */
static struct session *process_of(const char *const *names, size_t count, uint32_t hours)
{
	struct workloads_site sites[WORKLOADS];
	struct session *s;

	for (size_t i = 0; i < count; i++)
		workloads_make(kind_of(names[i]), SEED, 1, &sites[i]);
	s = mkseg_load(workloads_segment(sites, count, hours * HOUR_TICKS - 1));
	for (size_t i = 0; i < count; i++)
		workloads_release(&sites[i]);
	return s;
}

static void print(FILE *out, const char *title, struct session *s, char *held)
{
	const struct layout page = {.out = out, .width = 80};
	const struct names_options plain = {0};
	const struct view_options options = {.trim = true};
	struct score_list l;
	struct names *names;

	assert_int_equal(names_new(&plain, &names), 0);
	assert_int_equal(score_list_make(s, s->processes[0], names, &options, &l), 0);
	fprintf(out, "%s\n", title);
	for (size_t i = 0; i < l.count && held; i++)
		l.lines[i].held = strdup(held);
	score_text_list(&page, s->processes[0], &l, 0);
	score_list_release(&l);
	names_free(names);
	session_free(s);
}

/* "1 % from 10 h on" after a day; something happens after so many minutes. */
static struct session *late_leak(uint32_t minutes, bool is_mark)
{
	static const char *const one[] = {"1 % from 10 h on"};
	struct session *s = process_of(one, 1, 24);
	struct process *p = s->processes[0];

	p->header.start_realtime_ns = UINT64_C(1794802800) * 1000000000;
	if (is_mark) {
		free(p->marks);
		p->marks = calloc(2, sizeof(*p->marks));
		assert_non_null(p->marks);
		p->mark_count = 2;
		p->marks[0] =
		    (struct seg_mark){.kind = SEG_MARK_PROGRAM, .tick = 6000, .label = "start"};
		p->marks[1] = (struct seg_mark){
		    .kind = SEG_MARK_PROGRAM, .tick = minutes * 600, .label = "deploy-7"};
		return s;
	}
	s->snapshots = calloc(1, sizeof(*s->snapshots));
	assert_non_null(s->snapshots);
	s->snapshot_count = 1;
	s->snapshots[0].number = 3;
	memcpy(s->snapshots[0].uuid, p->header.uuid, 16);
	s->snapshots[0].time_ns = p->header.start_realtime_ns + minutes * UINT64_C(60000000000);
	return s;
}

enum { READINGS = 9 };

/*
 * It runs in a container with a limit, and `more` bytes more are outside of its
 * heap at each of nine readings, an hour apart.
 */
static struct session *in_a_container(uint64_t more)
{
	static const char *const one[] = {"all blocks, each minute"};
	struct session *s = process_of(one, 1, 9);
	struct process *p = s->processes[0];

	p->end = PROCESS_RUNNING;
	p->aging = calloc(1, sizeof(*p->aging));
	p->earlier = calloc(READINGS - 1, sizeof(*p->earlier));
	p->rss_account = calloc(1, sizeof(*p->rss_account));
	assert_true(p->aging && p->earlier && p->rss_account);
	p->aging->limit_count = 2;
	p->aging->limits[0] =
	    (struct aging_limit){.kind = AGING_LIMIT_MACHINE, .limit = UINT64_C(64) << 30};
	p->aging->limits[1] = (struct aging_limit){.kind = AGING_LIMIT_GROUP,
	    .limit = UINT64_C(2) << 30,
	    .used = (UINT64_C(2) << 30) - (1 << 20)};
	p->earlier_count = READINGS - 1;
	for (uint64_t i = 0; i < READINGS; i++) {
		struct rss_account *r = i < READINGS - 1 ? &p->earlier[i] : p->rss_account;

		r->time_ns = i * 3600 * UINT64_C(1000000000);
		r->classes[RSS_LIVE] = i << 20;
		r->classes[RSS_ANONYMOUS] = (50 << 20) + i * more;
	}
	return s;
}

/* What a recording says of its holders is below its lines, and harmless. */
TEST(stored_holders_are_below_growth)
{
	static const char *const all[] = {"all blocks, each minute"};
	struct session *s = process_of(all, 1, 8);
	struct inventory_site site = {
	    .id = s->processes[0]->sites[0].id, .held = "global `a\033[1m`"};
	struct inventory v = {.has_holders = true, .sites = &site, .site_count = 1};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	s->processes[0]->inventory = calloc(1, sizeof(v));
	assert_non_null(s->processes[0]->inventory);
	{
		uint8_t *bytes;
		size_t n;

		assert_int_equal(inventory_encode(&v, &bytes, &n), 0);
		assert_int_equal(inventory_decode(bytes, n, s->processes[0]->inventory), 0);
		free(bytes);
	}
	print(out, "", s, NULL);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "GROWTH"));
	assert_non_null(strstr(text, "held by global `a"));
	assert_null(strchr(text, '\033'));
	free(text);
}

static char *golden(void)
{
	FILE *f = fopen("tests/golden/scores.txt", "re");
	char *text = NULL;
	size_t room = 0;

	if (f && getdelim(&text, &room, '\0', f) < 0)
		text = NULL;
	if (f)
		fclose(f);
	return text;
}

/* SEEP_SCORE_GOLDEN=1 prints them, for tests/golden/scores.txt. */
TEST(lines_look_as_written)
{
	static const char *const all[] = {"error path 0.1 %", "all blocks, each minute", "tenants",
	    "start-up", "short buffers", "growing vector"};
	static char holder[] = "global `sessions`+0x40";
	char *text = NULL, *expected = golden();
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	assert_non_null(out);
	print(out, "after 24 h", process_of(all, 6, 24), NULL);
	print(out, "after 8 h, held", process_of(all + 1, 1, 8), holder);
	print(out, "after 1 h", process_of(all, 6, 1), NULL);
	print(out, "nothing grows", process_of(all + 3, 2, 24), NULL);
	print(out, "a mark before", late_leak(597, true), NULL);
	print(out, "a snapshot after", late_leak(640, false), NULL);
	print(out, "a mark long before", late_leak(400, true), NULL);
	print(out, "a limit", in_a_container(0), NULL);
	print(out, "growth outside", in_a_container(3 << 20), NULL);
	assert_int_equal(fclose(out), 0);
	if (getenv("SEEP_SCORE_GOLDEN"))
		fputs(text, stdout);
	assert_non_null(expected);
	assert_string_equal(text, expected);
	free(text);
	free(expected);
}

/* The beginning of a report of one process that runs. */
static char *beginning(struct session *s, const struct body_options *options)
{
	const struct names_options plain = {0};
	struct names *names;
	char *text = NULL;
	size_t len;
	struct layout page = {.out = open_memstream(&text, &len), .width = 200};

	assert_non_null(page.out);
	assert_int_equal(names_new(&plain, &names), 0);
	assert_int_equal(score_text_open(&page, s, names, options), 0);
	assert_int_equal(fclose(page.out), 0);
	names_free(names);
	return text;
}

TEST(ages_that_were_not_read_in_time_are_told)
{
	static const char *const one[] = {"all blocks, each minute"};
	const struct body_options options = {.view = {.trim = true, .pid = VIEW_ANY}};
	struct session *s = process_of(one, 1, 8);
	struct process *p = s->processes[0];
	char *text;

	p->end = PROCESS_RUNNING;
	p->running_pid = 4711;
	p->ages_partial = true;
	text = beginning(s, &options);
	assert_string_equal(text,
	    "No score of host: not all ages of its blocks could be read in a "
	    "tenth of a second. seep leaks 4711 takes the time.\n\n");
	free(text);
	p->births_until = 5999; /* too young */
	text = beginning(s, &options);
	assert_string_equal(text, "");
	free(text);
	p->births_until = 8 * HOUR_TICKS - 1;
	p->ages_partial = false;
	text = beginning(s, &options);
	assert_non_null(strstr(text, "GROWTH"));
	assert_null(strstr(text, "No score"));
	free(text);
	session_free(s);
}
