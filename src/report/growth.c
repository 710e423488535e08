/* growth.c - what grew between two moments of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/growth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/timeline.h"
#include "report/amount.h"
#include "report/text.h"

enum { PROCESSES = 16 }; /* each reads the recording again */

static bool
parse_moment(const char *text, size_t len, struct growth_moment *ret)
{
	char copy[40], *end;
	double value;

	if (len == 0)
		return true; /* as it was */
	if (len >= sizeof(copy) || strchr("0123456789.", text[0]) == NULL)
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	value = strtod(copy, &end);
	if (end == copy || !(value >= 0) || value > 1e12)
		return false;
	ret->value = value;
	ret->is_percent = *end == '%';
	if (*end == '%' || *end == 's')
		end++;
	return *end == '\0' && !(ret->is_percent && value > 100);
}

bool
growth_parse(const char *text, struct growth_moment *ret_from,
    struct growth_moment *ret_to)
{
	const char *dots = strstr(text, "..");
	struct growth_moment from = {.value = 100.0 / 3, .is_percent = true};
	struct growth_moment to = {.value = 100, .is_percent = true};

	if (*text && !dots)
		return false;
	/* "1...5" is 1. to 5: the dots are the last two of a row */
	while (dots && dots[2] == '.')
		dots++;
	if (dots &&
	    (!parse_moment(text, (size_t)(dots - text), &from) ||
	        !parse_moment(dots + 2, strlen(dots + 2), &to)))
		return false;
	*ret_from = from;
	*ret_to = to;
	return true;
}

static uint64_t
moment_us(const struct growth_moment *m, uint64_t until_us)
{
	double us =
	    m->is_percent ? m->value / 100 * (double)until_us : m->value * 1e6;

	return us >= (double)until_us ? until_us : (uint64_t)us;
}

/* The process whose figures were looked up, at two moments. */
struct stretch {
	const struct process *process;
	uint64_t from_us, to_us;
	struct process_figures *from, *to; /* by site */
};

/* The end needs no replay. */
static int
look_up(struct stretch *x, struct timeline *t)
{
	const struct process *p = x->process;
	uint64_t when;
	int err;

	x->from = calloc(p->site_count + 1, sizeof(*x->from));
	x->to = calloc(p->site_count + 1, sizeof(*x->to));
	if (!x->from || !x->to)
		return -ENOMEM;
	err = timeline_sites_at(t, p, x->from_us, x->from, &when);
	if (err == 0 && x->to_us < timeline_until_us(t))
		return timeline_sites_at(t, p, x->to_us, x->to, &when);
	for (size_t i = 0; i < p->site_count; i++)
		x->to[i] = p->sites[i].figures;
	return err;
}

static void
print_title(const struct page *page, const struct stretch *x)
{
	const struct process *p = x->process;
	char a[WORDS_MAX], b[WORDS_MAX], c[AMOUNT_MAX];
	struct amount net = {0};

	for (size_t i = 0; i < p->site_count; i++) {
		if (p->sites[i].kind == SEG_SITE_USER)
			continue;
		net.plus += x->to[i].live_bytes;
		net.minus += x->from[i].live_bytes;
	}
	words_print(page->out, frames_base(p->header.exe));
	(void)fprintf(page->out, " (pid %u), from %s to %s: %s bytes live.\n",
	    p->header.pid, words_time(a, x->from_us * 1000),
	    words_time(b, x->to_us * 1000), amount_text(c, &net, true));
}

/* Figures of the other processes are not asked for: `only` is one. */
static int
print_process(const struct page *page, const struct session *s,
    struct stretch *x, struct names *names, const struct body_options *options)
{
	const struct process_figures **from = calloc(s->count, sizeof(void *));
	const struct process_figures **to = calloc(s->count, sizeof(void *));
	struct view_side before = {
	    .session = s, .only = x->process, .figures = from};
	struct body_options o = *options;
	int err = -ENOMEM;

	if (!from || !to)
		goto out;
	err = look_up(x, s->line);
	if (err < 0)
		goto out;
	for (size_t i = 0; i < s->count; i++) {
		from[i] = s->processes[i] == x->process ? x->from : NULL;
		to[i] = s->processes[i] == x->process ? x->to : NULL;
	}
	o.view.only = x->process;
	o.view.figures = to;
	o.view.before = &before;
	print_title(page, x);
	err = body_write(page, s, names, &o);
out:
	free(x->from);
	free(x->to);
	free(from);
	free(to);
	return err;
}

/* Live bytes of a process at a moment, from its course. */
static uint64_t
live_at(const struct process *p, uint64_t time_us)
{
	uint64_t live = 0;

	for (size_t i = 0; i < p->point_count; i++) {
		if (p->points[i].time_us > time_us)
			break;
		live = p->points[i].live_bytes;
	}
	return live;
}

/* Most changed first; who was never seen alive twice has no course. */
struct candidate {
	const struct process *process;
	uint64_t change;
};

static int
by_change(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->change != y->change)
		return x->change > y->change ? -1 : 1;
	return (x->process->header.pid > y->process->header.pid) -
	    (x->process->header.pid < y->process->header.pid);
}

static size_t
find_candidates(const struct session *s, uint32_t pid, uint64_t from_us,
    uint64_t to_us, struct candidate *list)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];
		uint64_t from, to;

		if ((s->count > 1 && p->point_count < 2) ||
		    (pid != VIEW_ANY && p->header.pid != pid))
			continue;
		from = live_at(p, from_us);
		to = live_at(p, to_us);
		list[n++] = (struct candidate){
		    .process = p, .change = to > from ? to - from : from - to};
	}
	qsort(list, n, sizeof(*list), by_change);
	return n;
}

int
growth_write(const struct page *p, const struct session *s, struct names *names,
    const struct body_options *options, const struct growth_moment *from,
    const struct growth_moment *to)
{
	struct candidate *list;
	uint64_t from_us, to_us;
	size_t n;
	int err = 0;

	if (!s->line)
		return -ENODATA;
	list = calloc(s->count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	from_us = moment_us(from, s->until_us);
	to_us = moment_us(to, s->until_us);
	n = find_candidates(s, options->view.pid, from_us, to_us, list);
	for (size_t i = 0; i < n && i < PROCESSES && err == 0; i++) {
		struct stretch x = {.process = list[i].process,
		    .from_us = from_us,
		    .to_us = to_us};

		(void)fputs(i ? "\n" : "", p->out);
		err = print_process(p, s, &x, names, options);
	}
	if (n == 0)
		(void)fputs("No process was seen at two moments.\n", p->out);
	if (n > PROCESSES)
		(void)fprintf(p->out, "\n%zu more processes changed less.\n",
		    n - PROCESSES);
	free(list);
	if (err == 0)
		text_notes(p, names);
	return err < 0 ? err : ferror(p->out) ? -EIO : 0;
}
