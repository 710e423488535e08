/* stacks.c - the call stacks of a segment, each kept once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/index.h"
#include "reader/rows.h"

/* One frame below its callers; number 0 is the root, the end of a stack. */
struct link {
	uint64_t frame;
	uint32_t parent;
	uint32_t flags;
};

/* A node of the file that we have seen, and the link it became. */
struct seen {
	uint32_t node;
	uint32_t link; /* SEEN_OPEN while its parents are being walked */
};
enum { SEEN_OPEN = UINT32_MAX };

struct stacks {
	struct rows nodes, inners;
	struct link *links;
	size_t link_count, link_room;
	struct index link_index;
	struct seen *seen;
	size_t seen_count, seen_room;
	struct index seen_index;
	uint32_t *path; /* indexes into seen, innermost first */
	size_t path_room;
	uint32_t *heads; /* stack number -> link */
	size_t head_count, head_room;
	struct index head_index;
};

/* items, or where they are now that one more has room; NULL: no memory. */
static void *
make_room(void *items, size_t *room, size_t count, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void *bigger;

	if (count < *room)
		return items;
	bigger = reallocarray(items, more, size);
	if (bigger)
		*room = more;
	return bigger;
}

static bool
same_link(const void *items, uint32_t item, const void *key)
{
	const struct link *x = (const struct link *)items + item, *y = key;

	return x->frame == y->frame && x->parent == y->parent &&
	    x->flags == y->flags;
}

static bool
same_seen(const void *items, uint32_t item, const void *key)
{
	return ((const struct seen *)items)[item].node ==
	    *(const uint32_t *)key;
}

static bool
same_head(const void *items, uint32_t item, const void *key)
{
	return ((const uint32_t *)items)[item] == *(const uint32_t *)key;
}

int
stacks_new(const struct segment *seg, struct stacks **ret)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->links = make_room(NULL, &s->link_room, 0, sizeof(*s->links));
	if (!s->links || rows_init(&s->nodes, seg, SEG_EXT_NODE) < 0 ||
	    rows_init(&s->inners, seg, SEG_EXT_INNER) < 0) {
		stacks_free(s);
		return -ENOMEM;
	}
	s->links[0] = (struct link){0};
	s->link_count = 1;
	*ret = s;
	return 0;
}

void
stacks_free(struct stacks *s)
{
	if (!s)
		return;
	rows_release(&s->nodes);
	rows_release(&s->inners);
	index_release(&s->link_index);
	index_release(&s->seen_index);
	index_release(&s->head_index);
	free(s->links);
	free(s->seen);
	free(s->path);
	free(s->heads);
	free(s);
}

/* The link (frame, flags) below parent, made if it is new. */
static int
add_link(struct stacks *s, uint64_t frame, uint32_t flags, uint32_t parent,
    uint32_t *ret)
{
	struct link key = {.frame = frame, .parent = parent, .flags = flags};
	uint32_t n = (uint32_t)s->link_count, at;
	void *room;

	room = make_room(s->links, &s->link_room, s->link_count, sizeof(key));
	if (!room)
		return -ENOMEM;
	s->links = room;
	if (index_find(&s->link_index, index_hash(frame, parent, flags),
	        same_link, s->links, &key, n, &at) < 0)
		return -ENOMEM;
	if (at == n)
		s->links[s->link_count++] = key;
	*ret = at;
	return 0;
}

/* The entry of a node in seen[]; *ret_new: made now. */
static int
see_node(struct stacks *s, uint32_t node, uint32_t *ret, bool *ret_new)
{
	uint32_t n = (uint32_t)s->seen_count;
	void *room;

	room =
	    make_room(s->seen, &s->seen_room, s->seen_count, sizeof(*s->seen));
	if (!room)
		return -ENOMEM;
	s->seen = room;
	if (index_find(&s->seen_index, index_hash(node, 1, 2), same_seen,
	        s->seen, &node, n, ret) < 0)
		return -ENOMEM;
	*ret_new = *ret == n;
	if (*ret_new)
		s->seen[s->seen_count++] =
		    (struct seen){.node = node, .link = SEEN_OPEN};
	return 0;
}

/*
 * Up to the root or to a node seen before, then down again, making links. Each
 * node is walked once in the life of s, whatever the file says of parents.
 */
static int
node_link(struct stacks *s, uint32_t node, uint32_t *ret)
{
	uint32_t link = 0;
	size_t depth = 0;
	void *room;
	int err;

	while (node != 0) {
		struct seg_node row;
		uint32_t at;
		bool fresh;

		if (!rows_get(&s->nodes, node, &row, sizeof(row))) {
			err = add_link(s, 0, STACKS_UNKNOWN, 0, &link);
			if (err < 0)
				return err;
			break;
		}
		err = see_node(s, node, &at, &fresh);
		if (err < 0)
			return err;
		if (!fresh && s->seen[at].link != SEEN_OPEN) {
			link = s->seen[at].link;
			break;
		}
		if (!fresh) { /* on the way up already: a circle */
			err = add_link(s, 0, STACKS_UNKNOWN, 0, &link);
			if (err < 0)
				return err;
			break;
		}
		room =
		    make_room(s->path, &s->path_room, depth, sizeof(*s->path));
		if (!room)
			return -ENOMEM;
		s->path = room;
		s->path[depth++] = at;
		node = row.parent;
	}
	while (depth > 0) {
		struct seen *seen = &s->seen[s->path[--depth]];
		struct seg_node row = {0};

		(void)rows_get(&s->nodes, seen->node, &row, sizeof(row));
		err = add_link(s, row.frame, row.flags & (STACKS_UNKNOWN - 1),
		    link, &link);
		if (err < 0)
			return err;
		seen->link = link;
	}
	*ret = link;
	return 0;
}

int
stacks_intern(struct stacks *s, uint32_t inner, uint32_t node, uint32_t *ret)
{
	struct seg_inner row = {0};
	uint32_t link, n;
	void *room;
	int err;

	err = node_link(s, node, &link);
	if (err < 0)
		return err;
	if (inner == 0 || !rows_get(&s->inners, inner, &row, sizeof(row)) ||
	    row.count > SEG_INNER_FRAMES) {
		row.count = 0;
		row.flags = STACKS_UNKNOWN;
	}
	if (row.flags != 0) {
		err = add_link(s, 0, row.flags, link, &link);
		if (err < 0)
			return err;
	}
	while (row.count > 0) {
		err = add_link(s, row.frames[--row.count], 0, link, &link);
		if (err < 0)
			return err;
	}
	n = (uint32_t)s->head_count;
	room =
	    make_room(s->heads, &s->head_room, s->head_count, sizeof(uint32_t));
	if (!room)
		return -ENOMEM;
	s->heads = room;
	err = index_find(&s->head_index, index_hash(link, 3, 4), same_head,
	    s->heads, &link, n, ret);
	if (err < 0)
		return err;
	if (*ret == n)
		s->heads[s->head_count++] = link;
	return 0;
}

size_t
stacks_frames(const struct stacks *s, uint32_t stack, uint64_t *frames,
    size_t max, uint32_t *ret_flags)
{
	uint32_t flags = 0, at;
	size_t n = 0;

	at = stack < s->head_count ? s->heads[stack] : 0;
	/* links point to older links only, so this comes to an end */
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

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int
stacks_all_frames(const struct stacks *s, uint64_t **ret, size_t *ret_count)
{
	uint64_t *frames = calloc(s->link_count + 1, sizeof(*frames));
	size_t n = 0, kept = 0;

	if (!frames)
		return -ENOMEM;
	for (size_t i = 0; i < s->link_count; i++)
		if (s->links[i].frame != 0)
			frames[n++] = s->links[i].frame;
	qsort(frames, n, sizeof(*frames), by_number);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || frames[i] != frames[i - 1])
			frames[kept++] = frames[i];
	*ret = frames;
	*ret_count = kept;
	return 0;
}
