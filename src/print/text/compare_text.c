/* compare_text.c - two inputs, or several moments of one, compared as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/body.h"

#include "base/std.h"
#include "kit/words/text.h"
#include "names/find/program.h"
#include "print/text/report_text.h"
#include "view/sites/amount.h"

/* ---- two inputs ---- */

/* How many sites changed, and how. */
struct changes {
	size_t fresh, gone, grown, shrunk;
};

/* "OLD: a.seep: server (pid 12), after 3.4 s: 1,234 bytes in 5 blocks" */
static void print_side(const struct layout *p, const char *title, const struct diff_side *side,
    const struct body_options *o)
{
	const struct process *last = NULL;
	struct view_figures f;
	size_t n = diff_add_up(side, o->view.pid, &f, &last);
	struct layout_text t;

	layout_begin(p, &t);
	(void)fprintf(t.file, "%s ", title);
	text_print(t.file, side->name);
	(void)fputs(": ", t.file);
	if (n == 1) {
		text_print(t.file, program_name(&last->header));
		(void)fprintf(t.file, " (pid %u)", last->header.pid);
		if (last->is_snapshot && last->header.snapshot_label[0]) {
			(void)fputs(", \"", t.file);
			text_print(t.file, last->header.snapshot_label);
			(void)fputs("\"", t.file);
		}
		(void)fprintf(t.file, ", after %s", WORDS_TIME(last->duration_ns));
	} else {
		(void)fputs(WORDS_COUNTED(n, "process"), t.file);
	}
	/* the total of short-lived blocks is known only after all sites */
	if (o->view.metric != VIEW_TEMPORARY)
		(void)fprintf(t.file, ": %s in %s",
		    WORDS_COUNTED(view_bytes(&f, o->view.metric), "byte"),
		    WORDS_COUNTED(view_blocks(&f, o->view.metric),
		        o->view.metric == VIEW_ALLOCS ? "call" : "block"));
	(void)fputs(".\n", t.file);
	layout_end(p, &t);
}

static void count_changes(const struct view *v, int metric, struct changes *ret)
{
	*ret = (struct changes){0};
	for (size_t i = 0; i < v->site_count; i++) {
		const char *change = table_text_change(&v->sites[i], metric);

		ret->fresh += strcmp(change, "new") == 0;
		ret->gone += strcmp(change, "gone") == 0;
		ret->grown += strcmp(change, "grown") == 0;
		ret->shrunk += strcmp(change, "shrunk") == 0;
	}
}

static void print_changes(const struct layout *p, const struct view *v, int metric)
{
	struct changes n;
	struct amounts all;
	char a[WORDS_COUNTED_MAX], b[WORDS_COUNTED_MAX];
	struct layout_text t;

	count_changes(v, metric, &n);
	amounts_whole(v, metric, &all);
	layout_begin(p, &t);
	(void)fprintf(t.file,
	    "Difference: %s, %s; %s new, %zu gone, %zu grown, %zu shrunk, "
	    "%zu unchanged.\n",
	    amount_counted(a, &all.bytes, true, "byte"),
	    amount_counted(b, &all.blocks, true, metric == VIEW_ALLOCS ? "call" : "block"),
	    WORDS_COUNTED(n.fresh, "place"), n.gone, n.grown, n.shrunk, v->unchanged);
	layout_end(p, &t);
}

int compare_text_diff(const struct layout *p, const struct diff_side *old,
    const struct diff_side *new, struct names *names, const struct body_options *options)
{
	struct view *v;
	int err;

	if (!diff_has(old, new, options->view.pid))
		return -ESRCH;
	print_side(p, "OLD:", old, options);
	print_side(p, "NEW:", new, options);
	(void)fflush(p->out); /* looking up names may take a while */
	err = diff_view(old, new, names, &options->view, &v);
	if (err < 0)
		return err;
	print_changes(p, v, options->view.metric);
	err = body_write_view(p, v, options);
	view_free(v);
	if (err < 0)
		return err;
	report_text_notes(p, names);
	return ferror(p->out) ? -EIO : 0;
}

/* ---- two moments of a recording ---- */

static void print_stretch_title(
    const struct layout *page, const struct growth_stretch *x, int metric)
{
	const struct process *p = x->process;
	char c[WORDS_COUNTED_MAX];
	struct view_figures from = {0}, to = {0};
	struct amount net;
	struct layout_text t;

	for (size_t i = 0; i < p->site_count; i++) {
		if (!seg_is_heap(p->sites[i].kind))
			continue;
		process_add(&from.all, &x->from[i]);
		process_add(&to.all, &x->to[i]);
	}
	net = (struct amount){.plus = view_bytes(&to, metric), .minus = view_bytes(&from, metric)};
	layout_begin(page, &t);
	text_print(t.file, program_name(&p->header));
	(void)fprintf(t.file, " (pid %u), from %s to %s: %s %s.\n", p->header.pid,
	    WORDS_TIME(x->from_us * 1000), WORDS_TIME(x->to_us * 1000),
	    amount_counted(c, &net, true, "byte"), metric == VIEW_ALLOCS ? "allocated" : "live");
	layout_end(page, &t);
}

static int print_stretch(const struct layout *p, const struct session *s, struct growth_stretch *x,
    struct names *names, const struct body_options *options)
{
	struct body_options grown = *options;
	struct view *v = NULL;
	int err = growth_view(x, s, names, &options->view, &v);

	if (err == 0) {
		print_stretch_title(p, x, options->view.metric);
		grown.grown_first = true; /* that is the question */
		err = body_write_view(p, v, &grown);
	}
	view_free(v);
	growth_release(x);
	return err;
}

int compare_text_growth(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options, const struct growth_moment *from,
    const struct growth_moment *to)
{
	struct growth_stretch *list;
	size_t n;
	int err;

	err = growth_stretches(s, options->view.pid, from, to, &list, &n);
	if (err < 0)
		return err;
	for (size_t i = 0; i < n && i < GROWTH_PROCESSES && err == 0; i++) {
		(void)fputs(i ? "\n" : "", p->out);
		err = print_stretch(p, s, &list[i], names, options);
	}
	free(list);
	if (err < 0)
		return err;
	if (n == 0)
		(void)fputs("No process was seen at two moments.\n", p->out);
	if (n > GROWTH_PROCESSES)
		(void)fprintf(p->out, "\n%s changed less.\n",
		    WORDS_COUNTED(n - GROWTH_PROCESSES, "more process"));
	report_text_notes(p, names);
	return ferror(p->out) ? -EIO : 0;
}

/* ---- snapshots ---- */

/* The label that the user gave it, or the reason for it. */
static const char *label_of(const struct process *p)
{
	if (!p->is_snapshot)
		return p->end == PROCESS_RUNNING ? "(now)" : "(its end)";
	if (p->header.snapshot_label[0])
		return p->header.snapshot_label;
	switch (p->header.snapshot_reason) {
	case SEG_SNAPSHOT_SIGNAL:
		return "(a signal)";
	case SEG_SNAPSHOT_PERIOD:
		return "(time)";
	case SEG_SNAPSHOT_GROWTH:
		return "(growth)";
	default:
		return "";
	}
}

static struct amount live_bytes(const struct process *before, const struct process *after)
{
	return (struct amount){
	    .plus = after->totals.live_bytes, .minus = before->totals.live_bytes};
}

static void print_list(const struct layout *p, const struct snapshots_moment *row, size_t count)
{
	const struct process *first = row[0].process;
	char c[AMOUNT_MAX], d[AMOUNT_MAX];

	text_print(p->out, program_name(&first->header));
	(void)fprintf(p->out, " (pid %u), %s:\n%3s %10s %12s %8s %14s %12s  %s\n",
	    first->header.pid, WORDS_COUNTED(count, "moment"), "#", "after", "live bytes", "blocks",
	    "since the last", "since #1", "label");
	for (size_t i = 0; i < count; i++) {
		const struct process *x = row[i].process;
		struct amount last = live_bytes(row[i ? i - 1 : 0].process, x);
		struct amount all = live_bytes(first, x);
		size_t used;

		used = (size_t)fprintf(p->out, "%3zu %10s %12s %8s %14s %12s  ", i + 1,
		    WORDS_TIME(row[i].time_ns - first->header.start_realtime_ns),
		    WORDS_COUNT(x->totals.live_bytes), WORDS_COUNT(x->totals.live_blocks),
		    i ? amount_text(c, &last, true) : "", i ? amount_text(d, &all, true) : "");
		layout_fit(p, label_of(x), layout_room(p, used));
		(void)putc('\n', p->out);
	}
}

/* A series may have gaps: the collector keeps only a limited number. */
static void print_gaps(const struct layout *p, const struct snapshots_moment *row, size_t count)
{
	uint64_t gone = 0;

	for (size_t i = 0; i < count; i++) {
		const struct seg_header *h = &row[i].process->header;

		if (h->counts[SEG_SNAPSHOTS_THINNED] > gone)
			gone = h->counts[SEG_SNAPSHOTS_THINNED];
	}
	if (gone == 0)
		return;
	(void)fprintf(p->out,
	    "%s between the first and the newest %s removed by the process, to "
	    "keep within SEEP_SNAPSHOT_BYTES and SEEP_SNAPSHOTS.\n",
	    WORDS_COUNTED(gone, "snapshot"), gone == 1 ? "was" : "were");
}

static void print_title(const struct layout *p, const struct snapshots_moment *row, size_t number)
{
	const char *label = label_of(row[number].process);

	(void)fprintf(p->out, "\n%s#%zu", layout_colour(p, LAYOUT_STRONG), number + 1);
	if (*label) {
		(void)fputs(", ", p->out);
		text_print(p->out, label);
	}
	(void)fprintf(p->out, ", after %s%s:\n",
	    WORDS_TIME(row[number].time_ns - row[0].process->header.start_realtime_ns),
	    layout_colour(p, LAYOUT_PLAIN));
}

static int print_row(const struct layout *p, const struct snapshots_moment *row, size_t count,
    struct names *names, const struct body_options *options)
{
	int err = 0;

	print_list(p, row, count);
	print_gaps(p, row, count);
	for (size_t i = 0; i < count && err == 0 && !ferror(p->out); i++) {
		struct body_options o = *options;

		o.view.only = row[i].process;
		print_title(p, row, i);
		err = body_write(p, row[i].session, names, &o);
	}
	return err;
}

int compare_text_snapshots(const struct layout *p, struct session *const *sessions, size_t count,
    struct names *names, const struct body_options *options)
{
	struct snapshots_moment *list;
	size_t n;
	int err;

	err = snapshots_find(sessions, count, options->view.pid, &list, &n);
	if (err < 0)
		return err;
	for (size_t i = 0; i < n && err == 0;) {
		size_t row = snapshots_row(list + i, n - i);

		(void)fputs(i ? "\n" : "", p->out);
		err = print_row(p, list + i, row, names, options);
		i += row;
	}
	free(list);
	if (err < 0)
		return err;
	report_text_notes(p, names);
	return ferror(p->out) ? -EIO : 0;
}
