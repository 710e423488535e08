/* live_map.c - finds the blocks of a running process in its memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/blocks/live_map.h"

#include <assert.h>

#include "format/cell.h"
#include "host/memory/foreign.h"
#include "kit/os/clock.h"

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	CELLS = PAGE / sizeof(uint64_t),
	LEAVES = 4,           /* read at once: what a cache has room for */
	SPILLED_SLOTS = 8192, /* read at once */
	SLOT_WORDS = sizeof(struct cell_spilled) / sizeof(uint64_t),
};

struct leaf {
	uint64_t at, base; /* its cells; the address of the first cell's granule */
};

struct scan {
	struct live_map *map;
	struct foreign *memory;
	unsigned granule_bits;
	uint32_t first_id;
	uint32_t birth_mask;
	bool has_names; /* in place of births */
	struct births births;
	uint64_t until_ns;
	/* leaves that are read together, in the order of their addresses */
	struct leaf leaves[LEAVES];
	size_t leaf_count;
	/* a block whose size is in the first cell of the next leaf */
	bool is_waiting;
	struct live_map_block waiting;
	uint64_t waiting_for; /* address */
	uint64_t words[(SPILLED_SLOTS * SLOT_WORDS)];
};

static bool is_late(struct scan *s)
{
	if (clock_ns(CLOCK_MONOTONIC) <= s->until_ns)
		return false;
	s->map->is_partial = true;
	return true;
}

/* Pages that were never touched are zero, and so are those swapped out. */
static int read_pages(
    struct scan *s, const struct foreign_range *ranges, size_t count, struct foreign_batch *ret)
{
	int err = foreign_read(s->memory, ranges, count, ret, &s->map->why);

	for (size_t i = 0; err == 0 && i < ret->count; i++) {
		if (ret->pages[i] == FOREIGN_SWAPPED)
			s->map->is_partial = true;
		else if (ret->pages[i] != FOREIGN_READ && ret->pages[i] != FOREIGN_UNTOUCHED)
			err = -EFAULT; /* the collector has no such pages */
	}
	return err;
}

/* Copies bytes at any address. */
static int read_memory(struct scan *s, uint64_t from, void *to, size_t bytes)
{
	size_t skip = from % PAGE;
	struct foreign_range r = {.start = from - skip, .pages = (skip + bytes + PAGE - 1) / PAGE};
	struct foreign_batch b;
	int err = read_pages(s, &r, 1, &b);

	if (err == 0)
		memcpy(to, b.bytes + skip, bytes);
	return err;
}

/* Reports a block, with everything that is known of it. */
static int add_block(struct scan *s, const struct live_map_block *b)
{
	struct live_map *m = s->map;
	struct sum_row *sum;

	if (b->is_inherited && !m->wants_inherited)
		return 0; /* it was allocated by the parent */
	if (!b->is_inherited && !m->is_list) {
		sum = sums_at(&m->counts, b->site);
		if (!sum)
			return -ENOMEM;
		sum->allocations++;
		sum->allocated_bytes += b->size;
		m->bytes_known &= b->size_known;
	}
	return !m->each || m->each(b, m->arg) ? 0 : -ENOMEM;
}

/* The size of the block has been read, or cannot be. */
static int end_waiting(struct scan *s, bool known, uint64_t size)
{
	if (!s->is_waiting)
		return 0;
	s->is_waiting = false;
	s->waiting.size = size;
	s->waiting.size_known = known;
	return add_block(s, &s->waiting);
}

/* Begins a large block, whose address and size are filled in later. */
static struct live_map_block block_of(const struct scan *s, uint64_t cell)
{
	uint32_t birth = (uint32_t)cell & s->birth_mask;

	return (struct live_map_block){.site = cell_site(cell),
	    .birth = s->has_names ? births_tick(&s->births, birth) : birth,
	    .size = cell_class(cell),
	    .size_known = true,
	    .is_inherited = cell_site(cell) < s->first_id};
}

/* Most cells are empty, because most blocks are larger than a granule. */
static size_t skip_empty(const uint64_t *words, size_t i, size_t cells)
{
	while (i + 4 <= cells && !(words[i] | words[i + 1] | words[i + 2] | words[i + 3]))
		i += 4;
	while (i < cells && words[i] == 0)
		i++;
	return i;
}

/* Decodes cells; the first one belongs to address `base`. */
static int count_cells(struct scan *s, const uint64_t *words, uint64_t base, size_t cells)
{
	uint64_t granule = UINT64_C(1) << s->granule_bits;
	bool is_next = s->is_waiting && s->waiting_for == base;
	size_t i = 0;

	if (is_next)
		i++;
	if (end_waiting(s, is_next, is_next ? words[0] : 0) < 0)
		return -ENOMEM;
	for (; (i = skip_empty(words, i, cells)) < cells; i++) {
		struct live_map_block b;
		bool is_large = cell_class(words[i]) == CELL_LARGE;

		if (cell_site(words[i]) == 0)
			continue;
		b = block_of(s, words[i]);
		b.address = base + i * granule;
		if (s->map->is_exact)
			b.address = cell_address(words[i], b.address, s->granule_bits);
		if (is_large && i + 1 == cells) {
			s->is_waiting = true;
			s->waiting = b;
			s->waiting_for = base + cells * granule;
			break;
		}
		if (is_large)
			b.size = words[++i];
		if (add_block(s, &b) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Reads the leaves that were gathered, and empties the list. */
static int read_leaves(struct scan *s)
{
	size_t pages = (sizeof(uint64_t) << (CELL_LEAF_BITS - s->granule_bits)) / PAGE;
	struct foreign_range ranges[LEAVES];
	size_t count = s->leaf_count;
	struct foreign_batch b;
	int err;

	s->leaf_count = 0;
	if (count == 0 || is_late(s))
		return 0;
	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct foreign_range){s->leaves[i].at, pages};
	err = read_pages(s, ranges, count, &b);
	for (size_t i = 0; i < count && err == 0; i++)
		err = count_cells(s, (const uint64_t *)(const void *)(b.bytes + i * pages * PAGE),
		    s->leaves[i].base, pages * CELLS);
	return err;
}

static int add_leaf(struct scan *s, uint64_t at, uint64_t base)
{
	if (at % PAGE != 0)
		return -EFAULT;
	s->leaves[s->leaf_count++] = (struct leaf){at, base};
	return s->leaf_count == LEAVES ? read_leaves(s) : 0;
}

static int read_mid(struct scan *s, uint64_t mid, uint64_t base)
{
	static_assert((1u << CELL_MID_BITS) <= sizeof(s->words) / sizeof(uint64_t),
	    "room for a table of leaves");
	int err = read_memory(s, mid, s->words, sizeof(uint64_t) << CELL_MID_BITS);

	for (uint64_t i = 0; i < (1u << CELL_MID_BITS) && err == 0; i++)
		if (s->words[i])
			err = add_leaf(s, s->words[i], base + (i << CELL_LEAF_BITS));
	return err;
}

static int read_spill_level(struct scan *s, uint64_t level, uint64_t bits)
{
	/* the slots begin after one word; no slot is split between two reads */
	uint64_t at = level + CELL_SPILL_HEAD_BYTES;
	uint64_t slots = UINT64_C(1) << bits, n;

	for (uint64_t i = 0; i < slots; i += n) {
		int err;

		n = slots - i < SPILLED_SLOTS ? slots - i : SPILLED_SLOTS;
		if (is_late(s))
			return 0;
		err = read_memory(s, at + i * sizeof(struct cell_spilled), s->words,
		    n * sizeof(struct cell_spilled));
		for (uint64_t k = 0; k < n && err == 0; k++) {
			const struct cell_spilled *slot = (const void *)(s->words + k * SLOT_WORDS);
			struct live_map_block b = block_of(s, slot->cell);

			b.address = slot->address;
			b.size = slot->size;
			if (slot->address > 1 && b.site != 0)
				err = add_block(s, &b);
		}
		if (err < 0)
			return err;
	}
	return 0;
}

static int read_spilled(struct scan *s, uint64_t root)
{
	uint64_t levels[CELL_SPILL_LEVELS], bits;
	int err = root ? read_memory(s, root, levels, sizeof(levels)) : -ENOTSUP;

	for (unsigned i = 0; err == 0 && i < CELL_SPILL_LEVELS && levels[i]; i++) {
		err = read_memory(s, levels[i], &bits, sizeof(bits));
		if (err == 0 && bits != CELL_SPILL_FIRST_BITS + CELL_SPILL_GROW_BITS * i)
			err = -ENOTSUP;
		if (err == 0)
			err = read_spill_level(s, levels[i], bits);
	}
	return err;
}

static int read_root(struct scan *s, uint64_t root)
{
	uint64_t mids[1 << CELL_ROOT_BITS];
	int err = read_memory(s, root, mids, sizeof(mids));

	for (uint64_t i = 0; err == 0 && i < (1u << CELL_ROOT_BITS); i++)
		if (mids[i] && !is_late(s))
			err = read_mid(s, mids[i], i << (CELL_MID_BITS + CELL_LEAF_BITS));
	if (err == 0)
		err = read_leaves(s);
	if (err == 0)
		err = end_waiting(s, false, 0);
	return err;
}

static bool is_known(const struct seg_header *h)
{
	return h->live_root != 0 && h->live_cell_version >= 1 &&
	    h->live_cell_version <= CELL_VERSION_LOG && h->live_root_bits == CELL_ROOT_BITS &&
	    h->live_mid_bits == CELL_MID_BITS && h->live_leaf_bits == CELL_LEAF_BITS &&
	    (h->live_granule_bits == CELL_GRANULE_OTHER ||
	        h->live_granule_bits == CELL_GRANULE_GLIBC);
}

int live_map_read(struct live_map *m, pid_t pid, const struct seg_header *h, uint64_t budget_ns)
{
	struct scan *s;
	int err;

	*m = (struct live_map){.each = m->each,
	    .arg = m->arg,
	    .memory = m->memory,
	    .wants_inherited = m->wants_inherited,
	    .is_list = m->is_list,
	    .bytes_known = true,
	    .is_exact = h->live_cell_version >= 2};
	if (!is_known(h))
		return -ENOTSUP;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->map = m;
	s->granule_bits = h->live_granule_bits;
	s->first_id = h->first_id;
	s->birth_mask = m->is_exact ? CELL_BIRTH_MAX : UINT32_MAX;
	s->until_ns = clock_ns(CLOCK_MONOTONIC);
	s->until_ns += budget_ns < UINT64_MAX - s->until_ns ? budget_ns : UINT64_MAX - s->until_ns;
	s->memory = m->memory;
	err = s->memory ? 0 : foreign_open(pid, NULL, &s->memory, &m->why);
	s->has_names = h->live_cell_version == CELL_VERSION_LOG;
	if (err == 0 && s->has_names)
		err = births_read(&s->births, s->memory, h);
	if (err == 0)
		err = read_root(s, h->live_root);
	if (err == 0)
		err = read_spilled(s, h->spill_root);
	if (err == 0 && !foreign_is_same(s->memory))
		err = -ESRCH;
	if (!m->memory)
		foreign_close(s->memory);
	births_release(&s->births);
	free(s);
	sums_sort(&m->counts);
	return err;
}

void live_map_release(struct live_map *m)
{
	sums_release(&m->counts);
}

/* ---- births: births of blocks in a process with an event log ---- */

/* Copies `bytes` at any address; pages that were never touched are zero. */
static int copy(struct foreign *memory, uint64_t from, void *to, size_t bytes)
{
	size_t skip = from % PAGE;
	struct foreign_range r = {.start = from - skip, .pages = (skip + bytes + PAGE - 1) / PAGE};
	struct foreign_batch b;
	int err = foreign_read(memory, &r, 1, &b, NULL);

	for (size_t i = 0; err == 0 && i < b.count; i++)
		if (b.pages[i] != FOREIGN_READ && b.pages[i] != FOREIGN_UNTOUCHED)
			err = b.pages[i] == FOREIGN_SWAPPED ? -ENODATA : -EFAULT;
	if (err == 0)
		memcpy(to, b.bytes + skip, bytes);
	return err;
}

static void find_newest(struct births *b, uint32_t leaf)
{
	for (uint32_t i = 0; i < LOG_BIRTH_ENTRIES; i++) {
		const struct log_birth *e = &b->leaves[leaf][i];

		if (e->first == 0 && e->at[0] == 0)
			continue;
		b->newest = leaf << LOG_BIRTH_BITS | i;
		b->newest_tick = log_birth_tick(e, LOG_INDEX_MASK);
	}
}

int births_read(struct births *b, struct foreign *memory, const struct seg_header *h)
{
	const size_t bytes = sizeof(struct log_birth) * LOG_BIRTH_ENTRIES;
	uint64_t at[LOG_BIRTH_LEAVES];
	int err;

	memset(b, 0, sizeof(*b));
	if (h->log_births == 0)
		return -ENOTSUP;
	err = copy(memory, h->log_births, at, sizeof(at));
	for (uint32_t i = 0; err == 0 && i < LOG_BIRTH_LEAVES; i++) {
		if (at[i] == 0)
			continue;
		b->leaves[i] = calloc(1, bytes);
		if (!b->leaves[i])
			return -ENOMEM;
		err = copy(memory, at[i], b->leaves[i], bytes);
		if (err == 0)
			find_newest(b, i);
	}
	return err;
}

uint32_t births_tick(const struct births *b, uint32_t name)
{
	uint32_t number = name >> LOG_INDEX_BITS & ((1u << LOG_NUMBER_BITS) - 1);
	const struct log_birth *leaf = b->leaves[number >> LOG_BIRTH_BITS];

	if (!leaf || number > b->newest)
		return b->newest_tick;
	return log_birth_tick(&leaf[number & (LOG_BIRTH_ENTRIES - 1)], name);
}

void births_release(struct births *b)
{
	for (size_t i = 0; i < LOG_BIRTH_LEAVES; i++)
		free(b->leaves[i]);
	memset(b, 0, sizeof(*b));
}
