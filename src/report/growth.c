/* growth.c - what grew between two moments of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/growth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/timeline.h"
#include "report/labels.h"
#include "report/words.h"

enum { PROCESSES = 16 }; /* each reads the recording again */

/* One site between the two moments. */
struct row {
	size_t site;
	int64_t bytes, blocks;
	uint64_t allocations;
};

struct page {
	FILE *out;
	const struct process *process;
	const struct growth_options *options;
	struct labels *labels;
	struct row *rows;
	size_t count;
	int64_t grown; /* sum of the rows that grew */
};

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

/* "+1,234", "-1,234", "0" */
static const char *
with_sign(char buffer[WORDS_MAX + 1], int64_t n)
{
	char digits[WORDS_MAX];
	uint64_t value = n < 0 ? -(uint64_t)n : (uint64_t)n;

	(void)snprintf(buffer, WORDS_MAX + 1, "%s%s",
	    n > 0       ? "+"
	        : n < 0 ? "-"
	                : "",
	    words_count(digits, value));
	return buffer;
}

static int
print_stack(struct page *page, const struct row *row, bool below)
{
	char line[64];
	const uint32_t *stack;
	uint8_t api;
	size_t n;
	int err;

	err = labels_stack(page->labels, &page->process->sites[row->site], 0,
	    &stack, &n, &api);
	if (err < 0)
		return err;
	(void)fprintf(page->out, "%s in ", words_api(api));
	(void)snprintf(line, sizeof(line), "\n%52s<- ", "");
	labels_print(page->out, page->labels, stack, n, page->options->depth,
	    below ? line : " <- ");
	(void)putc('\n', page->out);
	return 0;
}

static int
print_rows(struct page *page)
{
	const struct growth_options *o = page->options;
	char a[WORDS_MAX + 1], b[WORDS_MAX + 1], c[WORDS_MAX];
	int64_t rest = 0;
	size_t shown = 0, left = 0;
	int err = 0;

	(void)fprintf(page->out, "%16s %12s %13s  %-8s %s\n", "bytes", "blocks",
	    "allocations", "site", o->tree ? "where, <- its callers" : "where");
	for (size_t i = 0; i < page->count && err == 0; i++) {
		const struct row *r = &page->rows[i];
		double part =
		    100.0 * (double)(r->bytes < 0 ? -(r->bytes + 1) : r->bytes);

		if ((o->top > 0 && shown >= o->top) ||
		    part < o->threshold * (double)page->grown) {
			rest += r->bytes;
			left++;
			continue;
		}
		(void)fprintf(page->out, "%16s %12s %13s  %-8u ",
		    with_sign(a, r->bytes), with_sign(b, r->blocks),
		    words_count(c, r->allocations),
		    page->process->sites[r->site].id);
		err = print_stack(page, r, o->tree);
		shown++;
	}
	if (left > 0)
		(void)fprintf(page->out,
		    "%16s %12s %13s  in %zu more site%s, below the threshold "
		    "or beyond --top\n",
		    with_sign(a, rest), "", "", left, left == 1 ? "" : "s");
	return err;
}

static int
by_growth(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

/* Figures of the sites at both moments; the end needs no replay. */
static int
fill(struct page *page, struct timeline *t, uint64_t from_us, uint64_t to_us,
    struct process_figures *from, struct process_figures *to)
{
	const struct process *p = page->process;
	uint64_t when;
	int err;

	err = timeline_sites_at(t, p, from_us, from, &when);
	if (err == 0 && to_us < timeline_until_us(t))
		err = timeline_sites_at(t, p, to_us, to, &when);
	else
		for (size_t i = 0; i < p->site_count; i++)
			to[i] = p->sites[i].figures;
	for (size_t i = 0; i < p->site_count && err == 0; i++) {
		struct row r = {
		    .site = i,
		    .bytes = (int64_t)(to[i].live_bytes - from[i].live_bytes),
		    .blocks =
		        (int64_t)(to[i].live_blocks - from[i].live_blocks),
		    .allocations = to[i].allocations > from[i].allocations
		        ? to[i].allocations - from[i].allocations
		        : 0,
		};

		if (p->sites[i].kind == SEG_SITE_USER ||
		    (r.bytes == 0 && r.blocks == 0))
			continue;
		page->grown += r.bytes > 0 ? r.bytes : 0;
		page->rows[page->count++] = r;
	}
	return err;
}

static int
print_process(struct page *page, struct timeline *t, uint64_t from_us,
    uint64_t to_us, struct names *names)
{
	const struct process *p = page->process;
	struct process_figures *from = calloc(p->site_count + 1, sizeof(*from));
	struct process_figures *to = calloc(p->site_count + 1, sizeof(*to));
	const char *slash = strrchr(p->header.exe, '/');
	char a[WORDS_MAX], b[WORDS_MAX], c[WORDS_MAX + 1];
	int64_t sum = 0;
	int err = -ENOMEM;

	page->rows = calloc(p->site_count + 1, sizeof(*page->rows));
	if (!from || !to || !page->rows)
		goto out;
	err = fill(page, t, from_us, to_us, from, to);
	if (err < 0)
		goto out;
	qsort(page->rows, page->count, sizeof(*page->rows), by_growth);
	for (size_t i = 0; i < page->count; i++)
		sum += page->rows[i].bytes;
	words_print(page->out, slash ? slash + 1 : p->header.exe);
	(void)fprintf(page->out, " (pid %u), from %s to %s: %s bytes live.\n",
	    p->header.pid, words_time(a, from_us * 1000),
	    words_time(b, to_us * 1000), with_sign(c, sum));
	err = labels_new(p, names, &page->labels);
	if (err < 0)
		goto out;
	if (page->count > 0)
		err = print_rows(page);
	labels_free(page->labels);
out:
	free(page->rows);
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
find_candidates(const struct session *s, uint64_t from_us, uint64_t to_us,
    struct candidate *list)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];
		uint64_t from, to;

		if (s->count > 1 && p->point_count < 2)
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
growth_write(FILE *out, const struct session *s, struct names *names,
    const struct growth_options *options)
{
	uint64_t from_us, to_us;
	struct candidate *list;
	size_t n;
	int err = 0;

	if (!s->line)
		return -ENODATA;
	list = calloc(s->count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	from_us = moment_us(&options->from, s->until_us);
	to_us = moment_us(&options->to, s->until_us);
	n = find_candidates(s, from_us, to_us, list);
	for (size_t i = 0; i < n && i < PROCESSES && err == 0; i++) {
		struct page page = {
		    .out = out, .process = list[i].process, .options = options};

		(void)fputs(i ? "\n" : "", out);
		err = print_process(&page, s->line, from_us, to_us, names);
	}
	if (n == 0)
		(void)fputs("No process was seen at two moments.\n", out);
	if (n > PROCESSES)
		(void)fprintf(
		    out, "\n%zu more processes changed less.\n", n - PROCESSES);
	free(list);
	return err < 0 ? err : ferror(out) ? -EIO : 0;
}
