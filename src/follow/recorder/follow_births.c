/* follow_births.c - ages and births of live blocks, read while the tree runs. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "follow/recorder/leaks.h"
#include "follow/recorder/follow_parts.h"
#include "follow/recorder/quota.h"
#include "recording/parts/aging.h"

enum { LEVEL = 3 }; /* of compression */

/* A result of an earlier process of this chapter is of no use in the next. */
static void keep(struct follow *f)
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
	(void)recording_append_packed(f->plan.writer, RECORDING_AGING, f->births.uuid,
	    sizeof(f->births.uuid), k->bytes, k->len, LEVEL);
}

static void finish(struct follow *f)
{
	int err = leaks_look_poll(&f->births.look);

	if (err == 0)
		return;
	if (err == 1)
		keep(f);
	f->births.rest_until_ns = aging_pace_rest(f->now_ns, f->births.look.cpu_ns);
	leaks_look_release(&f->births.look);
}

static void start(struct follow *f, const struct follow_file *file, struct follow_watch *w)
{
	uint64_t start_ns;
	int err = leaks_look_start_at(
	    &f->births.look, file->dir, file->name, w->slot, w->uuid, LEAKS_LOOK_BIRTHS, &start_ns);

	memcpy(f->births.uuid, w->uuid, sizeof(f->births.uuid));
	w->births_ns = err == 0 || start_ns > 0 ? aging_pace_next(f->now_ns, start_ns)
	                                        : aging_pace_first(f->now_ns);
}

/* The one that waits longest. */
static void start_next(struct follow *f)
{
	const struct follow_file *file = NULL;
	struct follow_watch *next = NULL;

	for (size_t i = 0; i < f->file_count; i++) {
		const struct follow_file *x = &f->files[i];

		if (!x->is_ours || x->is_gone)
			continue;
		for (size_t k = 0; k < x->watch_count; k++) {
			struct follow_watch *w = &x->watches[k];

			if (w->births_ns == 0)
				w->births_ns = aging_pace_first(f->now_ns);
			if (w->births_ns > f->now_ns || (next && next->births_ns <= w->births_ns))
				continue;
			next = w;
			file = x;
		}
	}
	if (next)
		start(f, file, next);
}

void follow_births_step(struct follow *f)
{
	if (f->births.look.worker > 0)
		finish(f);
	if (f->births.look.worker == 0 && f->now_ns >= f->births.rest_until_ns)
		start_next(f);
}

void follow_births_release(struct follow *f)
{
	leaks_look_release(&f->births.look);
}
