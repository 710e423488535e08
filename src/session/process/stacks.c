/* stacks.c - the call stacks of a segment, each kept once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/stacks.h"

#include "base/std.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "segments/read/extent_list.h"

/* A frame and its callers; number 0 is the root, the end of every stack. */
struct link {
	uint64_t frame;
	uint32_t parent;
	uint32_t flags;
};

/*
 * The state of a node of the file; otherwise the link that it became, plus one.
 */
enum { SEEN_NOT = 0, SEEN_OPEN = UINT32_MAX }; /* open: on the way up */

/* A node on the way up to the root. */
struct step {
	uint32_t node;
	uint64_t position; /* in seen */
};

struct stacks {
	struct extents nodes, inners;
	struct link *links;
	size_t link_count, link_room;
	struct dict link_index;
	uint32_t *seen;    /* by position in nodes */
	struct step *path; /* innermost first */
	size_t path_room;
	uint32_t *heads; /* stack number -> link */
	size_t head_count, head_room;
	struct dict head_index;
};

static bool same_link(const void *items, uint32_t item, const void *key)
{
	const struct link *x = (const struct link *)items + item, *y = key;

	return x->frame == y->frame && x->parent == y->parent && x->flags == y->flags;
}

static bool same_head(const void *items, uint32_t item, const void *key)
{
	return ((const uint32_t *)items)[item] == *(const uint32_t *)key;
}

int stacks_new(const struct segment *seg, struct stacks **ret)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (room_make(&s->links, &s->link_room, 0, sizeof(*s->links)) < 0 ||
	    extents_init(&s->nodes, seg, SEG_EXT_NODE) < 0 ||
	    extents_init(&s->inners, seg, SEG_EXT_INNER) < 0) {
		stacks_free(s);
		return -ENOMEM;
	}
	s->seen = calloc(s->nodes.total + 1, sizeof(*s->seen));
	if (!s->seen) {
		stacks_free(s);
		return -ENOMEM;
	}
	s->links[0] = (struct link){0};
	s->link_count = 1;
	*ret = s;
	return 0;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	stacks_close(s);
	free(s->links);
	free(s->heads);
	free(s);
}

void stacks_close(struct stacks *s)
{
	extents_release(&s->nodes);
	extents_release(&s->inners);
	dict_release(&s->link_index);
	dict_release(&s->head_index);
	free(s->seen);
	free(s->path);
	s->seen = NULL;
	s->path = NULL;
	s->path_room = 0;
}

/* The link (frame, flags) below parent, made if it is new. */
static int add_link(
    struct stacks *s, uint64_t frame, uint32_t flags, uint32_t parent, uint32_t *ret)
{
	struct link key = {.frame = frame, .parent = parent, .flags = flags};
	uint32_t n = (uint32_t)s->link_count, at;

	if (room_make(&s->links, &s->link_room, s->link_count, sizeof(key)) < 0)
		return -ENOMEM;
	if (dict_find(&s->link_index, dict_hash(frame, parent, flags), same_link, s->links, &key, n,
	        &at) < 0)
		return -ENOMEM;
	if (at == n)
		s->links[s->link_count++] = key;
	*ret = at;
	return 0;
}

static int add_step(struct stacks *s, size_t depth, uint32_t node, uint64_t position)
{
	if (room_make(&s->path, &s->path_room, depth, sizeof(*s->path)) < 0)
		return -ENOMEM;
	s->path[depth] = (struct step){.node = node, .position = position};
	s->seen[position] = SEEN_OPEN;
	return 0;
}

/* The frames of an inner record below parent, the outermost first. */
static int add_frames(struct stacks *s, const struct seg_inner *in, uint32_t parent, uint32_t *ret)
{
	uint32_t link = parent;
	int err = 0;

	for (uint32_t i = in->count; i > 0 && err == 0; i--)
		err = add_link(s, in->frames[i - 1], 0, link, &link);
	*ret = link;
	return err;
}

static bool get_inner(const struct stacks *s, uint64_t number, struct seg_inner *ret)
{
	return number != 0 && extents_get(&s->inners, number, ret, sizeof(*ret)) &&
	    ret->count <= SEG_INNER_FRAMES;
}

/* What a node of the file stands for: a frame, a mark, or a run of frames. */
static int add_node(struct stacks *s, const struct seg_node *row, uint32_t parent, uint32_t *ret)
{
	struct seg_inner run;

	if (!(row->flags & SEG_NODE_RUN))
		return add_link(s, row->frame, row->flags & (STACKS_UNKNOWN - 1), parent, ret);
	if (!get_inner(s, row->frame, &run))
		return add_link(s, 0, STACKS_UNKNOWN, parent, ret);
	return add_frames(s, &run, parent, ret);
}

/*
 * Walks up to the root or to a node that is known, then down again, and makes
 * links. Each node is walked once in the life of s, whatever parents the file
 * claims.
 */
static int node_link(struct stacks *s, uint32_t node, uint32_t *ret)
{
	struct seg_node row;
	uint32_t link = 0;
	uint64_t position;
	size_t depth = 0;
	int err = 0;

	while (node != 0) {
		/*
		 * An open node is already on the way up, so the parents form a
		 * circle.
		 */
		if (!extents_find(&s->nodes, node, &row, sizeof(row), &position) ||
		    s->seen[position] == SEEN_OPEN) {
			err = add_link(s, 0, STACKS_UNKNOWN, 0, &link);
			break;
		}
		if (s->seen[position] != SEEN_NOT) {
			link = s->seen[position] - 1;
			break;
		}
		err = add_step(s, depth, node, position);
		if (err < 0)
			break;
		depth++;
		node = row.parent;
	}
	while (depth > 0 && err == 0) {
		const struct step *step = &s->path[--depth];

		(void)extents_get(&s->nodes, step->node, &row, sizeof(row));
		err = add_node(s, &row, link, &link);
		s->seen[step->position] = link + 1;
	}
	*ret = link;
	return err;
}

int stacks_intern(struct stacks *s, uint32_t inner, uint32_t node, uint32_t *ret)
{
	struct seg_inner row = {0};
	uint32_t link, n;
	int err;

	err = node_link(s, node, &link);
	if (err < 0)
		return err;
	if (!get_inner(s, inner, &row)) {
		row.count = 0;
		row.flags = STACKS_UNKNOWN;
	}
	if (row.flags != 0) {
		err = add_link(s, 0, row.flags, link, &link);
		if (err < 0)
			return err;
	}
	err = add_frames(s, &row, link, &link);
	if (err < 0)
		return err;
	n = (uint32_t)s->head_count;
	err = room_make(&s->heads, &s->head_room, s->head_count, sizeof(uint32_t));
	if (err < 0)
		return err;
	err = dict_find(&s->head_index, dict_hash(link, 3, 4), same_head, s->heads, &link, n, ret);
	if (err < 0)
		return err;
	if (*ret == n)
		s->heads[s->head_count++] = link;
	return 0;
}

size_t stacks_frames(
    const struct stacks *s, uint32_t stack, uint64_t *frames, size_t max, uint32_t *ret_flags)
{
	uint32_t flags = 0, at;
	size_t n = 0;

	at = stack < s->head_count ? s->heads[stack] : 0;
	/* Links point to older links only, so the loop ends. */
	for (; at != 0; at = s->links[at].parent) {
		flags |= s->links[at].flags;
		if (s->links[at].frame == 0)
			continue;
		if (n == max) {
			flags |= STACKS_UNKNOWN;
			break;
		}
		frames[n++] = s->links[at].frame;
	}
	*ret_flags = flags;
	return n;
}

uint32_t stacks_flags(const struct stacks *s, uint32_t stack)
{
	uint32_t at = stack < s->head_count ? s->heads[stack] : 0, flags = 0;

	for (; at != 0; at = s->links[at].parent)
		flags |= s->links[at].flags;
	return flags;
}

void stacks_guessed(const struct stacks *s, uint32_t stack, bool *ret, size_t count)
{
	uint32_t at = stack < s->head_count ? s->heads[stack] : 0;
	bool is_guess = false;
	size_t n = 0;

	for (; at != 0 && n < count; at = s->links[at].parent) {
		if (s->links[at].frame == 0)
			continue;
		ret[n++] = is_guess;
		is_guess = s->links[at].flags & SEG_NODE_GUESSED;
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool same_frame(const void *items, uint32_t item, const void *key)
{
	return ((const uint64_t *)items)[item] == *(const uint64_t *)key;
}

int stacks_all_frames(const struct stacks *s, uint64_t **ret, size_t *ret_count)
{
	struct dict index = {0};
	uint64_t *frames = NULL;
	size_t room = 0, n = 0;
	int err = 0;

	/*
	 * Few frames are distinct, so no array as large as the sum of all is
	 * made.
	 */
	for (size_t i = 0; i < s->link_count && err == 0; i++) {
		uint64_t frame = s->links[i].frame;
		uint32_t at;

		if (frame == 0)
			continue;
		err = room_make(&frames, &room, n, sizeof(*frames));
		if (err == 0)
			err = dict_find(&index, dict_hash(frame, 5, 6), same_frame, frames, &frame,
			    (uint32_t)n, &at);
		if (err == 0 && at == n)
			frames[n++] = frame;
	}
	dict_release(&index);
	if (err < 0) {
		free(frames);
		return err;
	}
	if (n > 0)
		qsort(frames, n, sizeof(*frames), by_number);
	*ret = frames;
	*ret_count = n;
	return 0;
}
