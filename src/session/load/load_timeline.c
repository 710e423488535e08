/* load_timeline.c - the time line of a recording: points, marks, missing ends. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "session/load/load_parts.h"

#include "base/std.h"
#include "kit/data/room.h"

enum {
	POINTS_MAX = 65536,       /* of one process */
	ALL_POINTS_MAX = 1 << 22, /* looked at, of all processes */
	MARKS_MAX = 65536,
};

/* Points of a process that is not yet in the session. */
struct course {
	struct process_point *points;
	size_t count, room;
	uint64_t stride, skipped; /* keep one in so many */
};

/*
 * If there are too many points, every second one is dropped; the last is always
 * kept.
 */
static int add_point(struct course *c, const struct process_point *point)
{
	if (c->count > 1 && ++c->skipped < c->stride) {
		c->points[c->count - 1] = *point;
		return 0;
	}
	c->skipped = 0;
	if (c->count == POINTS_MAX) {
		for (size_t i = 0; i < c->count / 2; i++)
			c->points[i] = c->points[2 * i];
		c->count /= 2;
		c->stride = c->stride ? c->stride * 2 : 2;
	}
	if (room_make(&c->points, &c->room, c->count, sizeof(*c->points)) < 0)
		return -ENOMEM;
	c->points[c->count++] = *point;
	return 0;
}

static int on_totals(void *context, struct playback_process *p)
{
	struct load *r = context;
	const struct codec_sum *t = &p->totals;
	const struct process_point point = {
	    .time_us = p->totals_us,
	    .live_bytes =
	        t->allocated_bytes > t->freed_bytes ? t->allocated_bytes - t->freed_bytes : 0,
	    .live_blocks = t->allocations > t->frees ? t->allocations - t->frees : 0,
	    .allocations = t->allocations,
	    .allocated_bytes = t->allocated_bytes,
	};

	if (!p->context)
		p->context = calloc(1, sizeof(struct course));
	if (!p->context)
		return -ENOMEM;
	if (++r->points > ALL_POINTS_MAX) {
		r->session->lost.points++; /* of thousands of processes */
		return 0;
	}
	return add_point(p->context, &point);
}

static int on_mark(void *context, const struct playback_mark *mark)
{
	struct session *s = ((struct load *)context)->session;
	struct session_mark *more;

	if (s->mark_count >= MARKS_MAX) {
		s->lost.marks++;
		return 0;
	}
	if ((s->mark_count & (s->mark_count - 1)) == 0) {
		size_t room = s->mark_count ? s->mark_count * 2 : 1;

		more = reallocarray(s->marks, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->marks = more;
	}
	more = &s->marks[s->mark_count++];
	*more =
	    (struct session_mark){.time_us = mark->time_us, .kind = mark->kind, .pid = mark->pid};
	memcpy(more->label, mark->label, sizeof(more->label));
	return 0;
}
_Static_assert(
    sizeof(((struct session_mark *)0)->label) == sizeof(((struct playback_mark *)0)->label),
    "a label is copied whole");

/* Once a part of the time line is missing, differences make no sense. */
int load_timeline(struct load *r, const void *bytes, size_t len)
{
	int err;

	r->has_timeline = true;
	if (r->timeline_damaged)
		return 0;
	err = playback_entry(r->replay, bytes, len);
	if (err == -ENOMEM || err == 0)
		return err;
	r->timeline_damaged = true;
	r->session->is_truncated = true;
	return session_note(r->session, "%s: its time line is damaged after %.1f s", r->name,
	    (double)playback_time_us(r->replay) / 1e6);
}

int load_timeline_begin(struct load *r)
{
	const struct playback_hooks hooks = {.context = r, .totals = on_totals, .mark = on_mark};

	return playback_new(&hooks, &r->replay);
}

static struct process *process_of(const struct load *r, const uint8_t uuid[16])
{
	for (size_t i = r->first; i < r->session->count; i++)
		if (memcmp(r->session->processes[i]->header.uuid, uuid, 16) == 0)
			return r->session->processes[i];
	return NULL;
}

/* Every second one goes while there are too many; the last one stays. */
static void thin(struct process *p)
{
	while (p->point_count > POINTS_MAX) {
		const struct process_point last = p->points[p->point_count - 1];

		p->point_count /= 2;
		for (size_t i = 0; i < p->point_count; i++)
			p->points[i] = p->points[2 * i];
		p->points[p->point_count - 1] = last;
	}
}

/* A process may have several numbers, one after the other (pack.h). */
static int take_points(struct process *p, struct course *c)
{
	struct process_point *all;

	if (p->point_count == 0) {
		free(p->points);
		p->points = c->points;
		p->point_count = c->count;
		c->points = NULL;
		return 0;
	}
	if (c->points[0].time_us < p->points[p->point_count - 1].time_us)
		return 0; /* another process that says it is this one */
	all = reallocarray(p->points, p->point_count + c->count, sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all + p->point_count, c->points, c->count * sizeof(*all));
	p->points = all;
	p->point_count += c->count;
	thin(p);
	free(c->points);
	c->points = NULL;
	return 0;
}

int load_timeline_points(struct load *r)
{
	int err = 0, missing = 0;

	for (size_t i = 0; i < playback_count(r->replay); i++) {
		struct playback_process *x = playback_process(r->replay, i);
		struct course *c = x->context;
		struct process *p = process_of(r, x->header.uuid);

		if (!p && x->header.magic == SEG_MAGIC)
			missing = 1;
		if (p && c && c->points && c->count > 0)
			err = take_points(p, c);
		if (err < 0)
			return err;
	}
	return missing;
}

/* Makes a process from the time line if its end state is missing. */
static int add_unfinished(struct load *r, const struct playback_process *x)
{
	const char *slash = strrchr(x->header.exe, '/');
	struct segment *seg;
	struct process *p;
	int err;

	err = playback_segment(x, &seg);
	if (err < 0)
		return err == -ENODATA ? 0 : err;
	/* a time line lacks the tables that it says it has filled at its exit */
	seg->header.fold_events = 0;
	err = process_new(seg, &p);
	segment_copy_free(seg);
	if (err < 0)
		return err;
	p->is_unfinished = !r->is_growing;
	p->temporary_ticks = 0; /* a time line has no ages */
	p->as_of_us = x->rows_us;
	p->end = r->is_growing ? PROCESS_RUNNING : PROCESS_UNKNOWN;
	if (x->header.end_kind == SEG_END_EXITED)
		p->end = PROCESS_EXITED;
	/* a later chapter may have it: chapters.c says so, if not */
	if (r->is_growing || r->session->work->is_chapter)
		return session_add(r->session, p) < 0 ? -ENOMEM : 0;
	err = session_note(r->session,
	    "%s: the end of process %u (%s) is missing; its figures are those "
	    "of %.1f s after the start",
	    r->name, x->header.pid, slash ? slash + 1 : x->header.exe, (double)x->rows_us / 1e6);
	return session_add(r->session, p) < 0 ? -ENOMEM : err;
}

/* Has a later number of the time line the same process? */
static bool goes_on(const struct playback *r, size_t i)
{
	const uint8_t *uuid = playback_process(r, i)->header.uuid;

	while (++i < playback_count(r))
		if (memcmp(playback_process(r, i)->header.uuid, uuid, 16) == 0)
			return true;
	return false;
}

int load_timeline_unfinished(struct load *r)
{
	const struct playback_hooks hooks = {.rows = true, .until_us = playback_time_us(r->replay)};
	size_t known = r->session->count;
	struct playback *again;
	const void *bytes;
	uint32_t type;
	size_t len;
	int err;

	err = playback_new(&hooks, &again);
	if (err < 0)
		return err;
	recording_rewind(r->recording);
	while ((err = recording_next(r->recording, &type, &bytes, &len)) == 1) {
		if (type == RECORDING_LINE && playback_entry(again, bytes, len) == -ENOMEM) {
			err = -ENOMEM;
			break;
		}
	}
	for (size_t i = 0; i < playback_count(again) && err != -ENOMEM; i++) {
		struct playback_process *x = playback_process(again, i);
		bool has_end = goes_on(again, i);

		for (size_t k = r->first; k < known; k++)
			has_end |=
			    memcmp(r->session->processes[k]->header.uuid, x->header.uuid, 16) == 0;
		if (!has_end)
			err = add_unfinished(r, x);
	}
	playback_free(again);
	return err == -ENOMEM ? err : 0;
}

void load_timeline_release(struct load *r)
{
	for (size_t i = 0; r->replay && i < playback_count(r->replay); i++) {
		struct course *c = playback_process(r->replay, i)->context;

		if (c)
			free(c->points);
		free(c);
	}
	playback_free(r->replay);
}
