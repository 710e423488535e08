/* tree.c - the sites of a view as a tree of callers, or of callees. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/amount.h"

#include "base/std.h"
#include "kit/data/room.h"

enum { END = UINT32_MAX }; /* after the last frame of a stack */

struct tree {
	struct view *view;
	struct tree_options options;
	uint32_t *order; /* numbers of sites */
	size_t count;
};

/*
 * The position in a stack of the frame at this depth of the tree. Either from
 * main on; or the user's own first, then what it calls, then its callers.
 */
static uint32_t position(const struct tree *t, const struct view_site *s, uint32_t depth)
{
	if (t->options.top_down)
		return s->frame_count - 1 - depth;
	return depth <= s->own ? s->own - depth : depth;
}

/* Is the frame called by the frame before it? */
static bool is_inner(const struct tree *t, const struct view_site *s, uint32_t depth)
{
	return t->options.top_down || (depth > 0 && depth <= s->own);
}

/* END: there are no more. */
static uint32_t frame_at(const struct tree *t, const struct view_site *s, uint32_t depth)
{
	return depth < s->frame_count ? s->frames[position(t, s, depth)] : END;
}

/*
 * What two frames of one branch have in common; at the ends of stacks, the api.
 */
static uint64_t key_at(const struct tree *t, const struct view_site *s, uint32_t depth)
{
	uint32_t frame = frame_at(t, s, depth);
	uint64_t key;

	if (frame == END)
		return UINT64_MAX - s->api;
	key = t->options.by_line ? t->view->frames[frame].place : t->view->frames[frame].label;
	return key << 1 | is_inner(t, s, depth);
}

static int by_stack(const void *a, const void *b, void *tree)
{
	const struct tree *t = tree;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct view_site *x = &t->view->sites[i], *y = &t->view->sites[k];

	for (uint32_t d = 0;; d++) {
		uint64_t v = key_at(t, x, d), w = key_at(t, y, d);

		if (v != w)
			return v < w ? -1 : 1;
		if (frame_at(t, x, d) == END)
			return i < k ? -1 : i > k;
	}
}

int tree_new(struct view *v, const struct tree_options *options, struct tree **ret)
{
	struct tree *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->view = v;
	t->options = *options;
	t->count = v->site_count;
	t->order = calloc(t->count + 1, sizeof(*t->order));
	if (!t->order) {
		free(t);
		return -ENOMEM;
	}
	for (size_t i = 0; i < t->count; i++)
		t->order[i] = (uint32_t)i;
	qsort_r(t->order, t->count, sizeof(*t->order), by_stack, t);
	*ret = t;
	return 0;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	free(t->order);
	free(t);
}

void tree_root(const struct tree *t, struct tree_node *ret)
{
	*ret = (struct tree_node){.last = (uint32_t)t->count};
	for (size_t i = 0; i < t->count; i++) {
		struct amounts a;

		amounts_of(t->view, &t->view->sites[t->order[i]], t->options.metric, &a);
		amounts_add(&ret->amounts, &a);
	}
}

/* The branch that begins with site number `first` of the order. */
static int take_branch(
    struct tree *t, uint32_t first, uint32_t last, uint32_t depth, struct tree_node *ret)
{
	struct view *v = t->view;
	const struct view_site *s = &v->sites[t->order[first]];
	uint64_t key = key_at(t, s, depth);
	uint32_t i;
	int err = 0;

	*ret = (struct tree_node){.first = first,
	    .depth = depth + 1,
	    .frame = frame_at(t, s, depth),
	    .api = s->api,
	    .is_inner = is_inner(t, s, depth),
	    .repeats = 1};
	for (i = first; i < last && err == 0; i++) {
		uint32_t frame, deep;
		struct amounts a;

		s = &v->sites[t->order[i]];
		if (key_at(t, s, depth) != key)
			break;
		amounts_of(v, s, t->options.metric, &a);
		amounts_add(&ret->amounts, &a);
		frame = frame_at(t, s, depth);
		if (frame == END)
			continue;
		if (v->frames[frame].place != v->frames[ret->frame].place) {
			err = frames_plain(v->table, &ret->frame);
			v->frames = frames_list(v->table, &v->frame_count);
		}
		deep = s->repeats ? s->repeats[position(t, s, depth)] : 1;
		if (deep > ret->repeats)
			ret->repeats = deep;
	}
	ret->last = i;
	return err;
}

static int heavier(const void *a, const void *b, void *tree)
{
	const struct tree_node *x = a, *y = b;
	const struct tree *t = tree;
	int n = t->options.grown_first
	    ? amounts_compare_growth(&x->amounts, &y->amounts, t->options.order)
	    : amounts_compare(&x->amounts, &y->amounts, t->options.order);

	return n ? n : x->first < y->first ? -1 : x->first > y->first;
}

int tree_children(
    struct tree *t, const struct tree_node *n, struct tree_node **ret, size_t *ret_count)
{
	struct tree_node *list = NULL, node;
	size_t count = 0, room = 0;

	for (uint32_t i = n->first; i < n->last && n->frame != END; i = node.last) {
		int err = take_branch(t, i, n->last, n->depth, &node);

		if (err < 0) {
			free(list);
			return err;
		}
		/* nobody calls the outermost frame */
		if (node.frame == END && !t->options.top_down)
			continue;
		err = room_make(&list, &room, count, sizeof(*list));
		if (err < 0) {
			free(list);
			return err;
		}
		list[count++] = node;
	}
	if (count > 0)
		qsort_r(list, count, sizeof(*list), heavier, t);
	*ret = list;
	*ret_count = count;
	return 0;
}
