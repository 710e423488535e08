/* follow_births.c - ages and births of live blocks, read while the tree runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "reader/scores.h"
#include "reader/session.h"
#include "record/follow_parts.h"
#include "record/quota.h"
#include "trace/aging.h"
#include "util/clock.h"

#define S UINT64_C(1000000000)

enum {
	LEVEL = 3, /* of compression */
	LOAD = 60, /* rest so many times as long as a look took */
	FIRST_S = 60,
	MOST_S = 600,
	PART = 10, /* again when it is a tenth older */
};

/* A result of an earlier process of this chapter is of no use in the next. */
static void
keep(struct follow *f)
{
	const struct leaks_look *k = &f->births.look;
	struct aging b;

	/* untrusted: the child has read hostile memory */
	if (aging_decode(k->bytes, k->len, &b) < 0)
		return;
	aging_release(&b);
	if (!quota_verdicts(f->plan.collect->quota, k->len, f->plan.writer))
		return;
	/* an error sticks in the writer */
	(void)recording_append_packed(f->plan.writer, RECORDING_AGING,
	    f->births.uuid, sizeof(f->births.uuid), k->bytes, k->len, LEVEL);
}

static void
finish(struct follow *f)
{
	int err = leaks_look_poll(&f->births.look);

	if (err == 0)
		return;
	if (err == 1)
		keep(f);
	leaks_look_release(&f->births.look);
	f->births.rest_until_ns =
	    f->now_ns + (f->now_ns - f->births.began_ns) * LOAD;
}

/* When it is looked at next: 1 to 10 minutes from now. */
static uint64_t
next_ns(const struct follow *f, const struct seg_header *h)
{
	uint64_t least = FIRST_S * S, most = MOST_S * S, wait = least;

	if (f->now_ns > h->start_monotonic_ns)
		wait = (f->now_ns - h->start_monotonic_ns) / PART;
	wait = wait < least ? least : wait > most ? most : wait;
	return f->now_ns + (uint64_t)((double)wait / scores_clock());
}

static void
start(struct follow *f, const struct follow_file *file, struct follow_watch *w)
{
	struct segfile *seg = NULL;
	struct seg_header h;
	pid_t pid = 0;

	w->births_ns = f->now_ns + FIRST_S * S;
	if (segment_dir_open_file(file->dir, file->name, &seg) < 0)
		return;
	if (segfile_header(seg, w->slot, &h, NULL) == 0 &&
	    memcmp(h.uuid, w->uuid, sizeof(h.uuid)) == 0 &&
	    h.state != SEG_INERT &&
	    session_end(&h, segfile_source(seg), &pid) == PROCESS_RUNNING &&
	    pid > 0) {
		w->births_ns = next_ns(f, &h);
		f->births.began_ns = f->now_ns;
		memcpy(f->births.uuid, h.uuid, sizeof(h.uuid));
		(void)leaks_look_start(
		    &f->births.look, seg, w->slot, &h, pid, LEAKS_LOOK_BIRTHS);
	}
	segfile_close(seg);
}

/* The one that waits longest. */
static void
start_next(struct follow *f)
{
	const struct follow_file *file = NULL;
	struct follow_watch *next = NULL;
	double first_ns = FIRST_S * (double)S / scores_clock();

	for (size_t i = 0; i < f->file_count; i++) {
		const struct follow_file *x = &f->files[i];

		if (!x->is_ours || x->is_gone)
			continue;
		for (size_t k = 0; k < x->watch_count; k++) {
			struct follow_watch *w = &x->watches[k];

			if (w->births_ns == 0)
				w->births_ns = f->now_ns + (uint64_t)first_ns;
			if (w->births_ns > f->now_ns ||
			    (next && next->births_ns <= w->births_ns))
				continue;
			next = w;
			file = x;
		}
	}
	if (next)
		start(f, file, next);
}

void
follow_births_step(struct follow *f)
{
	if (f->births.look.worker > 0)
		finish(f);
	if (f->births.look.worker == 0 && f->now_ns >= f->births.rest_until_ns)
		start_next(f);
}

void
follow_births_release(struct follow *f)
{
	leaks_look_release(&f->births.look);
}
