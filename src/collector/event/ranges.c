/* ranges.c - which site each page of the host's own mappings belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/mapping.h"

#include "base/cpu/cpu.h"
#include "collector/segment/mem.h"
#include "format/seg_mapped.h"

enum {
	SLOTS = 1 << MAPPED_NODE_BITS,
	CHUNK_NODES = 128, /* nodes that are mapped at a time */
	CHUNKS = RANGES_NODES / CHUNK_NODES,
};

struct node {
	uint64_t slots[SLOTS];
};

/* on a page border, for a reader that reads whole pages */
uint64_t ranges_root[1 << MAPPED_ROOT_BITS] __attribute__((aligned(CPU_PAGE)));
static struct node *chunks[CHUNKS];
static uint32_t node_count;
static struct node *spare; /* one that lost a race */

/* An entry of the tree: of 1 << shift pages from page `base` on. */
struct spot {
	uint64_t *slot;
	uint64_t value, base;
	uint32_t shift;
	uint32_t left; /* entries of the same node behind it */
};

static struct node *new_node(void)
{
	struct node *n = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL);
	uint32_t i = LOAD(&node_count);
	struct node *chunk;

	if (n)
		return n;
	do {
		if (i >= RANGES_NODES)
			return NULL;
		chunk = mem_publish(&chunks[i / CHUNK_NODES], CHUNK_NODES * sizeof(*chunk));
		if (!chunk)
			return NULL;
	} while (!CAS(&node_count, &i, i + 1));
	return &chunk[i % CHUNK_NODES];
}

SEEP_INLINE uint64_t pages_of(const struct spot *s)
{
	return UINT64_C(1) << s->shift;
}

/* The leaf or the empty entry for a page. */
SEEP_INLINE struct spot find(uint64_t page)
{
	struct spot s = {.shift = MAPPED_TOP_SHIFT};
	uint64_t i = page >> MAPPED_TOP_SHIFT;

	s.slot = &ranges_root[i];
	s.left = (uint32_t)((1u << MAPPED_ROOT_BITS) - 1 - i);
	while ((s.value = LOAD_ACQUIRE(s.slot)) & MAPPED_IS_NODE) {
		struct node *n = (struct node *)(uintptr_t)(s.value & ~MAPPED_IS_NODE);

		s.shift -= MAPPED_NODE_BITS;
		i = page >> s.shift & (SLOTS - 1);
		s.slot = &n->slots[i];
		s.left = (uint32_t)(SLOTS - 1 - i);
	}
	s.base = page >> s.shift << s.shift;
	return s;
}

/* How many entries are there from s to before `at`? */
SEEP_INLINE uint64_t entries_before(const struct spot *s, const uint64_t *at)
{
	return (uint64_t)(at - s->slot);
}

/* How many entries of this node, from this one on, are inside the range? */
SEEP_INLINE uint32_t whole_entries(const struct spot *s, uint64_t first, uint64_t end)
{
	const uint64_t n = (end - s->base) >> s->shift;

	if (s->base < first)
		return 0;
	return n > s->left ? s->left + 1 : (uint32_t)n;
}

/*
 * Makes a node of an entry, which has the same contents. True as well if it has
 * changed meanwhile. False: there is no memory.
 */
static SEEP_NOINLINE bool divide(const struct spot *s)
{
	struct node *n = new_node();
	uint64_t was = s->value;
	uint32_t i;

	if (!n)
		return false;
	for (i = 1; i < SLOTS; i++)
		n->slots[i] = was & ~MAPPED_STARTS;
	n->slots[0] = was;
	if (!CAS(s->slot, &was, (uint64_t)(uintptr_t)n | MAPPED_IS_NODE))
		(void)__atomic_exchange_n(&spare, n, __ATOMIC_ACQ_REL);
	return true;
}

/* ---- taking out ---------------------------------------------------------- */

/* The run that is being taken out, from page `first` on; leaf 0: none. */
struct taking {
	struct ranges_taken *ret;
	void (*beyond)(const struct ranges_run *run);
	uint64_t leaf, first;
};

static SEEP_NOINLINE void end_run(struct taking *t, uint64_t page)
{
	const struct ranges_run run = {
	    .first = t->first,
	    .end = page,
	    .site = mapped_site(t->leaf),
	    .birth = mapped_birth(t->leaf),
	    .starts = t->leaf & MAPPED_STARTS,
	};

	if (t->leaf && t->ret->count < RANGES_RUNS) {
		t->ret->runs[t->ret->count++] = run;
	} else if (t->leaf) {
		t->ret->beyond++;
		t->beyond(&run);
	}
	t->leaf = 0;
}

/* What is taken out at `page` is of this leaf: adds it to the run. */
static void add_page(struct taking *t, uint64_t leaf, uint64_t page)
{
	if (leaf == (t->leaf & ~MAPPED_STARTS))
		return; /* it goes on */
	end_run(t, page);
	t->leaf = leaf;
	t->first = page;
}

/* A range that goes on at `page` begins there. Returns its site, or 0. */
static uint32_t begin_at(uint64_t page)
{
	struct spot s;

	if (page >= MAPPED_PAGES)
		return 0;
	do {
		s = find(page);
		/* an entry that begins before it could not be cut */
		if (!s.value || s.value & MAPPED_STARTS || s.base != page)
			return 0;
	} while (!CAS(s.slot, &s.value, s.value | MAPPED_STARTS));
	return mapped_site(s.value);
}

/*
 * Takes out an entry that is not inside as a whole: it is cut first, or taken
 * out with all its pages. Returns the page to go on with.
 */
static SEEP_NOINLINE uint64_t take_part(struct taking *t, struct spot *s, uint64_t first)
{
	const uint64_t from = s->base > first ? s->base : first;

	if (s->value) {
		if (divide(s) || !CAS(s->slot, &s->value, 0))
			return from;
		t->ret->lost++;
	}
	add_page(t, s->value, s->base);
	return s->base + pages_of(s);
}

/*
 * The first entry of all. A neighbour may be about to mark it as the beginning
 * of a range, so it takes a locked instruction. Nobody else changes the others.
 */
SEEP_INLINE bool take_first(struct taking *t, const struct spot *s)
{
	uint64_t leaf = s->value;

	if (leaf && !CAS(s->slot, &leaf, 0))
		return false;
	add_page(t, leaf, s->base);
	return true;
}

/* Entries up to `end`; returns the first one that it has not taken. */
SEEP_INLINE uint64_t *take_entries(
    struct taking *t, const struct spot *s, uint64_t *at, const uint64_t *end)
{
	uint64_t next = t->leaf & ~MAPPED_STARTS, leaf;

	for (;;) {
		if (next)
			for (; at < end && LOAD_ACQUIRE(at) == next; at++)
				STORE(at, 0);
		else
			while (at < end && !LOAD_ACQUIRE(at))
				at++;
		if (at >= end)
			return at;
		leaf = LOAD_ACQUIRE(at);
		if (leaf & MAPPED_IS_NODE)
			return at;
		add_page(t, leaf, s->base + ((uint64_t)(at - s->slot) << s->shift));
		next = leaf & ~MAPPED_STARTS;
		STORE(at, 0);
		at++;
	}
}

void ranges_take(uint64_t first, uint64_t end, struct ranges_taken *ret,
    void (*beyond)(const struct ranges_run *run))
{
	struct taking t = {.ret = ret, .beyond = beyond};
	uint64_t page = first;

	ret->count = ret->beyond = ret->lost = ret->split = 0;
	ret->end = end;
	while (page < end) {
		struct spot s = find(page);
		uint32_t n = whole_entries(&s, first, end);

		if (unlikely(!n))
			page = take_part(&t, &s, first);
		else if (page > first || take_first(&t, &s))
			page += entries_before(
			            &s, take_entries(&t, &s, s.slot + (page == first), s.slot + n))
			    << s.shift;
	}
	/* a range goes on at `end` only if it has pages right before it */
	if (t.leaf && page == end)
		ret->split = begin_at(end);
	end_run(&t, page);
}

/* ---- putting in ---------------------------------------------------------- */

uint64_t ranges_put(const struct ranges_run *run)
{
	const uint64_t leaf = mapped_leaf(run->site, run->birth);
	const uint64_t starts = run->starts ? MAPPED_STARTS : 0;
	uint64_t page = run->first, missing = 0;

	while (page < run->end) {
		struct spot s = find(page);
		uint32_t n = whole_entries(&s, run->first, run->end);
		const uint64_t *behind = s.slot + n;
		uint64_t *at = s.slot + 1;

		if (unlikely(!n)) {
			if (divide(&s))
				continue;
			missing -= page;
			page = s.base + pages_of(&s);
			missing += page < run->end ? page : run->end;
			continue;
		}
		STORE(s.slot, page == run->first ? leaf | starts : leaf);
		while (at < behind && !(LOAD(at) & MAPPED_IS_NODE))
			STORE(at++, leaf);
		page += entries_before(&s, at) << s.shift;
	}
	return run->end - run->first - missing;
}

void ranges_put_back(const struct ranges_taken *t)
{
	struct spot s;
	uint32_t i;

	for (i = 0; i < t->count; i++)
		ranges_put(&t->runs[i]);
	if (!t->split)
		return;
	s = find(t->end);
	if (s.base == t->end && mapped_site(s.value) == t->split)
		CAS(s.slot, &s.value, s.value & ~MAPPED_STARTS);
}

/* ---- looking ------------------------------------------------------------- */

void ranges_scan(bool (*fn)(const struct ranges_run *run, void *arg), void *arg)
{
	struct ranges_run run = {0};
	uint64_t page = 0, last = 0;
	struct spot s;

	while (page < MAPPED_PAGES) {
		s = find(page);
		page = s.base + pages_of(&s);
		if (run.end == s.base && mapped_goes_on(last, s.value)) {
			run.end = page;
			continue;
		}
		if (run.end && !fn(&run, arg))
			return;
		run = (struct ranges_run){0};
		last = s.value;
		if (s.value)
			run = (struct ranges_run){s.base, page, mapped_site(s.value),
			    mapped_birth(s.value), s.value & MAPPED_STARTS};
	}
	if (run.end)
		fn(&run, arg);
}
