/* sites.c - stacks to small ids: nodes, inner frames, sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/sites.h"

#include <string.h>

#include "base/attr.h"
#include "base/hash.h"
#include "collector/heap/sites_index.h"
#include "collector/segment/segment.h"
#include "collector/segment/tick.h"

enum { NODES, INNERS, SITES };

struct segment_table sites_tables[3];
static struct index node_index, inner_index, site_index, stack_index;
static uint32_t node_count, inner_count, site_count;
static uint32_t site_max; /* ids that this process may give out */
static uint32_t first;

/*
 * Which nodes may have runs below them: bits by a hash of the node. No bit is
 * looked at before there is a run, so most processes never touch it.
 */
enum { RUN_BITS = 15, RUN_WORDS = 1 << (RUN_BITS - 6) };
static uint64_t run_parents[RUN_WORDS];
static uint32_t run_count;

/* Every node below SITES_NODE_CUT was made by hand; numbers fit the index. */
_Static_assert(SITES_NODES_MAX <= 1 << SITES_INDEX_NUMBER_BITS, "node numbers");

struct inner_key {
	const uint64_t *frames;
	uint32_t count;
};

struct known_key {
	struct sites_stack *stack;
};

/* Rows whose numbers come from the segment: NULL if they are not open. */
SEEP_INLINE const void *peek(int table, uint32_t number, uint32_t row_bytes)
{
	const struct segment_table *t = &sites_tables[table];
	const uint32_t rows = SEG_EXTENT_STEP / row_bytes;
	const uint8_t *chunk;

	if (unlikely(number / rows >= t->chunk_count))
		return NULL;
	chunk = LOAD_ACQUIRE(&t->chunks[number / rows]);
	return likely(chunk) ? chunk + (size_t)(number % rows) * row_bytes : NULL;
}

SEEP_INLINE const struct seg_node *peek_node(uint32_t number)
{
	return peek(NODES, number, sizeof(struct seg_node));
}

static bool same_node(const void *key, uint32_t number)
{
	const struct seg_node *k = key;
	const struct seg_node *n = peek_node(number);

	/* a guess may have been marked since */
	return n && LOAD_ACQUIRE(&n->parent) == k->parent && n->frame == k->frame &&
	    (n->flags & SEG_NODE_RUN) == k->flags;
}

static bool same_inner(const void *key, uint32_t number)
{
	const struct inner_key *k = key;
	const struct seg_inner *n = segment_table_row(&sites_tables[INNERS], number);
	uint32_t i;

	if (!n || n->count != k->count)
		return false;
	for (i = 0; i < k->count; i++) {
		if (n->frames[i] != k->frames[i])
			return false;
	}
	return true;
}

static bool same_site(const void *key, uint32_t number)
{
	const struct seg_site *k = key;
	const struct seg_site *s = segment_table_row(&sites_tables[SITES], number - 1);

	return s && s->node == k->node && s->inner == k->inner && s->pool == k->pool;
}

/* A number that is not given out; the next one fits as badly. */
static uint32_t claim(uint32_t *count, uint32_t max)
{
	uint32_t n = ADD(count, 1);

	if (n < max)
		return n;
	STORE(count, max);
	return 0;
}

/* At three quarters of the budget only inner frames are kept. */
static bool drop_outer(void)
{
	return segment_is_tight() || LOAD(&site_count) > site_max / 4 * 3 ||
	    LOAD(&node_count) > SITES_NODES_MAX / 4 * 3;
}

SEEP_INLINE uint64_t node_hash(const struct seg_node *key)
{
	uint64_t h = hash_mix(hash_word(key->parent + 1), key->frame);

	return hash_finish(h ^ (uint64_t)key->flags << 32);
}

/* A row for a node that is in no index yet. 0: no room. */
static uint32_t new_node(const struct seg_node *key)
{
	uint32_t n = claim(&node_count, SITES_NODES_MAX);
	struct seg_node *row = n ? segment_table_row(&sites_tables[NODES], n) : NULL;

	if (!row)
		return 0;
	row->frame = key->frame;
	row->flags = key->flags;
	/* last: find_node() may look at this row before it is in an index */
	STORE_RELEASE(&row->parent, key->parent);
	if (n != key->parent + 1 && !sites_index_insert(&node_index, node_hash(key), n))
		segment_count(SEG_NO_MEMORY, 1); /* works, but not found again */
	return n;
}

/*
 * Most new stacks are a chain of new nodes, one row after the other. So a node
 * that comes right after its parent is found there, and is in no index, of
 * which each look-up and each entry would be one more cache line that is not in
 * the CPU's caches.
 */
SEEP_INLINE uint32_t find_node(const struct seg_node *key)
{
	const uint32_t next = key->parent + 1;

	if (next < LOAD(&node_count) && same_node(key, next))
		return next;
	return sites_index_find(&node_index, node_hash(key), same_node, key);
}

uint32_t sites_child(uint32_t parent, uint64_t frame, bool *is_new)
{
	const struct seg_node key = {.frame = frame, .parent = parent};
	uint32_t n = *is_new ? 0 : find_node(&key);

	if (likely(n))
		return n;
	if (!*is_new && drop_outer())
		return 0;
	*is_new = true;
	return new_node(&key);
}

uint32_t sites_node(uint32_t parent, uint64_t frame)
{
	bool is_new = false;

	return sites_child(parent, frame, &is_new);
}

static uint64_t inner_hash(const struct inner_key *key)
{
	uint64_t h = 0;
	uint32_t i;

	for (i = 0; i < key->count; i++)
		h += hash_part(key->frames[i], i);
	return hash_finish(hash_mix(h, key->count));
}

static uint32_t new_inner(const struct inner_key *key, uint64_t hash)
{
	uint32_t n = claim(&inner_count, SITES_MAX), i;
	struct seg_inner *row = n ? segment_table_row(&sites_tables[INNERS], n) : NULL;

	if (!row)
		return 0;
	for (i = 0; i < key->count; i++)
		row->frames[i] = key->frames[i];
	row->count = key->count;
	row->is_filled = 1;
	if (!sites_index_insert(&inner_index, hash, n))
		segment_count(SEG_NO_MEMORY, 1);
	return n;
}

void sites_mark_guess(uint32_t node)
{
	struct seg_node *row = segment_table_row(&sites_tables[NODES], node);

	if (row && !row->flags)
		row->flags = SEG_NODE_GUESSED;
}

uint32_t sites_inner(const uint64_t *frames, uint32_t count)
{
	const struct inner_key key = {frames, count};
	const uint64_t h = inner_hash(&key);
	uint32_t n = sites_index_find(&inner_index, h, same_inner, &key);

	return likely(n) ? n : new_inner(&key, h);
}

/* ---- runs ---------------------------------------------------------------- */

/* A stack that adds no more than so many frames makes a node for each. */
enum { RUN_REST = 3, RUNS_MAX = SITES_DEPTH_MAX / SEG_INNER_FRAMES + 1 };

static uint64_t *run_parent(uint32_t node, uint64_t *ret_bit)
{
	uint64_t h = hash_word(node) >> (64 - RUN_BITS);

	*ret_bit = UINT64_C(1) << (h & 63);
	return &run_parents[h >> 6];
}

/* The next frames of w, as even parts of those that are left. */
static struct inner_key next_run(const struct sites_way *w)
{
	uint32_t parts = (w->left + SEG_INNER_FRAMES - 1) / SEG_INNER_FRAMES;
	uint32_t n = (w->left + parts - 1) / parts;

	return (struct inner_key){w->frames + w->left - n, n};
}

static uint32_t go(struct sites_way *w, uint32_t node, uint32_t frames)
{
	if (unlikely(!node))
		return 0;
	w->node = node;
	w->left -= frames;
	return frames;
}

/* Goes to a run that is there. 0: there is none. */
static uint32_t follow_run(struct sites_way *w)
{
	struct seg_node key = {.parent = w->node, .flags = SEG_NODE_RUN};
	const struct inner_key run = next_run(w);
	uint64_t bit;
	uint32_t n;

	if (!(LOAD(run_parent(w->node, &bit)) & bit))
		return 0;
	key.frame = sites_index_find(&inner_index, inner_hash(&run), same_inner, &run);
	n = key.frame ? find_node(&key) : 0;
	return n ? go(w, n, run.count) : 0;
}

static uint32_t make_run(struct sites_way *w, uint32_t inner, uint32_t frames)
{
	const struct seg_node key = {.frame = inner, .parent = w->node, .flags = SEG_NODE_RUN};
	uint64_t bit, *word = run_parent(w->node, &bit);

	/* before anybody can find it */
	if (!(LOAD(word) & bit))
		__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
	return go(w, inner ? new_node(&key) : 0, frames);
}

/*
 * Makes a node for the next frame, which is new, and runs for the rest. Each
 * entry of the index is in a cache line of its own. So all of them are fetched
 * before the first is written, which waits for what was written before; the
 * numbers are those that the nodes will have, if no other thread makes some.
 */
static uint32_t make_runs(struct sites_way *w)
{
	const struct seg_node first_key = {.frame = w->frames[w->left - 1], .parent = w->node};
	const uint32_t all = w->left;
	uint32_t inners[RUNS_MAX], parts = 0, i, number = LOAD(&node_count);
	struct sites_way at = *w;

	/* a reader that does not know runs refuses the segment */
	if (!LOAD(&run_count)) {
		RAISE(&segment.header->version, SEG_VERSION_RUNS);
		STORE_RELEASE(&run_count, 1);
	}
	for (at.left--; at.left && parts < RUNS_MAX; parts++) {
		const struct inner_key run = next_run(&at);
		const struct seg_node key = {.frame = sites_inner(run.frames, run.count),
		    .parent = number++,
		    .flags = SEG_NODE_RUN};

		inners[parts] = (uint32_t)key.frame;
		sites_index_fetch(&node_index, node_hash(&key));
		at.left -= run.count;
	}
	if (!go(w, new_node(&first_key), 1))
		return 0;
	for (i = 0; i < parts; i++) {
		if (!make_run(w, inners[i], next_run(w).count))
			return 0;
	}
	return all - w->left;
}

uint32_t sites_next(struct sites_way *w)
{
	struct seg_node key = {.frame = w->frames[w->left - 1], .parent = w->node};
	uint32_t n;

	if (!w->is_new) {
		if (LOAD(&run_count) && w->left > 1 && (n = follow_run(w)))
			return n;
		n = find_node(&key);
		if (likely(n))
			return go(w, n, 1);
		if (drop_outer())
			return 0;
		w->is_new = true;
		if (w->makes_runs && w->left > RUN_REST)
			return make_runs(w);
	}
	return go(w, new_node(&key), 1);
}

static uint64_t site_hash(uint32_t node, uint32_t inner)
{
	return hash_finish(hash_mix(hash_word(node), inner));
}

/* A row for a site that is in no index yet; `first` is that of "(no room)". */
static struct site_id new_site(uint32_t node, uint32_t inner, enum seg_api api)
{
	struct seg_site *row = NULL;
	uint32_t n = 0;

	if (likely(inner && node != SITES_NODE_NO_ROOM))
		n = claim(&site_count, site_max);
	if (n)
		row = segment_table_row(&sites_tables[SITES], n);
	if (!row) {
		segment_count(SEG_LOST_SITES, 1);
		return (struct site_id){first};
	}
	row->node = node;
	row->first_tick = tick_now();
	row->kind = SEG_SITE_HEAP;
	row->api = (uint8_t)api;
	STORE_RELEASE(&row->inner, inner);
	if (node == SITES_NODE_OUTER_DROPPED)
		segment_count(SEG_OUTER_DROPPED, 1);
	return (struct site_id){first + n};
}

struct site_id sites_new(uint32_t node, uint32_t inner, enum seg_api api)
{
	struct site_id s = new_site(node, inner, api);

	if (s.v > first &&
	    !sites_index_insert(&site_index, site_hash(node, inner), s.v - first + 1))
		segment_count(SEG_NO_MEMORY, 1);
	return s;
}

struct site_id sites_find(uint32_t node, uint32_t inner)
{
	const struct seg_site key = {.node = node, .inner = inner};
	uint32_t n = sites_index_find(&site_index, site_hash(node, inner), same_site, &key);

	return (struct site_id){n ? first + n - 1 : 0};
}

struct site_id sites_get(uint32_t node, uint32_t inner, enum seg_api api)
{
	struct site_id s = sites_find(node, inner);

	return likely(s.v) ? s : sites_new(node, inner, api);
}

bool sites_have_runs(void)
{
	return LOAD(&run_count) != 0;
}

uint32_t sites_node_of(struct site_id id)
{
	const struct seg_site *s = segment_table_peek(&sites_tables[SITES], id.v - first);

	return s ? s->node : 0;
}

static uint64_t stack_hash(uint64_t hash, uint32_t inner)
{
	return hash_finish(hash_mix(hash, inner));
}

/* Are these the next frames of a run? Returns how many; 0: they differ. */
SEEP_INLINE uint32_t same_run(uint64_t number, const uint64_t *frames, uint32_t left)
{
	const struct seg_inner *run = peek(INNERS, (uint32_t)number, sizeof(struct seg_inner));
	uint32_t i, n;

	if (unlikely(!run))
		return 0;
	n = run->count;
	if (unlikely(n > SEG_INNER_FRAMES || n > left))
		return 0;
	for (i = 0; i < n; i++) {
		if (unlikely(run->frames[i] != frames[i]))
			return 0;
	}
	return n;
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
SEEP_INLINE bool same_stack(const struct sites_stack *k, uint32_t number)
{
	const uint32_t in_chunk = SEG_EXTENT_STEP / sizeof(struct seg_node) - 1;
	const uint64_t *frames = k->frames, *end = frames + k->count;
	const struct seg_site *s = peek(SITES, number - 1, sizeof(struct seg_site));
	const struct seg_node *n;
	uint32_t node, parent;

	if (!s || s->inner != k->inner || s->pool)
		return false;
	node = s->node;
	if (frames == end)
		return node == k->base;
	for (n = peek_node(node); likely(n);) {
		if (likely(!(n->flags & SEG_NODE_RUN))) {
			if (n->frame != *frames++)
				return false;
		} else {
			uint32_t same = same_run(n->frame, frames, (uint32_t)(end - frames));

			if (!same)
				return false;
			frames += same;
		}
		parent = n->parent;
		if (frames == end)
			return parent == k->base;
		if (likely(parent == node - 1 && (node & in_chunk))) {
			n--;
			node--;
		} else {
			node = parent;
			n = peek_node(node);
		}
	}
	return false;
}

/* For sites_index_find(): notes a stack that is not the same. */
static bool same_or_like(const void *key, uint32_t number)
{
	const struct known_key *k = key;

	if (likely(same_stack(k->stack, number)))
		return true;
	k->stack->is_like = true;
	return false;
}

struct site_id sites_known(struct sites_stack *s)
{
	const struct known_key key = {s};
	uint32_t n =
	    sites_index_find(&stack_index, stack_hash(s->hash, s->inner), same_or_like, &key);

	return (struct site_id){n ? first + n - 1 : 0};
}

void sites_know(uint64_t hash, uint32_t inner, struct site_id id)
{
	/* those for which there is no room, and ids of a parent, are not */
	if (id.v > first &&
	    !sites_index_insert(&stack_index, stack_hash(hash, inner), id.v - first + 1))
		segment_count(SEG_NO_MEMORY, 1);
}

struct site_id sites_enter(uint64_t hash, uint32_t node, uint32_t inner, enum seg_api api)
{
	struct site_id s = new_site(node, inner, api);

	sites_know(hash, inner, s);
	return s;
}

struct site_id sites_user(struct site_id stack, uint32_t pool)
{
	const struct seg_site *from = segment_table_row(&sites_tables[SITES], stack.v - first);
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
	n = sites_index_find(&site_index, h, same_site, &key);
	if (likely(n))
		return (struct site_id){first + n - 1};
	n = claim(&site_count, site_max);
	row = n ? segment_table_row(&sites_tables[SITES], n) : NULL;
	if (!row)
		return (struct site_id){0};
	row->node = key.node;
	row->first_tick = tick_now();
	row->kind = pool < SEG_MAPPING_OF_ALLOCATOR ? SEG_SITE_USER : SEG_SITE_MAPPING;
	row->pool = key.pool;
	STORE_RELEASE(&row->inner, key.inner);
	if (!sites_index_insert(&site_index, h, n + 1))
		segment_count(SEG_NO_MEMORY, 1);
	return (struct site_id){first + n};
}

uint32_t sites_next_id(void)
{
	return first + LOAD(&site_count);
}

static bool make_fixed_rows(void)
{
	static const uint32_t flags[] = {
	    0, SEG_NODE_TRUNCATED, SEG_NODE_OUTER_DROPPED, SEG_NODE_NO_ROOM, SEG_NODE_CUT};
	struct seg_site *site;
	uint32_t i, empty;

	for (i = 0; i <= SITES_NODE_CUT; i++) {
		struct seg_node *n = segment_table_row(&sites_tables[NODES], i);

		if (!n)
			return false;
		n->flags = flags[i];
	}
	node_count = SITES_NODE_CUT + 1;
	if (run_count)
		memset(run_parents, 0, sizeof(run_parents));
	run_count = 0;
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

bool sites_init(uint32_t first_id)
{
	/* a site id has its bits in a cell of the live map, and no more */
	const uint32_t end = 1u << SEG_SITE_BITS;

	if (first_id >= end - 1)
		return false;
	first = first_id;
	site_max = end - first_id < SITES_MAX ? end - first_id : SITES_MAX;
	return segment_table_init(&sites_tables[NODES], SEG_EXT_NODE, 0, sizeof(struct seg_node), 0,
	           SITES_NODES_MAX) &&
	    segment_table_init(
	        &sites_tables[INNERS], SEG_EXT_INNER, 0, sizeof(struct seg_inner), 0, SITES_MAX) &&
	    segment_table_init(&sites_tables[SITES], SEG_EXT_SITE, 0, sizeof(struct seg_site),
	        first_id, SITES_MAX) &&
	    sites_index_init(&node_index) && sites_index_init(&inner_index) &&
	    sites_index_init(&site_index) && sites_index_init(&stack_index) && make_fixed_rows();
}

/* The frames that a node stands for, innermost first; at most max. */
static uint32_t node_frames(const struct seg_node *node, uint64_t *ret, uint32_t max)
{
	const struct seg_inner *run;
	uint32_t i;

	if (!(node->flags & SEG_NODE_RUN)) {
		ret[0] = node->frame;
		return 1;
	}
	run = segment_table_peek(&sites_tables[INNERS], (uint32_t)node->frame);
	for (i = 0; run && i < SEG_INNER_FRAMES && i < max; i++) {
		if (i == run->count)
			break;
		ret[i] = run->frames[i];
	}
	return i;
}

uint32_t sites_frames(struct site_id id, uint64_t *ret_frames, uint32_t max)
{
	const struct seg_site *s = segment_table_row(&sites_tables[SITES], id.v - first);
	const struct seg_inner *in = s ? segment_table_row(&sites_tables[INNERS], s->inner) : NULL;
	uint32_t n = 0, i, node;

	if (!in)
		return 0;
	for (i = 0; i < in->count && n < max; i++)
		ret_frames[n++] = in->frames[i];
	for (node = s->node; node > SITES_NODE_CUT && n < max;) {
		const struct seg_node *r = segment_table_row(&sites_tables[NODES], node);

		if (!r)
			break;
		n += node_frames(r, ret_frames + n, max - n);
		node = r->parent;
	}
	return n;
}

bool sites_guessed_after(struct site_id id, uint32_t i)
{
	const struct seg_site *s = segment_table_row(&sites_tables[SITES], id.v - first);
	const struct seg_inner *in = s ? segment_table_row(&sites_tables[INNERS], s->inner) : NULL;
	uint64_t run[SEG_INNER_FRAMES];
	const struct seg_node *r;
	uint32_t node, frames;

	if (!in || i < in->count)
		return false;
	for (node = s->node; node > SITES_NODE_CUT; node = r->parent) {
		r = segment_table_row(&sites_tables[NODES], node);
		if (!r)
			break;
		frames = node_frames(r, run, SEG_INNER_FRAMES);
		if (i - in->count < frames)
			return r->flags & SEG_NODE_GUESSED;
		i -= frames;
	}
	return false;
}

uint32_t sites_root(struct site_id id)
{
	const struct seg_site *s = segment_table_row(&sites_tables[SITES], id.v - first);
	uint32_t node = s ? s->node : 0;
	uint32_t i;

	for (i = 0; node > SITES_NODE_CUT && i < SITES_NODES_MAX; i++) {
		const struct seg_node *r = segment_table_row(&sites_tables[NODES], node);

		node = r ? r->parent : 0;
	}
	return node;
}
