/* test_score_text.c - the lines of scores, as they are printed: tests/golden/scores.txt. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mkseg.h"
#include "names/names.h"
#include "reader/session.h"
#include "report/score_text.h"
#include "workloads.h"

enum { HOUR_TICKS = 36000, SEED = 301 };

static int
kind_of(const char *name)
{
	int i = 0;

	while (strcmp(workloads_name(i), name) != 0)
		assert_true(++i < WORKLOADS);
	return i;
}

/* A process that exits after so many hours with these workloads. */
static struct session *
process_of(const char *const *names, size_t count, uint32_t hours)
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

static void
print(FILE *out, const char *title, struct session *s, char *held)
{
	const struct layout page = {.out = out, .width = 80};
	const struct names_options plain = {0};
	const struct view_options options = {.trim = true};
	struct score_list l;
	struct names *names;

	assert_int_equal(names_new(&plain, &names), 0);
	assert_int_equal(
	    score_list_make(s, s->processes[0], names, &options, &l), 0);
	fprintf(out, "%s\n", title);
	for (size_t i = 0; i < l.count; i++)
		l.lines[i].held = held;
	score_text_list(&page, s->processes[0], &l, 0);
	score_list_release(&l);
	names_free(names);
	session_free(s);
}

static char *
golden(void)
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
static void
lines_look_as_written(void **state)
{
	static const char *const all[] = {"error path 0.1 %",
	    "all blocks, each minute", "tenants", "start-up", "short buffers",
	    "growing vector"};
	static char holder[] = "global `sessions`+0x40";
	char *text = NULL, *expected = golden();
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	print(out, "after 24 h", process_of(all, 6, 24), NULL);
	print(out, "after 8 h, held", process_of(all + 1, 1, 8), holder);
	print(out, "after 1 h", process_of(all, 6, 1), NULL);
	print(out, "nothing grows", process_of(all + 3, 2, 24), NULL);
	assert_int_equal(fclose(out), 0);
	if (getenv("SEEP_SCORE_GOLDEN"))
		fputs(text, stdout);
	assert_non_null(expected);
	assert_string_equal(text, expected);
	free(text);
	free(expected);
}

/* The beginning of a report of one process that runs. */
static char *
beginning(struct session *s, const struct body_options *options)
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

static void
ages_that_were_not_read_in_time_are_told(void **state)
{
	static const char *const one[] = {"all blocks, each minute"};
	const struct body_options options = {
	    .view = {.trim = true, .pid = VIEW_ANY}};
	struct session *s = process_of(one, 1, 8);
	struct process *p = s->processes[0];
	char *text;

	(void)state;
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_look_as_written),
	    cmocka_unit_test(ages_that_were_not_read_in_time_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
