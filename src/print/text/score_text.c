/* score_text.c - scores as text: what leaks, grows or is steady, and when it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/verdict_text.h"

#include "base/std.h"
#include "analysis/score/score.h"
#include "print/text/layout.h"
#include "names/find/program.h"
#include "findings/score_list.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

enum {
	STEADY_LINES = 3,
	STEADY_PERCENT = 10, /* of the live bytes; smaller ones are left out */
};

/* Hostile figures may add up to more than a number of bytes can be. */
static uint64_t whole(double n)
{
	return n > 0 ? n < 0x1p63 ? (uint64_t)(n + 0.5) : INT64_MAX : 0;
}

static const char *in_time(char buffer[WORDS_MAX], double seconds)
{
	return words_time(buffer, whole(seconds * 1e9));
}

/* "+1.8 KiB/h (1.5 KiB to 2.2 KiB)" */
static void print_rate(FILE *out, const struct score *x)
{
	if (x->has_rate)
		(void)fprintf(out, " +%s/h (%s to %s)", WORDS_BYTES(whole(x->rate)),
		    WORDS_BYTES(whole(x->low)), WORDS_BYTES(whole(x->high)));
}

/* 99.95 % is not 100 %: some of them did not die. */
static void print_share(FILE *out, double share)
{
	double percent = share * 100;

	if (percent > 99.9)
		(void)fputs("more than 99.9 %", out);
	else
		(void)fprintf(out, percent > 99 ? "%.1f %%" : "%.0f %%", percent);
}

/* The line of when it began, if it was not with the process. */
static void print_began(FILE *out, const struct score_list *l, const struct score_line *line)
{
	struct score_began b;

	if (score_began(l->view->session, line->site->process, line->score, &b))
		score_began_print(out, line->score, &b);
}

static void print_leak(
    const struct layout *p, const struct score_list *l, const struct score_line *line)
{
	const struct score *x = line->score;
	char b[WORDS_MAX];
	struct hanging h;

	if (!hanging_begin(p, &h))
		return;
	(void)fprintf(h.page.out, "%s %s", WORDS_COUNTED(whole(x->blocks), "block"),
	    words_bytes(b, whole(x->bytes)));
	print_rate(h.page.out, x);
	(void)fputs(": ", h.page.out);
	print_share(h.page.out, x->freed_share);
	(void)fprintf(h.page.out, " of their siblings die within %s\n", in_time(b, x->within_s));
	if (verdict_text_freers(p, h.page.out, "siblings are freed in ", l->view, line->site))
		(void)fputs(": look for a path that skips it\n", h.page.out);
	print_began(h.page.out, l, line);
	verdict_text_place(p, h.page.out, l->view, line->site);
	(void)putc('\n', h.page.out);
	hanging_end(p, &h, "LEAK");
}

/* A recording may have any text here. */
static void print_held(FILE *out, const char *text)
{
	(void)fputs("held by ", out);
	text_print(out, text);
	(void)putc('\n', out);
}

static void print_growth(
    const struct layout *p, const struct score_list *l, const struct score_line *line)
{
	const struct score *x = line->score;
	struct hanging h;

	if (!hanging_begin(p, &h))
		return;
	(void)fputs(WORDS_BYTES(whole(x->bytes)), h.page.out);
	print_rate(h.page.out, x);
	(void)fprintf(h.page.out, ": %s; a leak by %.0f %%\n",
	    x->has_releases ? "old blocks of it are rarely freed" : "nothing of it is ever freed",
	    100 * x->confidence);
	if (line->held)
		print_held(h.page.out, line->held);
	print_began(h.page.out, l, line);
	verdict_text_place(p, h.page.out, l->view, line->site);
	(void)putc('\n', h.page.out);
	hanging_end(p, &h, "GROWTH");
}

static void print_steady(
    const struct layout *p, const struct score_list *l, const struct score_line *line)
{
	const struct score *x = line->score;
	struct hanging h;
	char b[WORDS_MAX];

	if (!hanging_begin(p, &h))
		return;
	(void)fprintf(h.page.out, "%s, built in the first %s", WORDS_BYTES(whole(x->bytes)),
	    in_time(b, x->built_s));
	(void)fputs(": a pool or a full cache\n", h.page.out);
	verdict_text_place(p, h.page.out, l->view, line->site);
	(void)putc('\n', h.page.out);
	hanging_end(p, &h, "STEADY");
}

static void print_forecast(const struct layout *p, const struct score_list *l)
{
	const struct forecast *f = &l->forecast;
	char b[WORDS_MAX], c[WORDS_MAX], d[WORDS_MAX];
	struct layout_text t;

	if (!l->limit.kind)
		return;
	layout_begin(p, &t);
	(void)fprintf(t.file, "%s (%s) in about %s (%s to %s), by the growth of the heap alone.\n",
	    score_list_limit_words(l->limit.kind), WORDS_BYTES(l->limit.limit),
	    in_time(b, f->hours * 3600), in_time(c, f->low * 3600), in_time(d, f->high * 3600));
	if (l->has_outside)
		(void)fprintf(t.file, "Outside of the heap, the process grows by %s/h more.\n",
		    WORDS_BYTES(whole(l->outside)));
	layout_end(p, &t);
}

void score_text_list(
    const struct layout *p, const struct process *process, const struct score_list *l, unsigned top)
{
	size_t bad = l->leaks + l->growths, shown = 0;

	for (size_t i = 0; i < bad; i++) {
		if (top > 0 && i >= top) {
			(void)fprintf(p->out, "%s or grow%s (--top 0: all).\n",
			    WORDS_COUNTED(bad - i, "more place"), bad - i == 1 ? "s" : "");
			break;
		}
		if (l->lines[i].score->class == SCORE_LEAK)
			print_leak(p, l, &l->lines[i]);
		else
			print_growth(p, l, &l->lines[i]);
	}
	for (size_t i = bad; i < l->count && shown < STEADY_LINES; i++) {
		double part = l->lines[i].score->bytes * 100;

		if (part < STEADY_PERCENT * (double)process->totals.live_bytes)
			break;
		print_steady(p, l, &l->lines[i]);
		shown++;
	}
	print_forecast(p, l);
}

/* Is there a line to print? A small STEADY site is none. */
static bool says_something(const struct process *process, const struct score_list *l)
{
	return l->leaks + l->growths > 0 ||
	    (l->count > 0 &&
	        l->lines[0].score->bytes * 100 >=
	            STEADY_PERCENT * (double)process->totals.live_bytes);
}

/*
 * A process that is old enough, but has no score: what was read in a report's
 * short time is not all of it, or a part is swapped out.
 */
static bool print_lack(const struct layout *p, const struct process *process)
{
	struct layout_text t;

	if (!scores_lack_ages(process))
		return false;
	layout_begin(p, &t);
	(void)fprintf(t.file,
	    "No score of %s: not all ages of its blocks could be read in a "
	    "tenth of a second. seep leaks %d takes the time.\n",
	    program_name(&process->header), (int)process->running_pid);
	layout_end(p, &t);
	return true;
}

int score_text_open(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options)
{
	uint32_t pid = options->view.pid;
	size_t told = 0;
	int err = 0;

	for (size_t i = 0; i < s->count && err == 0; i++) {
		struct process *x = s->processes[i];
		struct score_list l;

		if (pid != VIEW_ANY && x->header.pid != pid)
			continue;
		err = score_list_make(s, x, names, &options->view, &l);
		if (err < 0)
			break;
		if (says_something(x, &l)) {
			if (s->count > 1) {
				(void)fputs(told ? "\n" : "", p->out);
				verdict_text_who(p->out, x);
				(void)fputs(":\n", p->out);
			}
			score_text_list(p, x, &l, options->top);
			told++;
		} else {
			told += print_lack(p, x);
		}
		score_list_release(&l);
	}
	if (told > 0)
		(void)putc('\n', p->out);
	return err;
}
