/* html_timeline.c - the time line of a page: processes, and sites at moments. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/page/html_parts.h"

#include "base/std.h"
#include "session/timeline/playback.h"
#include "session/timeline/timeline.h"
#include "kit/data/sorted.h"

enum {
	POINTS_ALL = 40000, /* of a page */
	POINTS_MIN = 40,    /* of a process */
	POINTS_MAX = 4000,
	MOMENTS = 240,
	CHANGES_MIN = 20000, /* for all sites and moments together */
	CHANGES_PER_SITE = 4,
};

/* ---- points of processes ---- */

static void put_point(struct html_blob *b, const struct process_point *p)
{
	html_blob_put(b, HTML_POINT_TIME_US, p->time_us);
	html_blob_put(b, HTML_POINT_LIVE_BYTES, p->live_bytes);
	html_blob_put(b, HTML_POINT_LIVE_BLOCKS, p->live_blocks);
	html_blob_put(b, HTML_POINT_ALLOCATIONS, p->allocations);
	html_blob_put(b, HTML_POINT_ALLOCATED_BYTES, p->allocated_bytes);
}

/* Keeps the highest point of each interval, the first and the last. */
static void put_points(struct html *h, struct html_group *g, size_t most)
{
	const struct process *p = g->process;
	size_t stride = p->point_count / most + 1, i = 0;

	while (i < p->point_count) {
		size_t end = i + stride, best = i;
		bool is_edge = i == 0 || i + 1 == p->point_count;

		if (is_edge)
			end = i + 1;
		else if (end >= p->point_count)
			end = p->point_count - 1;
		for (size_t k = i; k < end; k++)
			if (p->points[k].live_bytes > p->points[best].live_bytes)
				best = k;
		put_point(&h->blob, &p->points[best]);
		g->points++;
		i = end;
	}
}

/* ---- changes of sites ---- */

/* What was added to a site from one moment to the next. */
struct change {
	uint32_t moment, row;
	int64_t added[4]; /* allocations, their bytes, frees, their bytes */
};

struct told {
	uint64_t sums[4];
};

/* An id of a process in the time line. */
struct member {
	uint32_t id, row;
	struct told told;
};

struct course {
	const struct html_group *group;
	struct member *members; /* by id */
	size_t count;
	uint64_t last_us;
};

struct changes {
	struct html *h;
	uint32_t input;
	struct course *courses; /* by process of the session */
	uint64_t width_us, until_us;
	struct change *list;
	size_t count, room, most;
};

BY(by_moment, struct change, UP(moment) ?: UP(row))

/* Merges entries of the same moment and row, and drops those of zeros. */
static void settle(struct changes *c)
{
	size_t kept = 0;

	qsort(c->list, c->count, sizeof(*c->list), by_moment);
	for (size_t i = 0; i < c->count;) {
		struct change sum = c->list[i++];
		bool any = false;

		for (; i < c->count && by_moment(&sum, &c->list[i]) == 0; i++)
			for (int k = 0; k < 4; k++)
				(void)__builtin_add_overflow(sum.added[k], c->list[i].added[k],
				    &sum.added[k]); /* figures wrap */
		for (int k = 0; k < 4; k++)
			any = any || sum.added[k] != 0;
		if (any)
			c->list[kept++] = sum;
	}
	c->count = kept;
}

/* If there are too many, the moments are twice as far apart from now on. */
static void thin_out(struct changes *c)
{
	settle(c);
	while (c->count > c->most && c->width_us < c->until_us) {
		c->width_us *= 2;
		for (size_t i = 0; i < c->count; i++)
			c->list[i].moment /= 2;
		settle(c);
	}
}

static int add(struct changes *c, struct member *m, const struct told *now, uint64_t time_us)
{
	struct change *x;

	if (c->count == c->room) {
		thin_out(c);
		/* a single moment keeps all its sites */
		if (c->count > c->room / 2) {
			size_t more = c->room * 2;
			struct change *bigger = reallocarray(c->list, more, sizeof(*bigger));

			if (!bigger)
				return -ENOMEM;
			c->list = bigger;
			c->room = more;
		}
	}
	x = &c->list[c->count++];
	*x = (struct change){
	    .row = m->row, .moment = (uint32_t)((time_us > 0 ? time_us - 1 : 0) / c->width_us)};
	for (int i = 0; i < 4; i++)
		x->added[i] = (int64_t)(now->sums[i] - m->told.sums[i]);
	m->told = *now;
	return 0;
}

static struct course *find_course(struct changes *c, const uint8_t uuid[16])
{
	const struct session *s = c->h->inputs[c->input].view->session;

	for (size_t i = 0; i < s->count; i++)
		if (c->courses[i].group && memcmp(s->processes[i]->header.uuid, uuid, 16) == 0)
			return &c->courses[i];
	return NULL;
}

BY(by_id, struct member, UP(id))

static int on_row(void *context, struct playback_process *p, uint32_t id,
    const struct codec_sum *sum, uint64_t time_us)
{
	struct changes *c = context;
	const struct told now = {
	    {sum->allocations, sum->allocated_bytes, sum->frees, sum->freed_bytes}};
	const struct member key = {.id = id};
	struct course *course = p->context;
	struct member *m;

	if (!course)
		course = p->context = find_course(c, p->header.uuid);
	if (!course)
		return 0; /* not of this page */
	m = bsearch(&key, course->members, course->count, sizeof(*m), by_id);
	if (!m)
		return 0; /* its site is filtered out */
	course->last_us = time_us;
	if (memcmp(&now, &m->told, sizeof(now)) == 0)
		return 0; /* a chapter begins with all sites, changed or not */
	return add(c, m, &now, time_us);
}

static int begin_course(struct course *c, const struct html_group *g)
{
	const struct process *p = g->process;

	c->group = g;
	c->members = calloc(p->id_count + 1, sizeof(*c->members));
	if (!c->members)
		return -ENOMEM;
	for (size_t i = 0; i < p->id_count; i++) {
		uint32_t row = g->row_of[p->ids[i].site];

		if (row != HTML_NO_ROW)
			c->members[c->count++] = (struct member){.id = p->ids[i].id, .row = row};
	}
	return 0;
}

/* The time of its last point, since the recording began. */
static uint64_t end_us(const struct changes *c, const struct course *x)
{
	const struct session *s = c->h->inputs[c->input].view->session;
	const struct process *p = x->group->process;
	uint64_t end_ns = p->header.start_realtime_ns + p->duration_ns, us = 0;

	if (end_ns > s->start_ns)
		us = (end_ns - s->start_ns) / 1000;
	if (us < x->last_us)
		us = x->last_us;
	return us > c->until_us ? c->until_us : us;
}

/* The changes between the last point and the final state. */
static int end_course(struct changes *c, struct course *x)
{
	const struct html_group *g = x->group;
	struct told *sums = calloc(g->count + 1, sizeof(*sums));
	uint64_t us = end_us(c, x);
	int err = sums ? 0 : -ENOMEM;

	for (size_t i = 0; i < x->count && err == 0; i++)
		for (int k = 0; k < 4; k++)
			sums[x->members[i].row - g->first].sums[k] += x->members[i].told.sums[k];
	for (size_t i = 0; i < g->count && err == 0; i++) {
		const struct process_figures *f = &c->h->rows[g->first + i].site->figures.all;
		const struct told end = {
		    {f->allocations, f->allocated_bytes, f->frees, f->freed_bytes}};
		struct member m = {.row = (uint32_t)(g->first + i), .told = sums[i]};

		if (memcmp(&end, &sums[i], sizeof(end)) != 0)
			err = add(c, &m, &end, us);
	}
	free(sums);
	return err;
}

static void put_changes(struct changes *c)
{
	struct html_moments *m = &c->h->moments[c->input];
	struct html_blob *b = &c->h->blob;

	*m = (struct html_moments){.width_us = c->width_us,
	    .count = (size_t)((c->until_us + c->width_us - 1) / c->width_us),
	    .changes = c->count};
	for (size_t i = 0; i < c->count; i++) {
		const struct change *x = &c->list[i];

		html_blob_put(b, HTML_CHANGE_MOMENT, x->moment);
		html_blob_put(b, HTML_CHANGE_SITE, x->row);
		html_blob_put(b, HTML_CHANGE_ALLOCATIONS, (uint64_t)x->added[0]);
		html_blob_put(b, HTML_CHANGE_ALLOCATED_BYTES, (uint64_t)x->added[1]);
		html_blob_put(b, HTML_CHANGE_FREES, (uint64_t)x->added[2]);
		html_blob_put(b, HTML_CHANGE_FREED_BYTES, (uint64_t)x->added[3]);
	}
}

static int put_input(struct html *h, uint32_t input)
{
	const struct session *s = h->inputs[input].view->session;
	struct changes c = {.h = h,
	    .input = input,
	    .until_us = s->until_us,
	    .width_us = s->until_us / MOMENTS + 1,
	    .most = CHANGES_PER_SITE * h->row_count,
	    .courses = calloc(s->count + 1, sizeof(*c.courses))};
	int err = c.courses ? 0 : -ENOMEM;

	if (c.most < CHANGES_MIN)
		c.most = CHANGES_MIN;
	c.room = 2 * c.most;
	c.list = calloc(c.room, sizeof(*c.list));
	if (!c.list)
		err = -ENOMEM;
	for (size_t i = 0, k = 0; i < h->group_count && err == 0; i++) {
		if (h->groups[i].input != input)
			continue;
		while (s->processes[k] != h->groups[i].process)
			k++;
		/* a snapshot has the time line of its process before it */
		if (s->processes[k]->is_snapshot)
			continue;
		err = begin_course(&c.courses[k], &h->groups[i]);
	}
	if (err == 0)
		err = timeline_rows(s->line, on_row, &c);
	for (size_t i = 0; i < s->count && err == 0; i++)
		if (c.courses[i].group)
			err = end_course(&c, &c.courses[i]);
	if (err == 0) {
		thin_out(&c);
		put_changes(&c);
	}
	for (size_t i = 0; c.courses && i < s->count; i++)
		free(c.courses[i].members);
	free(c.courses);
	free(c.list);
	return err;
}

int html_timeline_put(struct html *h)
{
	size_t most = POINTS_ALL / (h->group_count + 1);
	int err = 0;

	if (most < POINTS_MIN)
		most = POINTS_MIN;
	if (most > POINTS_MAX)
		most = POINTS_MAX;
	for (size_t i = 0; i < h->group_count; i++)
		put_points(h, &h->groups[i], most);
	for (uint32_t i = 0; i < h->input_count && err == 0; i++)
		if (h->inputs[i].view->session->line)
			err = put_input(h, i);
	return err;
}
