/* timeline.c - answers questions from the time line of a recording or of chapters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/timeline/timeline.h"

#include "base/std.h"
#include "session/timeline/playback.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum { OPEN_MAX_PARTS = 64 }; /* recordings that stay open */

/* One recording: the whole time line, or a chapter of it. */
struct part {
	struct recording *recording; /* NULL: opened again by its path */
	char *path;
	uint64_t base_us; /* where it begins in the time line */
	uint64_t until_us;
};

struct timeline {
	struct part *parts; /* in order of time */
	size_t count, room;
	size_t open_count;
};

int timeline_new(struct recording *b, uint64_t until_us, struct timeline **ret)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t || room_make(&t->parts, &t->room, 0, sizeof(*t->parts)) < 0) {
		free(t);
		return -ENOMEM;
	}
	t->parts[t->count++] = (struct part){.recording = b, .until_us = until_us};
	t->open_count = 1;
	*ret = t;
	return 0;
}

int timeline_join(
    struct timeline **t, struct timeline *next, uint64_t base_us, const char *path, bool keep_open)
{
	struct timeline *all = *t ? *t : calloc(1, sizeof(*all));
	char *copy = strdup(path);
	struct part *to;

	if (!all || !copy ||
	    room_make(&all->parts, &all->room, all->count, sizeof(*all->parts)) < 0) {
		if (all != *t)
			free(all);
		free(copy);
		return -ENOMEM;
	}
	to = &all->parts[all->count++];
	*to = next->parts[0];
	to->base_us = base_us;
	to->path = copy;
	next->parts[0].recording = NULL;
	if (keep_open && all->open_count < OPEN_MAX_PARTS) {
		all->open_count++;
	} else {
		recording_close(to->recording);
		to->recording = NULL;
	}
	timeline_free(next);
	*t = all;
	return 0;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		recording_close(t->parts[i].recording);
		free(t->parts[i].path);
	}
	free(t->parts);
	free(t);
}

uint64_t timeline_until_us(const struct timeline *t)
{
	const struct part *last = &t->parts[t->count - 1];

	return last->base_us + last->until_us;
}

/*
 * Damage was reported when the recording was loaded. Here it ends the reading.
 * A chapter that was removed since has nothing to say.
 */
static int play(struct part *part, const struct playback_hooks *hooks, struct playback **ret)
{
	struct recording *b = part->recording;
	struct playback *r;
	const void *bytes;
	uint32_t type;
	size_t len;
	int err;

	err = playback_new(hooks, &r);
	if (err < 0)
		return err;
	if (!b && recording_open_entry(part->path, &b) < 0) {
		*ret = r;
		return 0;
	}
	recording_rewind(b);
	recording_only(b, RECORDING_LINE);
	while ((err = recording_next(b, &type, &bytes, &len)) == 1) {
		err = playback_entry(r, bytes, len);
		if (err < 0 || (hooks->until_us && playback_time_us(r) >= hooks->until_us))
			break;
	}
	if (!part->recording)
		recording_close(b);
	if (err == -ENOMEM || err == -EIO) {
		playback_free(r);
		return err;
	}
	*ret = r;
	return 0;
}

static const struct playback_process *find(const struct playback *r, const struct process *p)
{
	/* the last number that it has */
	for (size_t i = playback_count(r); i-- > 0;) {
		const struct playback_process *x = playback_process(r, i);

		if (memcmp(x->header.uuid, p->header.uuid, 16) == 0)
			return x;
	}
	return NULL;
}

/* May this part have something of p at or before a moment? */
static bool may_have(
    const struct timeline *t, const struct part *part, const struct process *p, uint64_t time_us)
{
	if (t->count == 1)
		return true;
	if (part->base_us > time_us && part != &t->parts[0])
		return false;
	return p->point_count == 0 ||
	    (part->base_us <= p->points[p->point_count - 1].time_us &&
	        part->base_us + part->until_us >= p->points[0].time_us);
}

static void add_figures(
    const struct playback_process *x, const struct process *p, struct process_figures *ret)
{
	for (size_t i = 0; i < p->id_count; i++) {
		struct codec_sum sum = playback_sum(x, p->ids[i].id);
		struct process_figures *f = &ret[p->ids[i].site];

		f->allocations += sum.allocations;
		f->allocated_bytes += sum.allocated_bytes;
		f->frees += sum.frees;
		f->freed_bytes += sum.freed_bytes;
		f->live_blocks += capped_difference(sum.allocations, sum.frees);
		f->live_bytes += capped_difference(sum.allocated_bytes, sum.freed_bytes);
	}
}

/*
 * Every chapter has all figures of its processes from its first look on, so
 * the last one that has the process will do.
 */
int timeline_sites_at(struct timeline *t, const struct process *p, uint64_t time_us,
    struct process_figures *ret, uint64_t *ret_time_us)
{
	memset(ret, 0, p->site_count * sizeof(*ret));
	*ret_time_us = time_us;
	for (size_t i = t->count; i-- > 0;) {
		struct part *part = &t->parts[i];
		uint64_t us = capped_difference(time_us, part->base_us);
		const struct playback_hooks hooks = {.rows = true, .until_us = us ? us : 1};
		const struct playback_process *x;
		struct playback *r;
		int err;

		if (!may_have(t, part, p, time_us))
			continue;
		err = play(part, &hooks, &r);
		if (err < 0)
			return err;
		x = find(r, p);
		if (x) {
			*ret_time_us = part->base_us + x->rows_us;
			add_figures(x, p, ret);
		}
		playback_free(r);
		if (x)
			break;
	}
	return 0;
}

/* ---- series ---- */

/* An id of a site with a series, and its last figures. */
struct member {
	size_t series;
	struct codec_sum last;
};

struct chase {
	const struct process *process;
	struct timeline_series *series;
	struct process_point *now; /* by number of the series */
	uint64_t *skipped, *stride;
	size_t max;
	uint64_t base_us;    /* of the part that is played */
	uint32_t *member_of; /* by id: number + 1 */
	uint32_t id_end;
	struct member *members;
};

static int add_point(struct chase *c, size_t i)
{
	struct timeline_series *s = &c->series[i];

	if (s->count > 0 &&
	    (s->points[s->count - 1].time_us == c->now[i].time_us ||
	        (s->count > 1 && ++c->skipped[i] < c->stride[i]))) {
		s->points[s->count - 1] = c->now[i];
		return 0;
	}
	c->skipped[i] = 0;
	if (s->count == c->max) {
		for (size_t k = 0; k < s->count / 2; k++)
			s->points[k] = s->points[2 * k];
		s->count /= 2;
		c->stride[i] = c->stride[i] ? c->stride[i] * 2 : 2;
	}
	if (!s->points)
		s->points = calloc(c->max + 1, sizeof(*s->points));
	if (!s->points)
		return -ENOMEM;
	s->points[s->count++] = c->now[i];
	return 0;
}

static bool same_figures(const struct codec_sum *a, const struct codec_sum *b)
{
	return a->allocations == b->allocations && a->frees == b->frees &&
	    a->allocated_bytes == b->allocated_bytes && a->freed_bytes == b->freed_bytes;
}

static int on_row(void *context, struct playback_process *p, uint32_t id,
    const struct codec_sum *sum, uint64_t time_us)
{
	struct chase *c = context;
	struct process_point *now;
	struct member *m;

	if (id >= c->id_end || c->member_of[id] == 0 ||
	    memcmp(p->header.uuid, c->process->header.uuid, 16) != 0)
		return 0;
	m = &c->members[c->member_of[id] - 1];
	/* a chapter begins with all sites, changed or not */
	if (same_figures(sum, &m->last))
		return 0;
	now = &c->now[m->series];
	now->time_us = c->base_us + time_us;
	now->live_bytes += capped_difference(sum->allocated_bytes, sum->freed_bytes) -
	    capped_difference(m->last.allocated_bytes, m->last.freed_bytes);
	now->live_blocks += capped_difference(sum->allocations, sum->frees) -
	    capped_difference(m->last.allocations, m->last.frees);
	now->allocations += sum->allocations - m->last.allocations;
	now->allocated_bytes += sum->allocated_bytes - m->last.allocated_bytes;
	m->last = *sum;
	return add_point(c, m->series);
}

/* Which ids belong to which series. */
static int chase_init(struct chase *c, size_t n)
{
	const struct process *p = c->process;
	size_t *series_of = calloc(p->site_count + 1, sizeof(*series_of));
	size_t members = 0;

	if (p->id_count > 0)
		c->id_end = p->ids[p->id_count - 1].id + 1;
	c->member_of = calloc((size_t)c->id_end + 1, sizeof(*c->member_of));
	c->members = calloc(p->id_count + 1, sizeof(*c->members));
	c->now = calloc(n + 1, sizeof(*c->now));
	c->skipped = calloc(n + 1, sizeof(*c->skipped));
	c->stride = calloc(n + 1, sizeof(*c->stride));
	if (!series_of || !c->member_of || !c->members || !c->now || !c->skipped || !c->stride) {
		free(series_of);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		series_of[c->series[i].site] = i + 1;
	for (size_t i = 0; i < p->id_count; i++) {
		if (series_of[p->ids[i].site] == 0)
			continue;
		c->members[members++].series = series_of[p->ids[i].site] - 1;
		c->member_of[p->ids[i].id] = (uint32_t)members;
	}
	free(series_of);
	return 0;
}

int timeline_series(struct timeline *t, const struct process *p, struct timeline_series *series,
    size_t n, size_t max)
{
	struct chase c = {.process = p, .series = series, .max = max < 2 ? 2 : max & ~(size_t)1};
	const struct playback_hooks hooks = {.context = &c, .rows = true, .row = on_row};
	int err;

	err = chase_init(&c, n);
	for (size_t i = 0; i < t->count && err == 0; i++) {
		struct playback *r = NULL;

		if (!may_have(t, &t->parts[i], p, UINT64_MAX))
			continue;
		c.base_us = t->parts[i].base_us;
		err = play(&t->parts[i], &hooks, &r);
		playback_free(r);
	}
	free(c.member_of);
	free(c.members);
	free(c.now);
	free(c.skipped);
	free(c.stride);
	return err;
}

/* The rows of a chapter, at their times in the whole time line. */
struct shifted {
	timeline_row *row;
	void *context;
	uint64_t base_us;
};

static int on_shifted_row(void *context, struct playback_process *p, uint32_t id,
    const struct codec_sum *sum, uint64_t time_us)
{
	const struct shifted *x = context;

	return x->row(x->context, p, id, sum, x->base_us + time_us);
}

int timeline_rows(struct timeline *t, timeline_row *row, void *context)
{
	struct shifted x = {.row = row, .context = context};
	const struct playback_hooks hooks = {.context = &x, .rows = true, .row = on_shifted_row};
	int err = 0;

	for (size_t i = 0; i < t->count && err == 0; i++) {
		struct playback *r = NULL;

		x.base_us = t->parts[i].base_us;
		err = play(&t->parts[i], &hooks, &r);
		playback_free(r);
	}
	return err;
}

/* ---- the top ---- */

struct rank {
	int64_t weight;
	size_t site;
};

BY(heavier, struct rank, DOWN(weight) ?: UP(site))

static void choose(struct rank *ranks, size_t n, size_t each, bool *chosen)
{
	qsort(ranks, n, sizeof(*ranks), heavier);
	for (size_t i = 0; i < n && i < each && ranks[i].weight > 0; i++)
		chosen[ranks[i].site] = true;
}

int timeline_top(struct timeline *t, const struct process *p, uint64_t from_us, size_t each,
    size_t **ret_sites, size_t *ret_count)
{
	size_t n = p->site_count, count = 0;
	struct process_figures *from = calloc(n + 1, sizeof(*from));
	struct rank *ranks = calloc(n + 1, sizeof(*ranks));
	bool *chosen = calloc(n + 1, sizeof(*chosen));
	size_t *sites = calloc(3 * each + 1, sizeof(*sites));
	uint64_t when;
	int err = -ENOMEM;

	if (!from || !ranks || !chosen || !sites)
		goto out;
	err = timeline_sites_at(t, p, from_us, from, &when);
	if (err < 0)
		goto out;
	for (int by = 0; by < 3; by++) {
		for (size_t i = 0; i < n; i++) {
			const struct process_figures *f = &p->sites[i].figures;

			ranks[i].site = i;
			ranks[i].weight = (int64_t)(by == 1 ? f->peak_bytes : f->live_bytes);
			if (by == 2)
				ranks[i].weight -= (int64_t)from[i].live_bytes;
		}
		choose(ranks, n, each, chosen);
	}
	for (size_t i = 0; i < n; i++)
		if (chosen[i])
			sites[count++] = i;
	*ret_sites = sites;
	*ret_count = count;
	sites = NULL;
out:
	free(from);
	free(ranks);
	free(chosen);
	free(sites);
	return err;
}
