/* watch_births.c - ages and births of live blocks, read while processes run. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "segments/find/proc.h"
#include "follow/recorder/leaks.h"
#include "follow/recorder/leaks_look.h"
#include "recording/parts/aging.h"
#include "kit/os/clock.h"
#include "follow/history/watch_parts.h"

enum {
	READING_MAX = 8 << 20, /* bytes: about 40,000 sites */
	KEPT_MAX = 32 << 20,   /* of all readings that are not written yet */
};

/* ---- what is known of a process ---- */

static void drop(struct watch *w, struct watched *x)
{
	w->births.kept_bytes -= x->births.len;
	free(x->births.bytes);
	x->births.bytes = NULL;
	x->births.len = 0;
}

static void write_kept(struct watch *w, struct watched *x, bool is_last)
{
	if (!x->births.bytes)
		return;
	if (service_add_aging(
	        x->service, x->births.uuid, x->births.bytes, x->births.len, is_last) == -EAGAIN &&
	    w->births.kept_bytes <= KEPT_MAX)
		return;
	drop(w, x);
}

/* Takes the result of the look, in place of an earlier one. */
static void keep(struct watch *w, struct watched *x)
{
	struct leaks_look *k = &w->births.look;
	struct aging a;

	/* untrusted: the child has read hostile memory */
	if (k->len > READING_MAX || aging_decode(k->bytes, k->len, &a) < 0)
		return;
	aging_release(&a);
	drop(w, x);
	x->births.bytes = k->bytes;
	x->births.len = k->len;
	memcpy(x->births.uuid, w->births.uuid, sizeof(x->births.uuid));
	w->births.kept_bytes += k->len;
	k->bytes = NULL;
	k->len = k->room = 0;
	write_kept(w, x, false);
}

/* NULL: it has ended, and what was known of it is written. */
static struct watched *find(const struct watch *w, uint64_t number)
{
	for (size_t i = 0; i < w->watched_count; i++)
		if (w->watched[i].number == number)
			return &w->watched[i];
	return NULL;
}

static void finish(struct watch *w, struct watched *x)
{
	struct leaks_look *k = &w->births.look;
	int err = leaks_look_poll(k);

	if (err == 0)
		return;
	if (err == 1 && x)
		keep(w, x);
	w->births.rest_until_ns = aging_pace_rest(clock_ns(CLOCK_MONOTONIC), k->cpu_ns);
	leaks_look_release(k);
}

void watch_births_ended(struct watch *w, struct watched *x)
{
	if (w->births.look.worker > 0 && w->births.number == x->number) {
		finish(w, x);
		leaks_look_release(&w->births.look);
	}
	write_kept(w, x, true);
	drop(w, x);
}

void watch_births_turn(struct watch *w, const struct service *s)
{
	for (size_t i = 0; i < w->watched_count; i++)
		if (w->watched[i].service == s)
			write_kept(w, &w->watched[i], true);
}

/* ---- who is next ---- */

/* A uuid is what a process says of itself, and readings are kept by it. */
static bool is_alone(const struct watch *w, const uint8_t uuid[16])
{
	size_t n = 0;

	for (size_t i = 0; i < engine_count(w->live); i++)
		n += memcmp(engine_at(w->live, i)->header.uuid, uuid, 16) == 0;
	return n == 1;
}

static void start(struct watch *w, struct watched *x, const struct engine_process *p, uint64_t now)
{
	struct watch_births *b = &w->births;
	const struct segfile *f;
	struct seg_header h;
	pid_t pid;
	int slot;

	x->births_ns = aging_pace_first(now);
	f = engine_segfile(w->live, p, &slot);
	if (!f || segfile_header(f, slot, &h, NULL) < 0 ||
	    memcmp(h.uuid, p->header.uuid, sizeof(h.uuid)) != 0 || h.state == SEG_INERT ||
	    proc_check(&h, segfile_source(f), &pid) != PROC_YES || pid != p->pid ||
	    !is_alone(w, h.uuid))
		return;
	x->births_ns = aging_pace_next(now, h.start_monotonic_ns);
	memcpy(b->uuid, h.uuid, sizeof(b->uuid));
	b->number = x->number;
	leaks_look_close(w->store.lock_fd);
	(void)leaks_look_start(&b->look, f, slot, &h, pid, LEAKS_LOOK_BIRTHS, NULL);
}

/* The one that waits longest. */
static void start_next(struct watch *w, uint64_t now)
{
	const struct engine_process *of = NULL;
	struct watched *next = NULL;
	size_t at = 0;

	for (size_t i = 0; i < w->watched_count; i++) {
		struct watched *x = &w->watched[i];
		const struct engine_process *p;

		if (x->births_ns == 0)
			x->births_ns = aging_pace_first(now);
		if (x->births_ns > now || (next && next->births_ns <= x->births_ns))
			continue;
		p = watch_process_of(w, x->number, &at);
		if (!p || p->state != LIVE_RUNS || p->pid <= 0)
			continue;
		next = x;
		of = p;
	}
	if (next)
		start(w, next, of, now);
}

void watch_births_step(struct watch *w)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (w->births.look.worker > 0)
		finish(w, find(w, w->births.number));
	if (w->births.look.worker == 0 && now >= w->births.rest_until_ns)
		start_next(w, now);
}

int watch_births_fd(const struct watch *w)
{
	return w->births.look.worker > 0 ? w->births.look.fd : -1;
}

void watch_births_release(struct watch *w)
{
	for (size_t i = 0; i < w->watched_count; i++)
		drop(w, &w->watched[i]);
	leaks_look_release(&w->births.look);
}
