/* diff.c - two inputs compared, site by site, with signs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/diff.h"

#include <errno.h>
#include <string.h>

#include "view/sites/amount.h"
#include "names/find/program.h"
#include "print/text/table_text.h"
#include "print/text/report_text.h"
#include "kit/words/text.h"

/* How many sites changed, and how. */
struct changes {
	size_t fresh, gone, grown, shrunk;
};

static bool is_meant(const struct diff_side *side, const struct process *p, uint32_t pid)
{
	return (!side->only || side->only == p) && (pid == VIEW_ANY || p->header.pid == pid);
}

/* The one program that all its processes run; NULL: they run several. */
static const char *program_of(const struct diff_side *side)
{
	const char *exe = NULL;

	for (size_t i = 0; i < side->session->count; i++) {
		const struct process *p = side->session->processes[i];

		if (!is_meant(side, p, VIEW_ANY))
			continue;
		if (exe && strcmp(exe, p->header.exe) != 0)
			return NULL;
		exe = p->header.exe;
	}
	return exe;
}

/* How many processes; the figures of all, and the last of them. */
static size_t add_up(const struct diff_side *side, uint32_t pid, struct view_figures *ret,
    const struct process **ret_last)
{
	size_t n = 0;

	*ret = (struct view_figures){0};
	for (size_t i = 0; i < side->session->count; i++) {
		const struct process *p = side->session->processes[i];

		if (!is_meant(side, p, pid))
			continue;
		process_add(&ret->all, &p->totals);
		*ret_last = p;
		n++;
	}
	return n;
}

static bool has_process(const struct diff_side *old, const struct diff_side *new, uint32_t pid)
{
	const struct process *last;
	struct view_figures f;

	return add_up(old, pid, &f, &last) + add_up(new, pid, &f, &last) > 0;
}

/* "OLD: a.seep: server (pid 12), after 3.4 s: 1,234 bytes in 5 blocks" */
static void print_side(const struct layout *p, const char *title, const struct diff_side *side,
    const struct body_options *o)
{
	const struct process *last = NULL;
	struct view_figures f;
	size_t n = add_up(side, o->view.pid, &f, &last);
	char a[WORDS_COUNTED], b[WORDS_COUNTED], c[WORDS_MAX];
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
		(void)fprintf(t.file, ", after %s", words_time(c, last->duration_ns));
	} else {
		(void)fputs(words_counted(a, n, "process"), t.file);
	}
	/* the total of short-lived blocks is known only after all sites */
	if (o->view.metric != VIEW_TEMPORARY)
		(void)fprintf(t.file, ": %s in %s",
		    words_counted(a, view_bytes(&f, o->view.metric), "byte"),
		    words_counted(b, view_blocks(&f, o->view.metric),
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
	char a[WORDS_COUNTED], b[WORDS_COUNTED], c[WORDS_COUNTED];
	struct layout_text t;

	count_changes(v, metric, &n);
	amounts_whole(v, metric, &all);
	layout_begin(p, &t);
	(void)fprintf(t.file,
	    "Difference: %s, %s; %s new, %zu gone, %zu grown, %zu shrunk, "
	    "%zu unchanged.\n",
	    amount_counted(a, &all.bytes, true, "byte"),
	    amount_counted(b, &all.blocks, true, metric == VIEW_ALLOCS ? "call" : "block"),
	    words_counted(c, n.fresh, "place"), n.gone, n.grown, n.shrunk, v->unchanged);
	layout_end(p, &t);
}

int diff_view(const struct diff_side *old, const struct diff_side *new, struct names *names,
    const struct view_options *options, struct view **ret)
{
	struct view_options o = *options;
	const struct view_side before = {.session = old->session, .only = old->only};

	if (!has_process(old, new, o.pid))
		return -ESRCH;
	o.only = new->only;
	o.before = &before;
	o.by_function = true;
	/*
	 * the same program for server-1.0 and server-1.1, but not for sh and ls
	 */
	o.join_programs = program_of(old) && program_of(new);
	return view_new(new->session, names, &o, ret);
}

int diff_write(const struct layout *p, const struct diff_side *old, const struct diff_side *new,
    struct names *names, const struct body_options *options)
{
	struct view *v;
	int err;

	if (!has_process(old, new, options->view.pid))
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
