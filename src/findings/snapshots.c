/* snapshots.c - shows one process at several moments, by its snapshots. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/snapshots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/sites/amount.h"
#include "names/find/program.h"
#include "findings/snapshots_parts.h"
#include "print/text/summary.h"
#include "print/text/report_text.h"
#include "kit/words/text.h"

/* When the state of a process was taken, since 1970. */
static uint64_t time_of(const struct process *p)
{
	if (p->header.snapshot_realtime_ns > 0)
		return p->header.snapshot_realtime_ns;
	return p->header.start_realtime_ns + p->duration_ns;
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct snapshots_moment *x = a, *y = b;
	const struct seg_header *h = &x->process->header;
	const struct seg_header *k = &y->process->header;
	int n;

	if (h->start_realtime_ns != k->start_realtime_ns)
		return h->start_realtime_ns < k->start_realtime_ns ? -1 : 1;
	n = memcmp(h->uuid, k->uuid, sizeof(h->uuid));
	if (n != 0)
		return n;
	/* the segment itself is later than its snapshots */
	if (x->process->is_snapshot != y->process->is_snapshot)
		return x->process->is_snapshot ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (h->snapshot_number > k->snapshot_number) -
	    (h->snapshot_number < k->snapshot_number);
}

int snapshots_find(struct session *const *sessions, size_t count, uint32_t pid,
    struct snapshots_moment **ret, size_t *ret_count)
{
	struct snapshots_moment *list;
	size_t room = 0, n = 0;

	for (size_t i = 0; i < count; i++)
		room += sessions[i]->count;
	list = calloc(room + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < sessions[i]->count; k++) {
			const struct process *p = sessions[i]->processes[k];

			if (pid != VIEW_ANY && p->header.pid != pid)
				continue;
			list[n++] = (struct snapshots_moment){
			    .session = sessions[i], .process = p, .time_ns = time_of(p)};
		}
	}
	if (n == 0) {
		free(list);
		return -ESRCH;
	}
	qsort(list, n, sizeof(*list), by_process_and_time);
	/* the clock of a segment ticks in tenths of a second */
	for (size_t i = 1; i < n; i++)
		if (list[i].time_ns < list[i - 1].time_ns && snapshots_row(&list[i - 1], 2) == 2)
			list[i].time_ns = list[i - 1].time_ns;
	*ret = list;
	*ret_count = n;
	return 0;
}

size_t snapshots_row(const struct snapshots_moment *list, size_t count)
{
	size_t n = 1;

	while (n < count &&
	    memcmp(list[0].process->header.uuid, list[n].process->header.uuid,
	        sizeof(list[0].process->header.uuid)) == 0)
		n++;
	return n;
}

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

/* ---- text ---- */

static void print_list(const struct layout *p, const struct snapshots_moment *row, size_t count)
{
	const struct process *first = row[0].process;
	char a[WORDS_MAX], b[WORDS_MAX], t[WORDS_MAX], c[AMOUNT_MAX], d[AMOUNT_MAX],
	    moments[WORDS_COUNTED];

	text_print(p->out, program_name(&first->header));
	(void)fprintf(p->out, " (pid %u), %s:\n%3s %10s %12s %8s %14s %12s  %s\n",
	    first->header.pid, words_counted(moments, count, "moment"), "#", "after", "live bytes",
	    "blocks", "since the last", "since #1", "label");
	for (size_t i = 0; i < count; i++) {
		const struct process *x = row[i].process;
		struct amount last = live_bytes(row[i ? i - 1 : 0].process, x);
		struct amount all = live_bytes(first, x);
		size_t used;

		used = (size_t)fprintf(p->out, "%3zu %10s %12s %8s %14s %12s  ", i + 1,
		    words_time(t, row[i].time_ns - first->header.start_realtime_ns),
		    words_count(a, x->totals.live_bytes), words_count(b, x->totals.live_blocks),
		    i ? amount_text(c, &last, true) : "", i ? amount_text(d, &all, true) : "");
		layout_fit(p, label_of(x), layout_room(p, used));
		(void)putc('\n', p->out);
	}
}

/* A series may have gaps: the collector keeps only a limited number. */
static void print_gaps(const struct layout *p, const struct snapshots_moment *row, size_t count)
{
	uint64_t gone = 0;
	char text[WORDS_COUNTED];

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
	    words_counted(text, gone, "snapshot"), gone == 1 ? "was" : "were");
}

static void print_title(
    const struct layout *p, const struct snapshots_moment *row, size_t number, int mode)
{
	const char *label = label_of(row[number].process);
	char buffer[WORDS_MAX];

	(void)fprintf(p->out, "\n%s#%zu", layout_colour(p, LAYOUT_STRONG), number + 1);
	if (*label) {
		(void)fputs(", ", p->out);
		text_print(p->out, label);
	}
	(void)fprintf(p->out, ", after %s%s",
	    words_time(buffer, row[number].time_ns - row[0].process->header.start_realtime_ns),
	    layout_colour(p, LAYOUT_PLAIN));
	if (mode == SNAPSHOTS_DELTAS)
		(void)fprintf(p->out, ", since #%zu", number);
	if (mode == SNAPSHOTS_CUMULATIVE)
		(void)fputs(", since #1", p->out);
	(void)fputs(":\n", p->out);
}

void snapshots_options(const struct snapshots_moment *row, size_t number, int mode,
    struct view_options *o, struct view_side *before)
{
	const struct snapshots_moment *from = &row[mode == SNAPSHOTS_DELTAS ? number - 1 : 0];

	o->only = row[number].process;
	if (mode == SNAPSHOTS_EACH)
		return;
	*before = (struct view_side){.session = from->session, .only = from->process};
	o->before = before;
}

static int print_row(const struct layout *p, const struct snapshots_moment *row, size_t count,
    struct names *names, const struct body_options *options, int mode)
{
	int err = 0;

	print_list(p, row, count);
	print_gaps(p, row, count);
	for (size_t i = mode == SNAPSHOTS_EACH ? 0 : 1; i < count && err == 0 && !ferror(p->out);
	     i++) {
		struct body_options o = *options;
		struct view_side before;

		snapshots_options(row, i, mode, &o.view, &before);
		print_title(p, row, i, mode);
		err = body_write(p, row[i].session, names, &o);
	}
	return err;
}

int snapshots_write(const struct layout *p, struct session *const *sessions, size_t count,
    struct names *names, const struct body_options *options, int mode)
{
	struct snapshots_moment *list;
	size_t n, rows = 0;
	int err;

	err = snapshots_find(sessions, count, options->view.pid, &list, &n);
	if (err < 0)
		return err;
	for (size_t i = 0; i < n && err == 0;) {
		size_t row = snapshots_row(list + i, n - i);

		/* a process with only one moment has nothing to compare */
		if (row > 1 || mode == SNAPSHOTS_EACH) {
			(void)fputs(rows++ ? "\n" : "", p->out);
			err = print_row(p, list + i, row, names, options, mode);
		}
		i += row;
	}
	free(list);
	if (err == 0 && rows == 0)
		return -ENODATA;
	if (err < 0)
		return err;
	report_text_notes(p, names);
	return ferror(p->out) ? -EIO : 0;
}
