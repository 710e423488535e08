/* report_text.c - prints a session: a paragraph, then a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/report_text.h"

#include "base/std.h"
#include "segments/read/losses.h"
#include "names/find/program.h"
#include "print/text/layout.h"
#include "print/text/verdict_text.h"
#include "view/sites/enum_words.h"
#include "kit/data/capped.h"
#include "kit/words/text.h"

enum {
	POOLS = 10,     /* a line each */
	PROCESSES = 20, /* the same, or --top if that is more */
};

/* The figure of a process for this metric. */
static uint64_t weight_of(const struct process *p, int metric)
{
	struct view_figures f = {.all = p->totals};

	/* the total of short-lived blocks is known only after all sites */
	return view_bytes(&f, metric == VIEW_TEMPORARY ? VIEW_ALLOCS : metric);
}

/* Allocations that the program reported with seep_alloc(). */
static void print_pools(const struct layout *p, const struct process *process)
{
	for (size_t i = 0; i < process->pool_count; i++) {
		const struct process_pool *x = &process->pools[i];
		struct layout_text t;

		if (i == POOLS) {
			(void)fprintf(
			    p->out, "%s.\n", WORDS_COUNTED(process->pool_count - i, "more pool"));
			break;
		}
		layout_begin(p, &t);
		(void)fputs("Pool \"", t.file);
		text_print(t.file, x->name);
		(void)fprintf(t.file, "\": %s live in %s, of %s taken (--pool shows where).\n",
		    WORDS_COUNT(x->figures.live_bytes), WORDS_COUNT(x->figures.live_blocks),
		    WORDS_COUNT(x->figures.allocations));
		layout_end(p, &t);
	}
}

static int print_process(const struct layout *p, const struct session *s,
    const struct process *process, struct names *names, const struct body_options *options)
{
	struct body_options o = *options;

	o.view.only = process;
	summary_write(p, process);
	if (!options->rss || !process->rss_account) /* it says all of that */
		unseen_write(p, process);
	spark_write(p, "Live bytes", process->points, process->point_count);
	print_pools(p, process);
	mappings_text_write_line(p, process);
	if (options->rss) {
		int err = rss_text_write(p, s, process, names, &o.view);

		if (err < 0)
			return err;
	}
	return body_write(p, s, names, &o);
}

static int heavier(const void *a, const void *b, void *metric)
{
	const struct process *x = *(struct process *const *)a;
	const struct process *y = *(struct process *const *)b;
	uint64_t v = weight_of(x, *(const int *)metric);
	uint64_t w = weight_of(y, *(const int *)metric);

	if (v != w)
		return v > w ? -1 : 1;
	return (x->header.pid > y->header.pid) - (x->header.pid < y->header.pid);
}

/* Prints its name and, if nothing was recorded, why. */
static void print_program(const struct layout *p, const struct process *x, size_t used)
{
	const char *name = program_name(&x->header);
	char *text = NULL;

	if (process_is_unseen(x) &&
	    asprintf(&text, "%s (not traced: %s)", name, losses_inert(x->header.inert_reason)) < 0)
		text = NULL;
	layout_fit(p, text ? text : name, layout_room(p, used));
	(void)putc('\n', p->out);
	free(text);
}

/* The sums of processes that have no line of their own. */
struct others {
	size_t count;
	uint64_t live_bytes, allocations;
};

static void print_others(const struct layout *p, const struct others *o)
{
	if (o->count > 0)
		(void)fprintf(p->out, "%8s %8s %-7s %13s %13s %11s  %s (--top 0: all)\n", "", "",
		    "", WORDS_COUNT(o->live_bytes), "", WORDS_COUNT(o->allocations),
		    WORDS_COUNTED(o->count, "more process"));
}

/*
 * One line for each process, by start: for all that weigh as much as `last` or
 * more, or for all if that is NULL. Those that were not traced weigh nothing, and matter.
 */
static void print_overview(const struct layout *p, struct process *const *list, size_t count,
    struct process *last, int metric)
{
	struct others others = {0};
	size_t used;

	(void)fprintf(p->out, "%zu processes:\n%8s %8s %-7s %13s %13s %11s  %s\n", count, "pid",
	    "parent", "end", "live bytes", "peak bytes", "allocations", "program");
	for (size_t i = 0; i < count; i++) {
		const struct process *x = list[i];

		if (last && !process_is_unseen(x) && heavier(&x, &last, &metric) > 0) {
			others.count++;
			others.live_bytes = capped_sum(others.live_bytes, x->totals.live_bytes);
			others.allocations = capped_sum(others.allocations, x->totals.allocations);
			continue;
		}
		used = (size_t)fprintf(p->out, "%8u %8u %-7s %13s %13s %11s  ", x->header.pid,
		    x->header.ppid, enum_words_ended(x), WORDS_COUNT(x->totals.live_bytes),
		    /* a log does not say what the peak was by then */
		    x->log.has_moment ? "-" : WORDS_COUNT(x->totals.peak_bytes),
		    WORDS_COUNT(x->totals.allocations));
		print_program(p, x, used);
	}
	print_others(p, &others);
	(void)putc('\n', p->out);
}

/*
 * Prints the largest ones in full, the largest first; the overview has the
 * others.
 */
static int print_several(const struct layout *p, const struct session *s, struct process **list,
    size_t count, struct names *names, const struct body_options *o)
{
	uint64_t whole = 0;
	int metric = o->view.metric, err = 0;
	size_t shown = 0, listed;
	struct process **by_weight = calloc(count + 1, sizeof(struct process *));

	if (!by_weight)
		return -ENOMEM;
	memcpy(by_weight, list, count * sizeof(struct process *));
	qsort_r(by_weight, count, sizeof(struct process *), heavier, &metric);
	listed = o->top == 0 ? count : o->top > PROCESSES ? o->top : PROCESSES;
	print_overview(p, list, count, listed < count ? by_weight[listed - 1] : NULL, metric);
	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(whole, weight_of(list[i], metric), &whole))
			whole = UINT64_MAX;
	for (; shown < count && err == 0 && !ferror(p->out); shown++) {
		uint64_t w = weight_of(by_weight[shown], metric);

		if (shown > 0 &&
		    ((o->top > 0 && shown >= o->top) ||
		        100.0 * (double)w < o->threshold * (double)whole))
			break;
		(void)fputs(shown ? "\n" : "", p->out);
		err = print_process(p, s, by_weight[shown], names, o);
	}
	if (shown < count && err == 0)
		(void)fprintf(p->out, "\n%s below the threshold or beyond --top.\n",
		    WORDS_COUNTED(count - shown, "more process"));
	free(by_weight);
	return err;
}

void report_text_notes(const struct layout *p, const struct names *names)
{
	char *const *notes;
	size_t n = names_notes_shown(names, p->lacks ? layout_lacks_has : NULL, p->lacks, &notes);

	for (size_t i = 0; i < n; i++) {
		struct layout_text t;

		(void)fputs(i ? "" : "\n", p->out);
		layout_begin(p, &t);
		(void)fputs("Note: ", t.file);
		text_print(t.file, notes[i]);
		(void)fputs(".\n", t.file);
		layout_end(p, &t);
	}
}

int report_text_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options)
{
	struct process **list = calloc(s->count + 1, sizeof(struct process *));
	uint32_t pid = options->view.pid;
	size_t count = 0;
	int err = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		if (pid == VIEW_ANY || s->processes[i]->header.pid == pid)
			list[count++] = s->processes[i];
	if (count > 0)
		err = verdict_text_open(p, s, names, options);
	if (count > 0 && err == 0)
		err = score_text_open(p, s, names, options);
	if (err < 0) {
		free(list);
		return err;
	}
	if (count > 0 && s->title) {
		text_print(p->out, s->title);
		(void)fputs(":\n", p->out);
	}
	if (count == 0) {
		err = -ESRCH;
	} else if (count == 1) {
		err = print_process(p, s, list[0], names, options);
	} else if (options->view.merge) {
		summary_write_all(p, s, pid);
		err = body_write(p, s, names, options);
	} else {
		err = print_several(p, s, list, count, names, options);
	}
	free(list);
	if (err < 0)
		return err;
	report_text_notes(p, names);
	return ferror(p->out) ? -EIO : 0;
}
