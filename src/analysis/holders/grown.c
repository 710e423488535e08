/* grown.c - blocks that came while a process was read, and who points to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/holders/grown.h"

#include "base/cpu/cpu.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)
#define ADDRESS_END  (UINT64_C(1) << CPU_ADDRESS_BITS)

/* So far from what is mapped new memory is expected. */
#define NEAR_BYTES (UINT64_C(1) << 30)

/* Below, a number of 32 bits looks like an address. */
#define LOW_END (UINT64_C(1) << 32)

/* ---- which words are kept ------------------------------------------------- */

/* Private memory without a file, and what is reserved for it. */
static bool may_have_blocks(const struct roots_area *a)
{
	return a->kind == ROOTS_HEAP || (a->kind == ROOTS_MEMORY && !a->is_file);
}

/* The kernel maps new memory below or above what is there. */
static int add_gaps(struct ranges *near, const struct roots_areas *areas, size_t i)
{
	const struct roots_area *a = &areas->at[i];
	uint64_t low = i > 0 ? a[-1].end : 0;
	uint64_t high = i + 1 < areas->count ? areas->at[i + 1].start : ADDRESS_END;
	int err = 0;

	if (a->start - low > NEAR_BYTES)
		low = a->start - NEAR_BYTES;
	if (high - a->end > NEAR_BYTES)
		high = a->end + NEAR_BYTES;
	if (low >= LOW_END)
		err = address_ranges_add(near, low, a->start);
	if (err == 0 && (a->end >= LOW_END || a->kind == ROOTS_HEAP))
		err = address_ranges_add(near, a->end, high);
	return err;
}

static int find_near(struct ranges *near, const struct roots_areas *areas)
{
	int err = 0;

	for (size_t i = 0; i < areas->count && err == 0; i++) {
		const struct roots_area *a = &areas->at[i];

		if (may_have_blocks(a))
			err = address_ranges_add(near, a->start, a->end);
		if (err == 0 && a->end < ADDRESS_END)
			err = add_gaps(near, areas, i);
	}
	address_ranges_settle(near);
	return err;
}

static int keep(struct grown *g, const struct grown_word *w)
{
	int err;

	if (!address_ranges_hold(&g->near, w->address))
		return 0;
	if ((g->word_count + 1) * sizeof(*w) > g->max_bytes) {
		g->is_cut = true;
		return 0;
	}
	err = room_make(&g->words, &g->word_room, g->word_count, sizeof(*w));
	if (err == 0)
		g->words[g->word_count++] = *w;
	return err;
}

static void missed(void *context, uint32_t source, uint64_t address)
{
	struct grown *g = context;
	const struct grown_word w = {.address = address, .from = source};

	if (g->err == 0)
		g->err = keep(g, &w);
}

int grown_begin(
    struct grown *g, struct heap *h, const struct roots_areas *areas, uint64_t max_bytes)
{
	int err;

	*g = (struct grown){.max_bytes = max_bytes,
	    .first = (uint32_t)heap_count(h),
	    .next = (uint32_t)heap_count(h)};
	err = find_near(&g->near, areas);
	if (err == 0 && g->near.count > 0)
		heap_watch(h, g->near.at[0].start, g->near.at[g->near.count - 1].end, missed, g);
	return err;
}

void grown_release(struct grown *g)
{
	address_ranges_release(&g->near);
	free(g->words);
	free(g->blocks);
	free(g->edges);
	*g = (struct grown){0};
}

int grown_miss_root(struct grown *g, uint64_t address, uint32_t area, uint32_t word)
{
	const struct grown_word w = {
	    .address = address, .from = area, .word = word, .is_root = true};

	return keep(g, &w);
}

/* ---- new blocks ----------------------------------------------------------- */

BY(by_address, struct grown_block, UP(address) ?: UP(number))

/* The last settled block at or below an address; NULL: none. */
static const struct grown_block *at_or_below(const struct grown *g, uint64_t address)
{
	size_t low = sorted_first(g->blocks, g->settled, x, x->address <= address);

	return low > 0 ? &g->blocks[low - 1] : NULL;
}

static const struct grown_block *find(const struct grown *g, uint64_t address)
{
	const struct grown_block *b = at_or_below(g, address);

	return b && address - b->address < b->size ? b : NULL;
}

int grown_add(struct grown *g, const struct heap *h, uint64_t address, uint64_t size, uint32_t site)
{
	const struct grown_block *b = at_or_below(g, address);
	int64_t known = heap_find(h, address);
	uint32_t number = known >= 0 ? (uint32_t)known : g->next;
	int err;

	if (b && b->address == address && b->size == size &&
	    (b->site == site || site == GROWN_NO_SITE))
		return 0;
	if (number == GRAPH_NODES_MAX || (g->block_count + 1) * sizeof(*g->blocks) > g->max_bytes)
		return -E2BIG;
	err = room_make(&g->blocks, &g->block_room, g->block_count, sizeof(*g->blocks));
	if (err < 0)
		return err;
	g->blocks[g->block_count++] =
	    (struct grown_block){.address = address, .size = size, .site = site, .number = number};
	g->next += known < 0;
	return 1;
}

void grown_settle(struct grown *g)
{
	if (g->settled < g->block_count)
		qsort(g->blocks, g->block_count, sizeof(*g->blocks), by_address);
	g->settled = g->block_count;
}

/* ---- pointers ------------------------------------------------------------- */

static int add_edge(struct grown *g, uint32_t from, uint32_t to)
{
	int err;

	if (from == to)
		return 0;
	if ((g->edge_count + 1) * sizeof(*g->edges) > g->max_bytes) {
		g->is_cut = true;
		return 0;
	}
	err = room_make(&g->edges, &g->edge_room, g->edge_count, sizeof(*g->edges));
	if (err == 0)
		g->edges[g->edge_count++] = (struct heap_graph_edge){.from = from, .to = to};
	return err;
}

/* One word of a new block. */
static int scan_word(struct grown *g, const struct heap *h, uint32_t from, uint64_t word)
{
	const struct grown_word w = {.address = word & ADDRESS_MASK, .from = from};
	int64_t known = heap_find(h, w.address);
	const struct grown_block *b;
	size_t before = g->word_count;
	int err;

	if (known >= 0)
		return add_edge(g, from, (uint32_t)known);
	b = find(g, w.address);
	if (b)
		return add_edge(g, from, b->number);
	err = keep(g, &w);
	g->from_new += g->word_count > before;
	return err;
}

int grown_scan(
    struct grown *g, const struct heap *h, uint64_t address, const void *bytes, size_t len)
{
	const struct grown_block *b, *end;
	int err = 0;

	if (g->settled == 0)
		return 0;
	end = g->blocks + g->settled;
	b = at_or_below(g, address);
	for (b = b ? b : g->blocks; b < end && err == 0; b++) {
		uint64_t from = b->address > address ? b->address : address;
		uint64_t to = b->address + b->size;

		if (b->address >= address + len)
			break;
		if (to > address + len)
			to = address + len;
		for (from = (from + 7) & ~UINT64_C(7); from + 8 <= to && err == 0; from += 8) {
			uint64_t word;

			memcpy(&word, (const uint8_t *)bytes + (from - address), sizeof(word));
			err = scan_word(g, h, b->number, word);
		}
	}
	return err;
}

bool grown_wants_more(struct grown *g)
{
	bool is_more = g->from_new > g->from_before;

	g->from_before = g->from_new;
	return is_more && !g->is_cut;
}

BY(by_from, struct heap_graph_edge, UP(from) ?: UP(to))

int grown_finish(struct grown *g, grown_root *root, void *context)
{
	int err = g->err;

	grown_settle(g);
	for (size_t i = 0; i < g->word_count && err == 0; i++) {
		const struct grown_word *w = &g->words[i];
		const struct grown_block *b = find(g, w->address);

		if (b)
			err = w->is_root ? root(context, w->from, w->word, b->number)
			                 : add_edge(g, w->from, b->number);
	}
	free(g->words);
	g->words = NULL;
	g->word_count = g->word_room = 0;
	if (g->edge_count > 0)
		qsort(g->edges, g->edge_count, sizeof(*g->edges), by_from);
	return err;
}
