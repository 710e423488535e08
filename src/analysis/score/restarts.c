/* restarts.c - earlier lives of a program, in which its sites have settled. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/restarts.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/score/scores.h"
#include "session/process/stacks.h"
#include "kit/data/dict.h"

enum { LIVES = 8 };

struct restarts_site {
	uint64_t stack; /* hash of modules and offsets, and the kind of call */
	double settled_s;
	bool has_grown;
};

/* ---- which lives ---- */

static bool is_earlier(const struct process *a, const struct process *b)
{
	uint64_t end = a->header.start_realtime_ns + a->duration_ns;

	return end >= a->duration_ns && end <= b->header.start_realtime_ns && !a->is_snapshot &&
	    strcmp(a->header.exe, b->header.exe) == 0 && scores_until_s(a) > scores_until_s(b);
}

static size_t choose(
    const struct session *s, const struct process *p, const struct process *ret[LIVES])
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *x = s->processes[i];
		size_t at;

		if (x == p || !is_earlier(x, p))
			continue;
		if (n == LIVES && scores_until_s(ret[n - 1]) >= scores_until_s(x))
			continue;
		at = n < LIVES ? n++ : n - 1;
		for (; at > 0 && scores_until_s(ret[at - 1]) < scores_until_s(x); at--)
			ret[at] = ret[at - 1];
		ret[at] = x;
	}
	return n;
}

/* ---- which sites ---- */

/* Equal for equal stacks of two processes, wherever modules are loaded. */
static uint64_t stack_of(
    const struct process *p, const struct process_site *s, uint64_t frames[STACKS_MAX_FRAMES])
{
	uint32_t flags;
	size_t n = stacks_frames(p->stacks, s->stack, frames, STACKS_MAX_FRAMES, &flags);
	uint64_t hash = dict_hash(s->api, n, flags);

	for (size_t i = 0; i < n; i++) {
		uint32_t number = SEG_FRAME_MODULE(frames[i]);
		const struct process_module *m =
		    number < p->module_count ? &p->modules[number] : NULL;
		uint64_t who = 0, base = 0;

		if (m && number > 0) {
			base = m->base;
			who = m->build_id_bytes > 0 && m->build_id_bytes <= sizeof(m->build_id)
			    ? dict_hash_bytes(m->build_id, m->build_id_bytes)
			    : dict_hash_text(m->path);
		}
		hash = dict_hash(hash, who, SEG_FRAME_PC(frames[i]) - base);
	}
	return hash;
}

static int by_stack(const void *a, const void *b)
{
	uint64_t x = ((const struct restarts_site *)a)->stack;
	uint64_t y = ((const struct restarts_site *)b)->stack;

	return (x > y) - (x < y);
}

/* Of a block that realloc makes larger, ages do not tell whether it grows. */
static void add_life(struct restarts *r, const struct process *p)
{
	for (size_t i = 0; i < p->site_count; i++) {
		struct score_input in;
		struct score x;

		if (!scores_input(p, &p->sites[i], &in))
			continue;
		score_make(&in, &x);
		r->sites[r->count++] = (struct restarts_site){
		    .stack = stack_of(p, &p->sites[i], r->frames),
		    .settled_s = in.ages.life_s,
		    .has_grown = x.class == SCORE_LEAK || x.class == SCORE_GROWTH || in.moved > 0};
	}
}

/* One entry for each stack. */
static void join(struct restarts *r)
{
	size_t n = 0;

	if (r->count > 0)
		qsort(r->sites, r->count, sizeof(*r->sites), by_stack);
	for (size_t i = 0; i < r->count; i++) {
		const struct restarts_site x = r->sites[i];
		struct restarts_site *last = n > 0 ? &r->sites[n - 1] : NULL;

		if (!last || last->stack != x.stack) {
			r->sites[n++] = x;
			continue;
		}
		last->has_grown |= x.has_grown;
		if (x.settled_s > last->settled_s)
			last->settled_s = x.settled_s;
	}
	r->count = n;
}

void restarts_make(const struct session *s, const struct process *p, struct restarts *ret)
{
	const struct process *lives[LIVES];
	size_t n = choose(s, p, lives), room = 0;

	*ret = (struct restarts){0};
	for (size_t i = 0; i < n; i++)
		room += lives[i]->site_count;
	if (room == 0)
		return;
	ret->sites = calloc(room, sizeof(*ret->sites));
	ret->frames = calloc(STACKS_MAX_FRAMES, sizeof(*ret->frames));
	if (!ret->sites || !ret->frames)
		return;
	for (size_t i = 0; i < n; i++)
		add_life(ret, lives[i]);
	join(ret);
}

void restarts_release(struct restarts *r)
{
	free(r->sites);
	free(r->frames);
	*r = (struct restarts){0};
}

double restarts_settled_s(
    const struct restarts *r, const struct process *p, const struct process_site *s)
{
	struct restarts_site key = {0};
	const struct restarts_site *x;

	if (r->count == 0)
		return 0;
	key.stack = stack_of(p, s, r->frames);
	x = bsearch(&key, r->sites, r->count, sizeof(*r->sites), by_stack);
	return x && !x->has_grown ? x->settled_s : 0;
}
