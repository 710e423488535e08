/* sites.c - stacks to small ids: nodes, inner frames, sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/sites.h"

#include <string.h>

#include "base/attr.h"
#include "base/hash.h"
#include "collector/index.h"
#include "collector/segment.h"
#include "collector/tick.h"

enum { NODES, INNERS, SITES };

struct segment_table sites_tables[3];
static struct index node_index, inner_index, site_index, stack_index;
static uint32_t node_count, inner_count, site_count;
static uint32_t site_max; /* ids that this process may give out */
static uint32_t first;

/* Every node below SITES_NODE_CUT was made by hand; numbers fit the index. */
_Static_assert(SITES_NODES_MAX <= 1 << INDEX_NUMBER_BITS, "node numbers");

struct inner_key {
	const uint64_t *frames;
	uint32_t count;
};

static bool
same_node(const void *key, uint32_t number)
{
	const struct seg_node *k = key;
	const struct seg_node *n =
	    segment_table_row(&sites_tables[NODES], number);

	return n && n->frame == k->frame && n->parent == k->parent;
}

static bool
same_inner(const void *key, uint32_t number)
{
	const struct inner_key *k = key;
	const struct seg_inner *n =
	    segment_table_row(&sites_tables[INNERS], number);
	uint32_t i;

	if (!n || n->count != k->count)
		return false;
	for (i = 0; i < k->count; i++) {
		if (n->frames[i] != k->frames[i])
			return false;
	}
	return true;
}

static bool
same_site(const void *key, uint32_t number)
{
	const struct seg_site *k = key;
	const struct seg_site *s =
	    segment_table_row(&sites_tables[SITES], number - 1);

	return s && s->node == k->node && s->inner == k->inner &&
	    s->pool == k->pool;
}

/* A number that is not given out; the next one fits as badly. */
static uint32_t
claim(uint32_t *count, uint32_t max)
{
	uint32_t n = ADD(count, 1);

	if (n < max)
		return n;
	STORE(count, max);
	return 0;
}

/* At three quarters of the budget only inner frames are kept. */
static bool
drop_outer(void)
{
	return segment_is_tight() || LOAD(&site_count) > site_max / 4 * 3 ||
	    LOAD(&node_count) > SITES_NODES_MAX / 4 * 3;
}

uint32_t
sites_node(uint32_t parent, uint64_t frame)
{
	struct seg_node key = {.frame = frame, .parent = parent};
	uint64_t h = hash_finish(hash_mix(hash_word(parent + 1), frame));
	uint32_t n = index_find(&node_index, h, same_node, &key);
	struct seg_node *row;

	if (likely(n))
		return n;
	if (drop_outer())
		return 0;
	n = claim(&node_count, SITES_NODES_MAX);
	row = n ? segment_table_row(&sites_tables[NODES], n) : NULL;
	if (!row)
		return 0;
	*row = key;
	if (!index_insert(&node_index, h, n))
		segment_count(
		    SEG_NO_MEMORY, 1); /* works, but not found again */
	return n;
}

void
sites_mark_guess(uint32_t node)
{
	struct seg_node *row = segment_table_row(&sites_tables[NODES], node);

	if (row && !row->flags)
		row->flags = SEG_NODE_GUESSED;
}

uint32_t
sites_inner(const uint64_t *frames, uint32_t count)
{
	struct inner_key key = {frames, count};
	uint64_t h = hash_word(count + 1);
	struct seg_inner *row;
	uint32_t i, n;

	for (i = 0; i < count; i++)
		h = hash_mix(h, frames[i]);
	h = hash_finish(h);
	n = index_find(&inner_index, h, same_inner, &key);
	if (likely(n))
		return n;
	n = claim(&inner_count, SITES_MAX);
	row = n ? segment_table_row(&sites_tables[INNERS], n) : NULL;
	if (!row)
		return 0;
	for (i = 0; i < count; i++)
		row->frames[i] = frames[i];
	row->count = count;
	row->is_filled = 1;
	if (!index_insert(&inner_index, h, n))
		segment_count(SEG_NO_MEMORY, 1);
	return n;
}

static struct site_id
no_room(void)
{
	segment_count(SEG_LOST_SITES, 1);
	return (struct site_id){first};
}

struct site_id
sites_get(uint32_t node, uint32_t inner, enum seg_api api)
{
	struct seg_site key = {.node = node, .inner = inner};
	uint64_t h = hash_finish(hash_mix(hash_word(node), inner));
	struct seg_site *row;
	uint32_t n;

	if (unlikely(!inner || node == SITES_NODE_NO_ROOM))
		return no_room();
	n = index_find(&site_index, h, same_site, &key);
	if (likely(n))
		return (struct site_id){first + n - 1};
	n = claim(&site_count, site_max);
	row = n ? segment_table_row(&sites_tables[SITES], n) : NULL;
	if (!row)
		return no_room();
	row->node = node;
	row->first_tick = tick_now();
	row->kind = SEG_SITE_HEAP;
	row->api = (uint8_t)api;
	STORE_RELEASE(&row->inner, inner);
	if (node == SITES_NODE_OUTER_DROPPED)
		segment_count(SEG_OUTER_DROPPED, 1);
	if (!index_insert(&site_index, h, n + 1))
		segment_count(SEG_NO_MEMORY, 1);
	return (struct site_id){first + n};
}

static uint64_t
stack_hash(uint64_t hash, uint32_t inner)
{
	return hash_finish(hash_mix(hash, inner));
}

/*
 * Compares all frames with those of the site. What is read back from the
 * segment is compared, and a number that is found there opens nothing (I20).
 *
 * A stack that was new got its nodes one after the other, so the row of a
 * parent is usually the one before. To guess that, and check it, lets the CPU
 * load all rows at once; to follow the numbers would be one load after the
 * other.
 */
static bool
same_stack(const void *key, uint32_t number)
{
	const struct sites_stack *k = key;
	const struct segment_table *nodes = &sites_tables[NODES];
	const uint32_t in_chunk = (1u << nodes->rows_bits) - 1;
	const struct seg_site *s =
	    segment_table_row(&sites_tables[SITES], number - 1);
	const struct seg_node *n = NULL;
	uint32_t i, node, parent;

	if (!s || s->inner != k->inner || s->pool)
		return false;
	node = s->node;
	if (!k->count)
		return node == k->base;
	n = segment_table_peek(nodes, node);
	for (i = 0; n && likely(n->frame == k->frames[i]);) {
		parent = n->parent;
		if (++i == k->count)
			return parent == k->base;
		if (likely(parent == node - 1 && (node & in_chunk))) {
			n--;
			node--;
		} else {
			node = parent;
			n = segment_table_peek(nodes, node);
		}
	}
	return false;
}

struct site_id
sites_known(const struct sites_stack *s)
{
	uint32_t n = index_find(
	    &stack_index, stack_hash(s->hash, s->inner), same_stack, s);

	return (struct site_id){n ? first + n - 1 : 0};
}

void
sites_know(uint64_t hash, uint32_t inner, struct site_id id)
{
	/* those for which there is no room, and ids of a parent, are not */
	if (id.v > first)
		index_insert(
		    &stack_index, stack_hash(hash, inner), id.v - first + 1);
}

struct site_id
sites_user(struct site_id stack, uint32_t pool)
{
	const struct seg_site *from =
	    segment_table_row(&sites_tables[SITES], stack.v - first);
	struct seg_site key = {.pool = (uint16_t)pool};
	struct seg_site *row;
	uint64_t h;
	uint32_t n;

	if (!from)
		return (struct site_id){0};
	/* read back, but for comparing and copying alone (I20) */
	key.node = from->node;
	key.inner = from->inner;
	h = hash_mix(hash_word(key.node), key.inner);
	h = hash_finish(hash_mix(h, pool));
	n = index_find(&site_index, h, same_site, &key);
	if (likely(n))
		return (struct site_id){first + n - 1};
	n = claim(&site_count, site_max);
	row = n ? segment_table_row(&sites_tables[SITES], n) : NULL;
	if (!row)
		return (struct site_id){0};
	row->node = key.node;
	row->first_tick = tick_now();
	row->kind =
	    pool < SEG_MAPPING_OF_ALLOCATOR ? SEG_SITE_USER : SEG_SITE_MAPPING;
	row->pool = key.pool;
	STORE_RELEASE(&row->inner, key.inner);
	if (!index_insert(&site_index, h, n + 1))
		segment_count(SEG_NO_MEMORY, 1);
	return (struct site_id){first + n};
}

uint32_t
sites_next_id(void)
{
	return first + LOAD(&site_count);
}

static bool
make_fixed_rows(void)
{
	static const uint32_t flags[] = {0, SEG_NODE_TRUNCATED,
	    SEG_NODE_OUTER_DROPPED, SEG_NODE_NO_ROOM, SEG_NODE_CUT};
	struct seg_site *site;
	uint32_t i, empty;

	for (i = 0; i <= SITES_NODE_CUT; i++) {
		struct seg_node *n = segment_table_row(&sites_tables[NODES], i);

		if (!n)
			return false;
		n->flags = flags[i];
	}
	node_count = SITES_NODE_CUT + 1;
	inner_count = 1;
	empty = sites_inner(NULL, 0);
	site = segment_table_row(&sites_tables[SITES], 0);
	if (!empty || !site)
		return false;
	site->node = SITES_NODE_NO_ROOM;
	site->inner = empty;
	site->kind = SEG_SITE_HEAP;
	site_count = 1;
	return true;
}

bool
sites_init(uint32_t first_id)
{
	/* a site id has its bits in a cell of the live map, and no more */
	const uint32_t end = 1u << SEG_SITE_BITS;

	if (first_id >= end - 1)
		return false;
	first = first_id;
	site_max = end - first_id < SITES_MAX ? end - first_id : SITES_MAX;
	return segment_table_init(&sites_tables[NODES], SEG_EXT_NODE, 0,
	           sizeof(struct seg_node), 0, SITES_NODES_MAX) &&
	    segment_table_init(&sites_tables[INNERS], SEG_EXT_INNER, 0,
	        sizeof(struct seg_inner), 0, SITES_MAX) &&
	    segment_table_init(&sites_tables[SITES], SEG_EXT_SITE, 0,
	        sizeof(struct seg_site), first_id, SITES_MAX) &&
	    index_init(&node_index) && index_init(&inner_index) &&
	    index_init(&site_index) && index_init(&stack_index) &&
	    make_fixed_rows();
}

uint32_t
sites_frames(struct site_id id, uint64_t *ret_frames, uint32_t max)
{
	const struct seg_site *s =
	    segment_table_row(&sites_tables[SITES], id.v - first);
	const struct seg_inner *in =
	    s ? segment_table_row(&sites_tables[INNERS], s->inner) : NULL;
	uint32_t n = 0, i, node;

	if (!in)
		return 0;
	for (i = 0; i < in->count && n < max; i++)
		ret_frames[n++] = in->frames[i];
	for (node = s->node; node > SITES_NODE_CUT && n < max;) {
		const struct seg_node *r =
		    segment_table_row(&sites_tables[NODES], node);

		if (!r)
			break;
		ret_frames[n++] = r->frame;
		node = r->parent;
	}
	return n;
}

bool
sites_guessed_after(struct site_id id, uint32_t i)
{
	const struct seg_site *s =
	    segment_table_row(&sites_tables[SITES], id.v - first);
	const struct seg_inner *in =
	    s ? segment_table_row(&sites_tables[INNERS], s->inner) : NULL;
	const struct seg_node *r;
	uint32_t node;

	if (!in || i < in->count)
		return false;
	for (node = s->node; node > SITES_NODE_CUT; node = r->parent) {
		r = segment_table_row(&sites_tables[NODES], node);
		if (!r)
			break;
		if (i-- == in->count)
			return r->flags & SEG_NODE_GUESSED;
	}
	return false;
}

uint32_t
sites_root(struct site_id id)
{
	const struct seg_site *s =
	    segment_table_row(&sites_tables[SITES], id.v - first);
	uint32_t node = s ? s->node : 0;
	uint32_t i;

	for (i = 0; node > SITES_NODE_CUT && i < SITES_NODES_MAX; i++) {
		const struct seg_node *r =
		    segment_table_row(&sites_tables[NODES], node);

		node = r ? r->parent : 0;
	}
	return node;
}
