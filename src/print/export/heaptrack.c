/* heaptrack.c - heaptrack's file, version 3: heaptrack_print and its GUI. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/events_out.h"
#include "print/export/export.h"
#include "print/export/export_forms.h"
#include "print/export/texts.h"
#include "view/sites/enum_words.h"
#include "kit/data/capped.h"

/*
 * The format has a line for each allocation and each free. If there is an event
 * log, they are in it (events_out.h). Otherwise we have sums. Then we invent events that add up
 * to the same sums: first the blocks that were live neither at the peak nor at the end, one by
 * one; then those of the peak; then the frees after the peak; then the allocations after it.
 * Numbers are hexadecimal and count from 1, except those of allocations, which count from 0.
 * Allocation 0 is a dummy: freeing it only separates other events.
 */
enum {
	EVENTS_MAX = 10000000, /* beyond that a line is several blocks */
	PER_WRITE = 512,       /* lines */
	PAGE = 4096,
};

struct heaptrack {
	FILE *out;
	const struct view *view;
	struct heaptrack_stacks stacks;
	uint32_t *site_traces; /* by site: number in the file */
	uint32_t *gone;        /* by site: sizes of what goes after the peak */
	uint32_t sizes;        /* lines "a" so far */
	uint64_t per_line;     /* blocks */
	uint64_t peak;         /* bytes of all */
};

/* ---- events ---- */

/* The same lines n times. */
static void put_lines(FILE *out, const char *lines, uint64_t n)
{
	char buffer[PER_WRITE * 64 + 1], *end = buffer;
	size_t len = strlen(lines);

	for (uint64_t i = 0; i < n && i < PER_WRITE; i++)
		end = stpcpy(end, lines);
	for (; n >= PER_WRITE && !ferror(out); n -= PER_WRITE)
		(void)fwrite(buffer, 1, PER_WRITE * len, out);
	if (n > 0)
		(void)fwrite(buffer, 1, n * len, out);
}

/* A size that blocks of a stack have; its number. */
static uint32_t put_size(struct heaptrack *h, uint64_t bytes, uint32_t trace)
{
	(void)fprintf(h->out, "a %" PRIx64 " %" PRIx32 "\n", bytes, trace);
	return h->sizes++;
}

/* How many lines, and how many of them are one byte larger. */
struct split {
	uint64_t lines, larger, bytes;
};

static struct split split(const struct heaptrack *h, const struct heaptrack_group *g)
{
	struct split s = {.lines = (g->blocks + h->per_line - 1) / h->per_line};

	if (s.lines > 0) {
		s.bytes = g->bytes / s.lines;
		s.larger = g->bytes % s.lines;
	}
	return s;
}

/* Writes the allocations of a group; returns the number of its first size. */
static uint32_t put_coming(struct heaptrack *h, const struct heaptrack_group *g, uint32_t trace)
{
	const struct split s = split(h, g);
	uint32_t first = h->sizes;
	char line[32];

	if (s.lines > s.larger) {
		(void)snprintf(line, sizeof(line), "+ %" PRIx32 "\n", put_size(h, s.bytes, trace));
		put_lines(h->out, line, s.lines - s.larger);
	}
	if (s.larger > 0) {
		(void)snprintf(
		    line, sizeof(line), "+ %" PRIx32 "\n", put_size(h, s.bytes + 1, trace));
		put_lines(h->out, line, s.larger);
	}
	return first;
}

static void put_going(struct heaptrack *h, const struct heaptrack_group *g, uint32_t first)
{
	const struct split s = split(h, g);
	char line[32];

	if (s.lines > s.larger) {
		(void)snprintf(line, sizeof(line), "- %" PRIx32 "\n", first++);
		put_lines(h->out, line, s.lines - s.larger);
	}
	if (s.larger > 0) {
		(void)snprintf(line, sizeof(line), "- %" PRIx32 "\n", first);
		put_lines(h->out, line, s.larger);
	}
}

/*
 * Writes blocks that are allocated and freed. Readers call a block temporary if
 * its free directly follows its allocation: those that died young.
 */
static void put_passing(
    struct heaptrack *h, const struct view_site *s, const struct heaptrack_group *g, uint32_t trace)
{
	uint64_t lines = split(h, g).lines, young, bytes;
	uint32_t size;
	char text[64];

	if (lines == 0)
		return;
	young = s->figures.temporary_blocks / h->per_line;
	if (young > lines || s->figures.temporary_blocks >= g->blocks)
		young = lines;
	bytes = g->bytes / g->blocks;
	size = put_size(h, bytes < h->peak ? bytes : h->peak, trace);
	(void)snprintf(text, sizeof(text), "+ %" PRIx32 "\n- %" PRIx32 "\n", size, size);
	put_lines(h->out, text, young);
	(void)snprintf(text, sizeof(text), "+ %" PRIx32 "\n- 0\n- %" PRIx32 "\n", size, size);
	put_lines(h->out, text, lines - young);
}

/* ---- the file ---- */

static void put_time(struct heaptrack *h, uint64_t ns)
{
	(void)fprintf(h->out, "c %" PRIx64 "\n", ns / 1000000);
}

static void put_events(struct heaptrack *h, uint64_t peak_ns, uint64_t end_ns)
{
	const struct view *v = h->view;
	struct heaptrack_plan plan;

	put_time(h, 0);
	(void)put_size(h, 0, h->site_traces[0]);
	for (size_t i = 0; i < v->site_count && !ferror(h->out); i++) {
		heaptrack_plan(&v->sites[i].figures.all, &plan);
		put_passing(h, &v->sites[i], &plan.neither, h->site_traces[i]);
	}
	put_time(h, peak_ns);
	for (size_t i = 0; i < v->site_count && !ferror(h->out); i++) {
		heaptrack_plan(&v->sites[i].figures.all, &plan);
		h->gone[i] = put_coming(h, &plan.peak, h->site_traces[i]);
		(void)put_coming(h, &plan.both, h->site_traces[i]);
	}
	put_time(h, end_ns);
	(void)fputs("- 0\n", h->out);
	for (size_t i = 0; i < v->site_count && !ferror(h->out); i++) {
		heaptrack_plan(&v->sites[i].figures.all, &plan);
		put_going(h, &plan.peak, h->gone[i]);
	}
	for (size_t i = 0; i < v->site_count && !ferror(h->out); i++) {
		heaptrack_plan(&v->sites[i].figures.all, &plan);
		(void)put_coming(h, &plan.end, h->site_traces[i]);
	}
}

static void put_head(
    const struct heaptrack *h, const struct process *p, const struct export_options *o)
{
	(void)fputs("v 10400 3\nX ", h->out);
	if (p)
		texts_command(h->out, p);
	(void)fprintf(h->out,
	    " [written by seep %s: events are made up of "
	    "sums",
	    o->version);
	if (h->per_line > 1)
		(void)fprintf(h->out, "; one stands for up to %" PRIu64 " blocks", h->per_line);
	/* of the machine's memory nothing is known */
	(void)fprintf(h->out, "]\nI %x 0\n", (unsigned)PAGE);
}

/* Impossible figures must not become endless lines, so the plan is counted. */
static void choose_lines(struct heaptrack *h)
{
	uint64_t events = 0;

	for (size_t i = 0; i < h->view->site_count; i++) {
		const struct process_figures *f = &h->view->sites[i].figures.all;
		struct heaptrack_plan plan;

		heaptrack_plan(f, &plan);
		events = capped_sum(events, capped_sum(plan.both.blocks, plan.end.blocks));
		for (int k = 0; k < 2; k++) /* they come and go */
			events =
			    capped_sum(events, capped_sum(plan.neither.blocks, plan.peak.blocks));
		h->peak = capped_sum(h->peak, f->peak_bytes);
	}
	h->per_line = events / EVENTS_MAX + 1;
}

static void put_file(struct heaptrack *h, const struct export_options *o)
{
	const struct session *s = h->view->session;
	const struct process *first = NULL;
	uint64_t peak_ns = 0, end_ns = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];
		uint64_t peak = process_time_ns(p, p->header.peak_tick);
		uint64_t start = p->header.start_realtime_ns;

		if (!export_has(o, p))
			continue;
		if (!first && peak > start)
			peak_ns = peak - start;
		first = first ? first : p;
		if (p->duration_ns > end_ns)
			end_ns = p->duration_ns;
	}
	choose_lines(h);
	put_head(h, first, o);
	for (size_t i = 0; i < h->view->site_count && h->stacks.err == 0; i++)
		h->site_traces[i] = heaptrack_stacks_put(&h->stacks, &h->view->sites[i]);
	if (h->stacks.err == 0 && h->view->site_count > 0)
		put_events(h, peak_ns < end_ns ? peak_ns : end_ns, end_ns);
}

static int write_sums(FILE *out, const struct view *v, const struct export_options *o)
{
	struct heaptrack h = {.out = out, .view = v};
	int err = heaptrack_stacks_init(&h.stacks, out, v);

	h.site_traces = calloc(v->site_count + 1, sizeof(*h.site_traces));
	h.gone = calloc(v->site_count + 1, sizeof(*h.gone));
	if (!h.site_traces || !h.gone)
		err = -ENOMEM;
	if (err == 0) {
		put_file(&h, o);
		err = h.stacks.err;
	}
	heaptrack_stacks_release(&h.stacks);
	free(h.site_traces);
	free(h.gone);
	return err;
}

static int write_events(FILE *out, const struct view *v, const struct export_options *o)
{
	struct events_out *events;
	int err =
	    events_out_new(out, v, o->events->process, EVENTS_OUT_HEAPTRACK, o->version, &events);

	if (err < 0)
		return err;
	events_out_begin(events);
	err = o->events->read(o->events->context, events_out_put, events);
	events_out_free(events);
	return err;
}

static int write_heaptrack(FILE *out, const struct view *v, const struct export_options *o)
{
	int err = o->events ? write_events(out, v, o) : write_sums(out, v, o);

	return err < 0 ? err : ferror(out) ? -EIO : 0;
}

const struct export_format export_heaptrack = {
    .name = "heaptrack",
    .extension = ".heaptrack",
    .what = "heaptrack's file: heaptrack_print, heaptrack_gui",
    .flags = EXPORT_DEAD | EXPORT_DEPTH | EXPORT_EVENTS,
    .write = write_heaptrack,
};
