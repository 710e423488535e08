/* write_junit.c - the verdict of a check as JUnit's XML. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/check/write.h"
#include "kit/data/dict.h"
#include "names/find/program.h"
#include "view/sites/verdict.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

/*
 * There is one suite for each program, and one case for each promise: that
 * nothing leaks, each limit, and each leak. The case of a leak has a name that
 * is the same in the next run, so that tools can follow it. For the same reason
 * names contain no pid.
 */

/* Text in XML, escaped as text_put() does; our own line ends are kept. */
static void xml(FILE *out, const char *text)
{
	while (*text) {
		size_t n = 1;

		if (*text == '<')
			(void)fputs("&lt;", out);
		else if (*text == '>')
			(void)fputs("&gt;", out);
		else if (*text == '&')
			(void)fputs("&amp;", out);
		else if (*text == '"')
			(void)fputs("&quot;", out);
		else if (*text == '\n')
			(void)putc('\n', out);
		else
			n = text_put(out, text);
		text += n;
	}
}

/* The same, and frees the text, which may be NULL. */
static void xml_take(FILE *out, char *text)
{
	xml(out, text ? text : "");
	free(text);
}

static void case_begin(FILE *out, const char *program, const char *name)
{
	(void)fputs("    <testcase classname=\"seep.", out);
	xml(out, program);
	(void)fputs("\" name=\"", out);
	xml(out, name);
	(void)fputs("\" time=\"0\"", out);
}

static char *stack_text(const struct check_site *x, const struct write_options *o)
{
	const struct frame *frames = x->view->frames;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	size_t count = view_without_start(frames, x->site->frames, x->site->frame_count);

	if (!out)
		return NULL;
	(void)fprintf(out, "fingerprint %016" PRIx64 "\n", x->fingerprint);
	for (size_t i = 0; i < count; i++) {
		const struct frame *f = &frames[x->site->frames[i]];

		write_function(out, f, o);
		write_where(out, f, o);
		(void)putc('\n', out);
	}
	(void)fclose(out);
	return text;
}

static void failure_begin(FILE *out, enum check_rule rule, char *message)
{
	(void)fprintf(out, ">\n      <failure type=\"%s\" message=\"", check_rules()[rule].id);
	xml_take(out, message);
	(void)putc('"', out);
}

/* Leaks written so far, because each case needs a name of its own. */
struct told {
	struct dict index;
	uint32_t *times; /* by site */
};

/* How often this fingerprint has come up, this time included. */
static uint32_t count(struct told *t, const struct check *c, uint32_t number)
{
	const uint64_t *print = &c->sites[number].fingerprint;
	uint32_t first = number;

	if (!t->times ||
	    dict_find(&t->index, *print, write_same_print, c->sites, print, number, &first) < 0)
		return 1;
	return ++t->times[first];
}

static void leak_case(FILE *out, const struct check *c, const struct check_site *x,
    const char *program, const struct write_options *o, uint32_t nth)
{
	char again[16] = "", *name;

	if (nth > 1)
		(void)snprintf(again, sizeof(again), " #%" PRIu32, nth);
	if (asprintf(&name, "%s: %s%s", check_rules()[x->rule].id, x->text, again) < 0)
		return;
	case_begin(out, program, name);
	free(name);
	failure_begin(out, x->rule, write_site(c, x, o));
	(void)putc('>', out);
	xml_take(out, stack_text(x, o));
	(void)fputs("</failure>\n    </testcase>\n", out);
}

static void bound_case(FILE *out, const struct check_bound *b)
{
	case_begin(out, "limits", check_rules()[b->rule].id);
	if (!b->fails) {
		(void)fputs("/>\n", out);
		return;
	}
	failure_begin(out, b->rule, write_bound(b));
	(void)fputs("/>\n    </testcase>\n", out);
}

static void suite_begin(
    FILE *out, const char *name, size_t tests, size_t failures, size_t errors, size_t skipped)
{
	(void)fputs("  <testsuite name=\"seep check ", out);
	xml(out, name);
	(void)fprintf(out,
	    "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
	    "time=\"0\">\n",
	    tests, failures, errors, skipped);
}

static const char *program_of(const struct check_process *x)
{
	return program_name(&x->process->header);
}

static bool is_in(const struct check *c, const struct check_site *x, const char *program)
{
	return strcmp(program_of(&c->processes[x->process]), program) == 0;
}

static bool is_unjudged_in(const struct check *c, size_t number, const char *program)
{
	const struct check_process *x = &c->processes[number];

	return x->standing != CHECK_LEFT_OUT && check_is_unjudged(x) &&
	    strcmp(program_of(x), program) == 0;
}

/*
 * Does this process have a suite? After an exec it has one if looks judged it.
 */
static bool has_suite(const struct check_process *x)
{
	return x->standing == CHECK_JUDGED ||
	    (x->standing == CHECK_REPLACED && x->by_verdict &&
	        (!x->is_unjudged || check_is_unjudged(x)));
}

/* Processes of one program are one suite, written with the first of them. */
static bool is_first(const struct check *c, size_t number)
{
	const char *program = program_of(&c->processes[number]);

	if (!has_suite(&c->processes[number]))
		return false;
	for (size_t i = 0; i < number; i++)
		if (has_suite(&c->processes[i]) &&
		    strcmp(program_of(&c->processes[i]), program) == 0)
			return false;
	return true;
}

/* A process of the program that nobody could look at: skipped, or a failure. */
static void unjudged_case(FILE *out, const struct check *c, const struct check_process *x,
    const char *program, size_t nth)
{
	char *name, *why = strdup(verdict_why_not_words(x->process));

	if (asprintf(&name, "not judged: number %zu", nth) < 0) {
		free(why);
		return;
	}
	case_begin(out, program, name);
	free(name);
	if (c->options->fail_on_unjudged) {
		failure_begin(out, CHECK_UNJUDGED, why);
	} else {
		(void)fputs(">\n      <skipped message=\"", out);
		xml_take(out, why);
		(void)putc('"', out);
	}
	(void)fputs("/>\n    </testcase>\n", out);
}

static void program_suite(
    FILE *out, const struct check *c, const char *program, const struct write_options *o)
{
	struct told told = {.times = calloc(c->site_count + 1, sizeof(uint32_t))};
	bool fatal = c->options->fail_on_unjudged;
	size_t leaks = 0, unjudged = 0, tests, nth = 0;

	for (size_t i = 0; i < c->process_count; i++)
		unjudged += is_unjudged_in(c, i, program);
	for (size_t i = 0; c->lists_sites && i < c->failed_count; i++)
		leaks += is_in(c, &c->sites[i], program);
	tests = leaks + unjudged;
	suite_begin(out, program, tests ? tests : 1, leaks + (fatal ? unjudged : 0), 0,
	    fatal ? 0 : unjudged);
	for (size_t i = 0; i < c->process_count; i++)
		if (is_unjudged_in(c, i, program))
			unjudged_case(out, c, &c->processes[i], program, ++nth);
	if (tests == 0) {
		case_begin(out, program, "leaks");
		(void)fputs("/>\n", out);
	}
	for (size_t i = 0; leaks && i < c->failed_count; i++)
		if (is_in(c, &c->sites[i], program))
			leak_case(out, c, &c->sites[i], program, o, count(&told, c, (uint32_t)i));
	dict_release(&told.index);
	free(told.times);
	(void)fputs("  </testsuite>\n", out);
}

static void limits_suite(FILE *out, const struct check *c)
{
	size_t failures = 0;

	for (size_t i = 0; i < c->bound_count; i++)
		failures += c->bounds[i].fails;
	if (c->bound_count == 0)
		return;
	suite_begin(out, "limits", c->bound_count, failures, 0, 0);
	for (size_t i = 0; i < c->bound_count; i++)
		bound_case(out, &c->bounds[i]);
	(void)fputs("  </testsuite>\n", out);
}

/* The conditions of the verdict; an error if they are not met. */
static void input_suite(FILE *out, const struct check *c)
{
	suite_begin(out, "input", 1, 0, c->is_damaged, 0);
	case_begin(out, "input", "whole");
	(void)fputs(">\n", out);
	if (c->is_damaged)
		(void)fputs("      <error type=\"input\" message=\"the input is "
		            "incomplete, so a leak may be missing\"/>\n",
		    out);
	(void)fputs("      <system-out>", out);
	for (size_t i = 0; i < c->note_count; i++) {
		xml(out, c->notes[i]);
		(void)fputs(".\n", out);
	}
	(void)fputs("</system-out>\n    </testcase>\n  </testsuite>\n", out);
}

int write_junit(FILE *out, const struct check *c, const struct write_options *o)
{
	(void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	            "<testsuites name=\"seep check\">\n",
	    out);
	input_suite(out, c);
	limits_suite(out, c);
	for (size_t i = 0; i < c->process_count; i++)
		if (is_first(c, i))
			program_suite(out, c, program_of(&c->processes[i]), o);
	(void)fputs("</testsuites>\n", out);
	return ferror(out) ? -EIO : 0;
}
