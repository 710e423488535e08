/* view_merge.c - merges sites of a view that look the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/view_parts.h"

#include "base/std.h"
#include "analysis/score/score.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"

enum { CHUNK_FIRST = 8 << 10, CHUNK_MAX = 1 << 20 };

void *view_keep(struct view *v, const void *bytes, size_t len)
{
	struct view_chunk *c = v->chunks;
	size_t need = (len + 7) & ~(size_t)7;
	size_t room = c ? c->room * 2 : CHUNK_FIRST;
	void *at;

	if (!c || need > c->room - c->used) {
		room = room > CHUNK_MAX ? CHUNK_MAX : room;
		room = need > room ? need : room;
		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		c->used = 0;
		c->room = room;
		c->next = v->chunks;
		v->chunks = c;
	}
	at = c->bytes + c->used;
	c->used += need;
	return memcpy(at, bytes, len);
}

/* What two frames have in common if they are grouped. */
static uint32_t key_of(const struct view *v, uint32_t number)
{
	return v->by_function ? v->frames[number].label : number;
}

static bool same_pool(const struct view_site *x, const struct view_site *y)
{
	if (!x->pool || !y->pool)
		return x->pool == y->pool;
	return strcmp(x->pool, y->pool) == 0;
}

static bool same_site(const void *items, uint32_t item, const void *key)
{
	const struct view *v = items;
	const struct view_site *x = &v->sites[item], *y = key;

	if (x->process != y->process || x->kind != y->kind || x->api != y->api ||
	    x->frame_count != y->frame_count || !same_pool(x, y))
		return false;
	for (uint32_t i = 0; i < x->frame_count; i++)
		if (key_of(v, x->frames[i]) != key_of(v, y->frames[i]))
			return false;
	return true;
}

static uint64_t hash_site(const struct view *v, const struct view_site *s)
{
	uint64_t h =
	    dict_hash(s->process, (uint64_t)s->kind << 8 | s->api, dict_hash_text(s->pool));

	for (uint32_t i = 0; i < s->frame_count; i++)
		h = dict_hash(h, key_of(v, s->frames[i]), i);
	return h;
}

/* The deeper recursion of the two. */
static void merge_repeats(struct view *v, struct view_site *to, const struct view_site *from)
{
	if (!from->repeats)
		return;
	if (!to->repeats)
		to->repeats =
		    view_keep(v, from->repeats, from->frame_count * sizeof(*from->repeats));
	for (uint32_t i = 0; to->repeats && i < to->frame_count; i++)
		if (from->repeats[i] > to->repeats[i])
			to->repeats[i] = from->repeats[i];
}

/*
 * Gives `to` its own copy of ages, because those of a process must not change.
 */
static int merge_ages(struct view *v, struct view_site *to, const struct view_site *from)
{
	if (!from->ages)
		return 0;
	if (!to->ages) {
		to->ages = from->ages;
		return 0;
	}
	if (!to->own_ages)
		to->own_ages = view_keep(v, to->ages, sizeof(*to->ages));
	if (!to->own_ages)
		return -ENOMEM;
	process_add_ages(to->own_ages, from->ages);
	process_add_births(to->own_ages, from->ages);
	to->ages = to->own_ages;
	return 0;
}

void view_join(struct view_site *to, const struct view_site *from)
{
	bool knows = to->size_min > 0 || to->size_max > 0;

	if (from->size_max > 0 && (!knows || from->size_min < to->size_min))
		to->size_min = from->size_min;
	if (from->size_max > to->size_max)
		to->size_max = from->size_max;
	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	if (from->now_ns > to->now_ns)
		to->now_ns = from->now_ns;
	to->samples = capped_sum(to->samples, from->samples);
	to->age_flags |= from->age_flags;
	if (to->verdict && from->verdict)
		verdict_join(to->verdict, from->verdict);
	else if (from->verdict)
		to->verdict = from->verdict;
	to->count++;
	view_add(&to->figures, &from->figures);
}

/* Scores belong to their process, so the sum is a copy. */
static int merge_scores(struct view *v, struct view_site *to, const struct view_site *from)
{
	struct score *sum;

	if (!to->score || !from->score) {
		to->score = to->score ? to->score : from->score;
		return 0;
	}
	sum = view_keep(v, to->score, sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	score_join(sum, from->score);
	to->score = sum;
	return 0;
}

/* Adds another site that looks the same. */
static int merge_site(struct view *v, struct view_site *to, const struct view_site *from)
{
	int err = 0;

	view_join(to, from);
	merge_repeats(v, to, from);
	for (uint32_t i = 0; i < to->frame_count && err == 0; i++)
		if (to->frames[i] != from->frames[i])
			err = frames_plain(v->table, &to->frames[i]);
	v->frames = frames_list(v->table, &v->frame_count);
	if (err == 0)
		err = merge_scores(v, to, from);
	return err < 0 ? err : merge_ages(v, to, from);
}

int view_add_site(struct view_builder *b, struct view_site *site)
{
	struct view *v = b->view;
	uint32_t at = (uint32_t)v->site_count;
	int err;

	err = room_make(&v->sites, &b->site_room, v->site_count, sizeof(*v->sites));
	if (err == 0 && v->is_grouped)
		err = dict_find(&b->index, hash_site(v, site), same_site, v, site, at, &at);
	if (err < 0)
		return err;
	if (at < v->site_count) {
		/* shows lines of the current side, not of the earlier one */
		if (!b->is_before)
			return merge_site(v, &v->sites[at], site);
		view_add(&v->sites[at].before, &site->before);
		return 0;
	}
	v->sites[v->site_count] = *site;
	site = &v->sites[v->site_count++];
	site->frames = view_keep(v, site->frames, site->frame_count * sizeof(*site->frames));
	if (site->repeats)
		site->repeats =
		    view_keep(v, site->repeats, site->frame_count * sizeof(*site->repeats));
	return site->frames ? 0 : -ENOMEM;
}
