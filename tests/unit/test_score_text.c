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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_look_as_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
