/* heap_judge.c - which blocks are held, and what the lost ones are to each other. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "analysis/leaks/heap_parts.h"

#include "base/std.h"
static void set_reach(struct heap *h, uint32_t i, enum heap_reach how, unsigned detail)
{
	h->reach[i] = (uint8_t)how;
	h->detail[i] = (uint8_t)detail;
}

/* Marks what can be reached from blocks on the stack by certain pointers. */
static void mark_held(struct heap *h, uint32_t *stack, size_t n)
{
	while (n > 0) {
		uint32_t i = stack[--n];

		for (uint64_t k = h->begin[i]; k < h->begin[i + 1]; k++) {
			uint32_t edge = h->edges.at[k], to = heap_edge_to(edge);

			if (heap_edge_is_weak(edge) || h->reach[to] != HEAP_LOST)
				continue;
			set_reach(h, to, HEAP_HELD, 0);
			stack[n++] = to;
		}
	}
}

/* By pointers of any kind; the first weak one on the way is the reason. */
static size_t add_possible(struct heap *h, uint32_t *stack, size_t n, uint32_t edge, unsigned why)
{
	uint32_t to = heap_edge_to(edge);

	if (h->reach[to] != HEAP_LOST ||
	    (heap_edge_kind(edge) == HEAP_PAST_END && heap_end_is_taken(h, to)))
		return n;
	if (why == HEAP_CERTAIN)
		why = heap_edge_kind(edge);
	set_reach(h, to, HEAP_POSSIBLE, why);
	stack[n++] = to;
	return n;
}

static void mark_possible(struct heap *h, uint32_t *stack, size_t n)
{
	while (n > 0) {
		uint32_t i = stack[--n];
		unsigned why = h->detail[i];

		for (uint64_t k = h->begin[i]; k < h->begin[i + 1]; k++)
			n = add_possible(h, stack, n, h->edges.at[k], why);
	}
}

static bool is_past_end(const struct heap *h, size_t i)
{
	return h->reach[i] == HEAP_POSSIBLE && h->detail[i] == HEAP_PAST_END;
}

/* Of one site. */
struct ends {
	uint32_t past; /* blocks held by a pointer to their end alone */
	uint32_t lost; /* lost blocks to whose end nothing points */
};

/*
 * A pointer to the beginning of a block, right behind a lost one: it may be meant
 * as the end of that. Only noted here, in the place of the role that lost blocks
 * get later.
 */
static void note_seam(struct heap *h, uint32_t edge)
{
	uint32_t to = heap_edge_to(edge);

	if (heap_edge_kind(edge) == HEAP_AT_SEAM && h->reach[to - 1] == HEAP_LOST)
		h->detail[to - 1] = HEAP_AT_SEAM;
	else if (heap_edge_kind(edge) == HEAP_PAST_END && h->reach[to] == HEAP_LOST)
		h->detail[to] = HEAP_AT_SEAM;
}

static void note_seams(struct heap *h)
{
	for (size_t i = 0; i < h->roots.count; i++)
		note_seam(h, h->roots.at[i]);
	for (size_t i = 0; i < h->count; i++) {
		if (h->reach[i] == HEAP_LOST)
			continue;
		for (uint64_t k = h->begin[i]; k < h->begin[i + 1]; k++)
			note_seam(h, h->edges.at[k]);
	}
}

/*
 * Where blocks lie without gaps, a pointer to the beginning of one may be meant
 * as one past the end of the block before it. It counts as that for sites that
 * are known to keep such pointers: at least as many of their blocks are held by
 * one, and by nothing else, as are lost with no pointer to their end. Fewer of
 * them are lost blocks behind which another one was just freed. Else every lost
 * block with a neighbour would be in doubt.
 */
static int mark_seams(struct heap *h, uint32_t *stack)
{
	uint32_t last = 0;
	bool any = false;
	struct ends *sites;
	size_t n = 0;
	int err;

	for (size_t i = 0; i < h->count; i++) {
		any |= is_past_end(h, i);
		if (last < h->blocks[i].site)
			last = h->blocks[i].site;
	}
	if (!any)
		return 0;
	sites = heap_take(h, (size_t)last + 1, sizeof(*sites), &err);
	if (!sites)
		return err;
	note_seams(h);
	for (size_t i = 0; i < h->count; i++) {
		struct ends *e = &sites[h->blocks[i].site];

		e->past += is_past_end(h, i);
		e->lost += h->reach[i] == HEAP_LOST && h->detail[i] == 0;
	}
	for (size_t i = 0; i < h->count; i++) {
		const struct ends *e = &sites[h->blocks[i].site];

		if (h->reach[i] != HEAP_LOST || h->detail[i] == 0)
			continue;
		h->detail[i] = 0;
		if (e->past == 0 || e->past < e->lost)
			continue;
		set_reach(h, (uint32_t)i, HEAP_POSSIBLE, HEAP_PAST_END);
		stack[n++] = (uint32_t)i;
	}
	mark_possible(h, stack, n);
	free(sites);
	heap_give(h, ((uint64_t)last + 1) * sizeof(*sites));
	return 0;
}

static int mark(struct heap *h, uint32_t *stack)
{
	size_t n = 0;

	for (size_t i = 0; i < h->roots.count; i++) {
		uint32_t edge = h->roots.at[i], to = heap_edge_to(edge);

		if (heap_edge_is_weak(edge) || h->reach[to] != HEAP_LOST)
			continue;
		set_reach(h, to, HEAP_HELD, 0);
		stack[n++] = to;
	}
	mark_held(h, stack, n);
	/* then what is held by a weak pointer of a root or of a held block */
	n = 0;
	for (size_t i = 0; i < h->roots.count; i++)
		n = add_possible(h, stack, n, h->roots.at[i], HEAP_CERTAIN);
	for (size_t i = 0; i < h->count; i++) {
		if (h->reach[i] != HEAP_HELD)
			continue;
		for (uint64_t k = h->begin[i]; k < h->begin[i + 1]; k++)
			n = add_possible(h, stack, n, h->edges.at[k], HEAP_CERTAIN);
	}
	mark_possible(h, stack, n);
	return mark_seams(h, stack);
}

/*
 * Strongly connected parts of the lost blocks, by Tarjan's way without
 * recursion. A part to which no other part points is a head: its block is
 * direct, or its blocks are a cycle; all others are held by heads. Lost blocks
 * are few, so all of this is counted by lost blocks, in the order of blocks.
 */
struct lost {
	uint32_t *number_of; /* of each block: which lost one, from 0 */
	uint32_t *block;     /* of each lost one */
	size_t count;

	uint32_t *visited; /* when, from 1; 0: not yet */
	uint32_t *low;     /* in the end: the same for all of a part */
	uint32_t *stack, *path;
	uint64_t *next; /* the edge to look at next */
	uint8_t *state; /* enum lost_state */
	size_t depth, height;
	uint32_t clock;
};

enum lost_state { LOST_NEW, LOST_OPEN, LOST_ALONE, LOST_CYCLE };

static void enter(const struct heap *h, struct lost *t, uint32_t n)
{
	t->visited[n] = t->low[n] = ++t->clock;
	t->next[n] = h->begin[t->block[n]];
	t->stack[t->height++] = n;
	t->path[t->depth++] = n;
	t->state[n] = LOST_OPEN;
}

/* All edges of n are seen: if it is the first of its part, closes that. */
static void leave(struct lost *t, uint32_t n)
{
	bool alone = t->stack[t->height - 1] == n;
	uint32_t m;

	if (t->low[n] != t->visited[n])
		return;
	do {
		m = t->stack[--t->height];
		t->state[m] = alone ? LOST_ALONE : LOST_CYCLE;
		t->low[m] = t->visited[n];
	} while (m != n);
}

/* The lost block at the end of edge k, UINT32_MAX: that one is not lost. */
static uint32_t lost_target(const struct heap *h, const struct lost *t, uint64_t k)
{
	uint32_t to = heap_edge_to(h->edges.at[k]);

	return h->reach[to] == HEAP_LOST ? t->number_of[to] : UINT32_MAX;
}

static void visit(const struct heap *h, struct lost *t, uint32_t from)
{
	enter(h, t, from);
	while (t->depth > 0) {
		uint32_t n = t->path[t->depth - 1], to;
		uint64_t k = t->next[n]++;

		if (k < h->begin[t->block[n] + 1]) {
			to = lost_target(h, t, k);
			if (to == UINT32_MAX)
				continue;
			if (t->state[to] == LOST_NEW)
				enter(h, t, to);
			else if (t->state[to] == LOST_OPEN && t->low[n] > t->visited[to])
				t->low[n] = t->visited[to];
			continue;
		}
		t->depth--;
		leave(t, n);
		if (t->depth > 0 && t->state[n] == LOST_OPEN) {
			uint32_t up = t->path[t->depth - 1];

			if (t->low[up] > t->low[n])
				t->low[up] = t->low[n];
		}
	}
}

/* A part to which another one points is no head: its blocks are held. */
static void find_heads(const struct heap *h, struct lost *t, uint8_t *pointed_at)
{
	uint32_t n, to;
	uint64_t k;

	for (n = 0; n < t->count; n++) {
		uint32_t i = t->block[n];

		for (k = h->begin[i]; k < h->begin[i + 1]; k++) {
			to = lost_target(h, t, k);
			if (to != UINT32_MAX && t->low[to] != t->low[n])
				pointed_at[t->low[to]] = 1;
		}
	}
	for (n = 0; n < t->count; n++) {
		enum heap_role role = t->state[n] == LOST_CYCLE ? HEAP_CYCLE : HEAP_DIRECT;

		h->detail[t->block[n]] = (uint8_t)(pointed_at[t->low[n]] ? HEAP_INDIRECT : role);
	}
}

static void release_lost(struct lost *t)
{
	free(t->number_of);
	free(t->block);
	free(t->visited);
	free(t->low);
	free(t->stack);
	free(t->path);
	free(t->next);
	free(t->state);
}

static int open_lost(struct heap *h, struct lost *t)
{
	size_t i, n = t->count + 1; /* the clock begins with 1 */
	int err;

	t->number_of = heap_take(h, h->count, sizeof(*t->number_of), &err);
	if (!t->number_of)
		return err;
	t->block = heap_take(h, n, sizeof(*t->block), &err);
	if (!t->block)
		return err;
	t->visited = heap_take(h, n, sizeof(*t->visited), &err);
	if (!t->visited)
		return err;
	t->low = heap_take(h, n, sizeof(*t->low), &err);
	if (!t->low)
		return err;
	t->stack = heap_take(h, n, sizeof(*t->stack), &err);
	if (!t->stack)
		return err;
	t->path = heap_take(h, n, sizeof(*t->path), &err);
	if (!t->path)
		return err;
	t->next = heap_take(h, n, sizeof(*t->next), &err);
	if (!t->next)
		return err;
	t->state = heap_take(h, n, sizeof(*t->state), &err);
	if (!t->state)
		return err;
	for (i = n = 0; i < h->count; i++) {
		if (h->reach[i] != HEAP_LOST)
			continue;
		t->number_of[i] = (uint32_t)n;
		t->block[n++] = (uint32_t)i;
	}
	return 0;
}

static int find_roles(struct heap *h, size_t count)
{
	struct lost t = {.count = count};
	uint64_t before = h->bytes;
	uint8_t *pointed_at = NULL;
	uint32_t n;
	int err = open_lost(h, &t);

	if (err == 0)
		pointed_at = heap_take(h, count + 1, 1, &err);
	if (err == 0 && t.state && pointed_at) {
		for (n = 0; n < count; n++)
			if (t.state[n] == LOST_NEW)
				visit(h, &t, n);
		find_heads(h, &t, pointed_at);
	}
	free(pointed_at);
	release_lost(&t);
	h->bytes = before;
	return err;
}

int heap_judge(struct heap *h)
{
	uint64_t before = h->bytes;
	uint32_t *stack;
	size_t i, lost = 0;
	int err;

	err = heap_flush(h);
	if (err < 0)
		return err;
	for (i = 0; i < h->count; i++)
		h->begin[i + 1] += h->begin[i];
	memset(h->reach, HEAP_LOST, h->count);
	memset(h->detail, HEAP_NONE, h->count);
	stack = heap_take(h, h->count, sizeof(*stack), &err);
	if (!stack)
		return err;
	err = mark(h, stack);
	free(stack);
	h->bytes = before;
	if (err < 0)
		return err;
	for (i = 0; i < h->count; i++)
		lost += h->reach[i] == HEAP_LOST;
	return lost ? find_roles(h, lost) : 0;
}

enum heap_reach heap_reach(const struct heap *h, size_t i)
{
	return (enum heap_reach)h->reach[i];
}

enum heap_role heap_role(const struct heap *h, size_t i)
{
	return h->reach[i] == HEAP_LOST ? (enum heap_role)h->detail[i] : HEAP_NONE;
}

enum heap_weak heap_weak(const struct heap *h, size_t i)
{
	return h->reach[i] == HEAP_POSSIBLE ? (enum heap_weak)h->detail[i] : HEAP_CERTAIN;
}
