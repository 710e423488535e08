/* massif.c - massif's file: ms_print, massif-visualizer. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/export.h"
#include "print/export/export_forms.h"
#include "print/export/texts.h"
#include "session/timeline/timeline.h"

enum {
	SNAPSHOTS = 100, /* as massif has at most */
	DETAILED = 8,    /* with a tree, beside peak and end: each is a search */
};

enum tree { TREE_NONE, TREE_DETAILED, TREE_PEAK, TREE_END };

struct snapshot {
	uint64_t time_us; /* since the process began */
	uint64_t line_us; /* since the recording began */
	uint64_t bytes;
	enum tree tree;
};

struct massif {
	FILE *out;
	const struct view *view;
	const struct process *process;
	struct massif_tree *tree;
	uint64_t *bytes;              /* by site of the view, of one moment */
	struct process_figures *then; /* by site of the process */
	struct snapshot *list;
	size_t count;
};

/* ---- which moments ---- */

/* Of a moment of the recording. */
static uint64_t since_start_us(const struct massif *m, uint64_t line_us)
{
	uint64_t start_us = m->process->header.start_realtime_ns / 1000;
	uint64_t us = m->view->session->start_ns / 1000 + line_us;

	return us > start_us ? us - start_us : 0;
}

static void add_snapshot(struct massif *m, const struct snapshot *s)
{
	size_t at = m->count++;

	/* a peak between two points is inserted, because its clock is coarse */
	while (at > 0 && m->list[at - 1].time_us > s->time_us) {
		m->list[at] = m->list[at - 1];
		at--;
	}
	m->list[at] = *s;
}

/* Of the points of each interval keeps the highest; the last one is the end. */
static void add_points(struct massif *m)
{
	const struct process_point *points = m->process->points;
	size_t n = m->process->point_count, best = 0;
	size_t per = n / (SNAPSHOTS - 3) + 1, kept = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		if (i % per == 0 || points[i].live_bytes > points[best].live_bytes)
			best = i;
		if (i % per != per - 1 && i + 2 != n)
			continue;
		add_snapshot(m,
		    &(struct snapshot){.time_us = since_start_us(m, points[best].time_us),
		        .line_us = points[best].time_us,
		        .bytes = points[best].live_bytes});
		kept++;
	}
	/* the n-th of them gets a tree */
	for (size_t i = 0; m->view->session->line && i < kept; i++)
		if ((i + 1) * DETAILED / kept != i * DETAILED / kept)
			m->list[i + 1].tree = TREE_DETAILED;
}

static void find_snapshots(struct massif *m)
{
	const struct process *p = m->process;
	uint64_t peak_ns = process_time_ns(p, p->header.peak_tick);
	uint64_t end_us = p->duration_ns / 1000, peak_us = 0;

	if (peak_ns > p->header.start_realtime_ns)
		peak_us = (peak_ns - p->header.start_realtime_ns) / 1000;
	add_snapshot(m, &(struct snapshot){0});
	add_points(m);
	if (m->list[m->count - 1].time_us > end_us)
		end_us = m->list[m->count - 1].time_us;
	add_snapshot(m,
	    &(struct snapshot){.time_us = peak_us < end_us ? peak_us : end_us,
	        .bytes = p->totals.peak_bytes,
	        .tree = TREE_PEAK});
	add_snapshot(m,
	    &(struct snapshot){.time_us = end_us, .bytes = p->totals.live_bytes, .tree = TREE_END});
}

/* ---- one moment ---- */

/* Bytes of each site. */
static int find_bytes(const struct massif *m, const struct snapshot *s)
{
	const struct view *v = m->view;
	uint64_t when;
	int err = 0;

	if (s->tree == TREE_DETAILED)
		err = timeline_sites_at(v->session->line, m->process, s->line_us, m->then, &when);
	for (size_t i = 0; i < v->site_count; i++) {
		const struct process_figures *f = &v->sites[i].figures.all;

		if (s->tree == TREE_DETAILED)
			m->bytes[i] = m->then[v->sites[i].site].live_bytes;
		else if (s->tree == TREE_PEAK)
			m->bytes[i] = f->peak_bytes;
		else
			m->bytes[i] = f->live_bytes;
	}
	return err;
}

/*
 * The tree must not have more than the whole, which can happen for a process
 * that was read while it ran.
 */
static uint64_t whole_of(const struct massif *m, const struct snapshot *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->view->site_count; i++)
		sum += m->bytes[i];
	return sum > s->bytes ? sum : s->bytes;
}

static int put_snapshot(const struct massif *m, size_t number)
{
	static const char *const words[] = {[TREE_NONE] = "empty",
	    [TREE_DETAILED] = "detailed",
	    [TREE_PEAK] = "peak",
	    [TREE_END] = "detailed"};
	struct snapshot *s = &m->list[number];
	uint64_t whole = s->bytes;
	int err = 0;

	if (s->tree != TREE_NONE) {
		err = find_bytes(m, s);
		if (err == -ENOMEM)
			return err;
		if (err < 0) /* the recording is damaged there */
			s->tree = TREE_NONE;
		else
			whole = whole_of(m, s);
		err = 0;
	}
	(void)fprintf(m->out,
	    "#-----------\nsnapshot=%zu\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRIu64
	    "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
	    number, s->time_us / 1000, whole, words[s->tree]);
	if (s->tree != TREE_NONE)
		err = massif_tree_write(m->tree, m->out, m->bytes, whole);
	return err;
}

/* ---- the file ---- */

/* All remarks on one line: readers expect no more. */
static int put_head(const struct massif *m, const struct export_options *o)
{
	char *remarks = remarks_of(m->view, o);
	const char *before = "desc: ";

	if (!remarks)
		return -ENOMEM;
	for (char *rest = remarks, *line; (line = strsep(&rest, "\n")) != NULL;) {
		if (!*line)
			continue;
		(void)fprintf(m->out, "%s%s", before, line);
		before = "; ";
	}
	free(remarks);
	(void)fputs("\ncmd: ", m->out);
	texts_command(m->out, m->process);
	(void)fputs("\ntime_unit: ms\n", m->out);
	return 0;
}

static int write_massif(FILE *out, const struct view *v, const struct export_options *o)
{
	struct massif m = {.out = out, .view = v, .process = o->only};
	int err = -ENOMEM;

	m.bytes = calloc(v->site_count + 1, sizeof(*m.bytes));
	m.then = calloc(o->only->site_count + 1, sizeof(*m.then));
	m.list = calloc(SNAPSHOTS + 3, sizeof(*m.list));
	if (!m.bytes || !m.then || !m.list)
		goto out;
	err = massif_tree_new(v, o->depth, o->full, &m.tree);
	if (err < 0)
		goto out;
	find_snapshots(&m);
	err = put_head(&m, o);
	for (size_t i = 0; i < m.count && err == 0 && !ferror(out); i++)
		err = put_snapshot(&m, i);
	if (err == 0 && ferror(out))
		err = -EIO;
out:
	massif_tree_free(m.tree);
	free(m.list);
	free(m.then);
	free(m.bytes);
	return err;
}

const struct export_format export_massif = {
    .name = "massif",
    .extension = ".massif",
    .what = "massif's file, of one process: ms_print, massif-visualizer",
    .flags = EXPORT_ONE | EXPORT_DEAD,
    .write = write_massif,
};
