/* summary.c - the paragraph that opens a report. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary.h"

#include <string.h>

#include "reader/losses.h"
#include "report/words.h"

struct summary {
	FILE *out;
	const struct process *process;
	bool colour;
};

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Ticks are tenths of a second: less than that is not known. */
static const char *
span(char buffer[WORDS_MAX], uint64_t ns)
{
	char time[WORDS_MAX];

	if (ns < SEG_TICK_NS)
		return "for less than 0.1 s";
	(void)snprintf(buffer, WORDS_MAX, "for %s", words_time(time, ns));
	return buffer;
}

/* "12 events not recorded", "1 event not recorded" */
static void
print_count(const struct summary *s, uint64_t n, const char *words)
{
	size_t first = strcspn(words, " ");
	char buffer[WORDS_MAX];

	if (n == 1 && words[first - 1] == 's')
		(void)fprintf(
		    s->out, "1 %.*s%s", (int)first - 1, words, words + first);
	else
		(void)fprintf(s->out, "%s %s", words_count(buffer, n), words);
}

static void
print_ending(const struct summary *s)
{
	const struct process *p = s->process;
	char buffer[WORDS_MAX];
	uint64_t ns = p->duration_ns;

	if (p->is_snapshot)
		(void)fprintf(
		    s->out, "had run %s at the snapshot. ", span(buffer, ns));
	else if (p->end == PROCESS_RUNNING)
		(void)fprintf(
		    s->out, "has been running %s. ", span(buffer, ns));
	else if (p->end == PROCESS_EXEC)
		(void)fprintf(s->out,
		    "ran %s and went on as another program (exec). ",
		    span(buffer, ns));
	else if (p->signal > 0)
		(void)fprintf(s->out,
		    "ran %s and was killed by signal %d (%s). ",
		    span(buffer, ns), p->signal, strsignal(p->signal));
	else if (p->exit_status >= 0)
		(void)fprintf(s->out, "ran %s and exited with status %d. ",
		    span(buffer, ns), p->exit_status);
	else if (p->end == PROCESS_EXITED)
		(void)fprintf(s->out, "ran %s and exited. ", span(buffer, ns));
	else if (p->end == PROCESS_KILLED)
		(void)fprintf(s->out,
		    "ran %s and ended without a farewell (killed, or _exit). ",
		    span(buffer, ns));
	else
		(void)fprintf(
		    s->out, "ran %s, its end is not known. ", span(buffer, ns));
}

static void
print_losses(const struct summary *s)
{
	const uint64_t *counts = s->process->header.counts;
	const struct losses_name *names;
	const char *before = "Lost: ";
	size_t n;

	names = losses_names(&n);
	for (size_t i = 0; i < n; i++) {
		if (counts[names[i].count] == 0 ||
		    names[i].class != LOSSES_LOSS)
			continue;
		(void)fputs(before, s->out);
		print_count(s, counts[names[i].count], names[i].words);
		before = "; ";
	}
	(void)fputs(*before == 'L' ? "Nothing was lost.\n" : ".\n", s->out);
}

static void
print_oddities(const struct summary *s)
{
	const uint64_t *counts = s->process->header.counts;
	const struct losses_name *names;
	const char *before = "Also seen: ";
	size_t n;

	names = losses_names(&n);
	for (size_t i = 0; i < n; i++) {
		if (counts[names[i].count] == 0 ||
		    names[i].class != LOSSES_TOTAL ||
		    names[i].count == SEG_INHERITED_BYTES ||
		    names[i].count == SEG_MISSED_BYTES)
			continue;
		(void)fputs(before, s->out);
		print_count(s, counts[names[i].count], names[i].words);
		before = "; ";
	}
	if (*before != 'A')
		(void)fputs(".\n", s->out);
}

static void
print_all(const struct summary *s)
{
	const struct process *p = s->process;
	const struct process_figures *t = &p->totals;
	const char *slash = strrchr(p->header.exe, '/');
	const char *name = slash ? slash + 1 : p->header.exe;
	char a[WORDS_MAX], b[WORDS_MAX];

	(void)fputs(s->colour ? "\033[1m" : "", s->out);
	words_print(s->out, *name ? name : "(no name)");
	(void)fprintf(
	    s->out, "%s (pid %u) ", s->colour ? "\033[0m" : "", p->header.pid);
	print_ending(s);
	if (p->header.state == SEG_INERT && t->allocations == 0) {
		(void)fprintf(s->out, "It was not traced: %s.\n",
		    losses_inert(p->header.inert_reason));
		return;
	}
	if (p->header.state == SEG_INERT)
		(void)fprintf(s->out,
		    "Tracing ended early: %s. What follows ends there. ",
		    losses_inert(p->header.inert_reason));
	(void)fprintf(s->out, "It made %s allocation%s of %s in all",
	    words_count(a, t->allocations), plural(t->allocations),
	    words_bytes(b, t->allocated_bytes));
	if (p->header.sample_bytes > 0)
		(void)fprintf(s->out, " (+-%s: an estimate from samples)",
		    words_bytes(
		        b, process_error(process_variance_allocated(p))));
	(void)fprintf(s->out, "; %s", words_bytes(b, t->live_bytes));
	if (p->header.sample_bytes > 0)
		(void)fprintf(s->out, " (+-%s)",
		    words_bytes(b, process_error(process_variance_live(p))));
	(void)fprintf(s->out, " in %s block%s ", words_count(a, t->live_blocks),
	    plural(t->live_blocks));
	(void)fputs(p->is_snapshot          ? "were live then"
	        : p->end == PROCESS_RUNNING ? "are live now"
	                                    : "were live at its end",
	    s->out);
	(void)fprintf(s->out, "; the peak was %s%s in %s block%s. ",
	    p->peak_exact ? "" : "about ", words_bytes(b, t->peak_bytes),
	    words_count(a, t->peak_blocks), plural(t->peak_blocks));
	print_losses(s);
	print_oddities(s);
}

void
summary_write(FILE *out, const struct process *p, bool colour)
{
	struct summary s = {.out = out, .process = p, .colour = colour};

	print_all(&s);
}
