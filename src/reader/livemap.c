/* livemap.c - the blocks of a running process, counted by site in its memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/livemap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "reader/clock.h"

enum {
	PAGE = 4096,
	CELLS = PAGE / sizeof(uint64_t),
	ROOT_BITS = 12,
	MID_BITS = 15,
	LEAF_BITS = 20,
	LARGE = 63, /* the size is in the next cell */
	PIECE = 64, /* pages read at once */
	SPILL_LEVELS = 12,
	SPILL_FIRST_BITS = 9,
	SPILL_WORDS = 4, /* address, cell, size, nothing */
};

#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)

struct scan {
	struct livemap *map;
	pid_t pid;
	int pagemap;
	unsigned granule_bits;
	uint32_t first_id;
	uint64_t until_ns;
	/* a block whose size is in the first cell of the next leaf */
	struct ledger_sum *waiting;
	struct livemap_block waiting_block;
	uint64_t waiting_for; /* address */
	uint64_t words[PIECE * CELLS];
};

static int
read_memory(const struct scan *s, uint64_t from, void *to, size_t bytes)
{
	struct iovec local = {to, bytes};
	struct iovec remote = {(void *)(uintptr_t)from, bytes};
	ssize_t n = process_vm_readv(s->pid, &local, 1, &remote, 1, 0);

	if (n < 0)
		return -errno;
	return (size_t)n == bytes ? 0 : -EFAULT;
}

/* Fills s->words from whole pages; what was never touched is zero. */
static int
read_pages(struct scan *s, uint64_t from, size_t pages)
{
	uint64_t state[PIECE];
	ssize_t want = (ssize_t)(pages * sizeof(*state));

	if (pread(s->pagemap, state, (size_t)want,
	        (off_t)(from / PAGE * sizeof(*state))) != want)
		return -EFAULT;
	memset(s->words, 0, pages * PAGE);
	for (size_t i = 0, n; i < pages; i += n) {
		bool present = state[i] & PAGE_PRESENT;
		int err;

		n = 1;
		if (state[i] & PAGE_SWAPPED)
			s->map->is_partial = true;
		if (!present)
			continue;
		while (i + n < pages && state[i + n] & PAGE_PRESENT)
			n++;
		err = read_memory(
		    s, from + i * PAGE, s->words + i * CELLS, n * PAGE);
		if (err < 0)
			return err;
	}
	return 0;
}

static int
tell(const struct scan *s, const struct livemap_block *b)
{
	const struct livemap *m = s->map;

	return !m->each || m->each(b, m->arg) ? 0 : -ENOMEM;
}

/* A block of a cell; its size, if it is large, may not be known yet. */
static int
count_block(
    struct scan *s, const struct livemap_block *b, struct ledger_sum **ret)
{
	struct ledger_sum *sum;

	*ret = NULL;
	if (b->site < s->first_id)
		return 0; /* inherited: the parent's */
	sum = ledger_at(&s->map->counts, b->site);
	if (!sum)
		return -ENOMEM;
	sum->allocations++;
	sum->allocated_bytes += b->size;
	*ret = sum;
	return b->size_known ? tell(s, b) : 0;
}

/* Its size has come, or is not to be had. */
static int
end_waiting(struct scan *s, bool known, uint64_t size)
{
	struct livemap_block b = s->waiting_block;

	if (!s->waiting)
		return 0;
	if (!known)
		s->map->bytes_known = false;
	s->waiting->allocated_bytes += size;
	s->waiting = NULL;
	b.size = size;
	b.size_known = known;
	return tell(s, &b);
}

static struct livemap_block
block_of(uint64_t cell)
{
	return (struct livemap_block){.site = (uint32_t)(cell >> 38),
	    .birth = (uint32_t)cell,
	    .size = cell >> 32 & 63, /* or LARGE */
	    .size_known = true};
}

/* The cells of s->words, the first of which is that of address `base`. */
static int
count_cells(struct scan *s, uint64_t base, size_t cells)
{
	uint64_t granule = UINT64_C(1) << s->granule_bits;
	bool is_next = s->waiting && s->waiting_for == base;
	size_t i = 0;

	if (is_next)
		i++;
	if (end_waiting(s, is_next, is_next ? s->words[0] : 0) < 0)
		return -ENOMEM;
	for (; i < cells; i++) {
		struct livemap_block b = block_of(s->words[i]);
		bool is_large = b.size == LARGE;
		struct ledger_sum *sum;

		if (b.site == 0)
			continue;
		b.size_known = !is_large || i + 1 < cells;
		if (is_large)
			b.size = b.size_known ? s->words[i + 1] : 0;
		if (count_block(s, &b, &sum) < 0)
			return -ENOMEM;
		if (is_large && ++i == cells) {
			s->waiting = sum;
			s->waiting_block = b;
			s->waiting_for = base + cells * granule;
		}
	}
	return 0;
}

static int
read_leaf(struct scan *s, uint64_t leaf, uint64_t base)
{
	size_t pages =
	    (sizeof(uint64_t) << (LEAF_BITS - s->granule_bits)) / PAGE;
	uint64_t step = (uint64_t)CELLS << s->granule_bits; /* of a page */
	int err = 0;

	for (size_t i = 0; i < pages && err == 0; i += PIECE) {
		size_t n = pages - i < PIECE ? pages - i : PIECE;

		err = read_pages(s, leaf + i * PAGE, n);
		if (err == 0)
			err = count_cells(s, base + i * step, n * CELLS);
	}
	return err;
}

static int
read_mid(struct scan *s, uint64_t mid, uint64_t base)
{
	uint64_t leaves[CELLS];
	int err;

	for (size_t i = 0; i < (1u << MID_BITS); i += CELLS) {
		err = read_pages(s, mid + i * sizeof(uint64_t), 1);
		if (err < 0)
			return err;
		memcpy(leaves, s->words, sizeof(leaves));
		for (size_t k = 0; k < CELLS; k++) {
			if (!leaves[k])
				continue;
			if (clock_ns(CLOCK_MONOTONIC) > s->until_ns) {
				s->map->is_partial = true;
				return 0;
			}
			err = read_leaf(
			    s, leaves[k], base + ((i + k) << LEAF_BITS));
			if (err < 0)
				return err;
		}
	}
	return 0;
}

static int
read_spill_level(struct scan *s, uint64_t level, uint64_t bits)
{
	/* the slots begin behind one word; a slot never straddles a read */
	uint64_t at = level + sizeof(uint64_t);
	uint64_t slots = UINT64_C(1) << bits, n;

	for (uint64_t i = 0; i < slots; i += n) {
		int err;

		n = slots - i < CELLS ? slots - i : CELLS;
		if (clock_ns(CLOCK_MONOTONIC) > s->until_ns) {
			s->map->is_partial = true;
			return 0;
		}
		err = read_memory(s, at + i * SPILL_WORDS * sizeof(uint64_t),
		    s->words, n * SPILL_WORDS * sizeof(uint64_t));
		for (uint64_t k = 0; k < n && err == 0; k++) {
			const uint64_t *slot = s->words + k * SPILL_WORDS;
			struct livemap_block b = block_of(slot[1]);
			struct ledger_sum *sum;

			b.size = slot[2];
			if (slot[0] > 1) /* 0: never used, 1: free again */
				err = count_block(s, &b, &sum);
		}
		if (err < 0)
			return err;
	}
	return 0;
}

static int
read_spilled(struct scan *s, uint64_t root)
{
	uint64_t levels[SPILL_LEVELS], bits;
	int err =
	    root ? read_memory(s, root, levels, sizeof(levels)) : -ENOTSUP;

	for (unsigned i = 0; err == 0 && i < SPILL_LEVELS && levels[i]; i++) {
		err = read_memory(s, levels[i], &bits, sizeof(bits));
		if (err == 0 && bits != SPILL_FIRST_BITS + 2 * i)
			err = -ENOTSUP;
		if (err == 0)
			err = read_spill_level(s, levels[i], bits);
	}
	return err;
}

static int
read_root(struct scan *s, uint64_t root)
{
	uint64_t mids[1 << ROOT_BITS];
	int err = read_memory(s, root, mids, sizeof(mids));

	for (uint64_t i = 0; err == 0 && i < (1u << ROOT_BITS); i++)
		if (mids[i])
			err = read_mid(s, mids[i], i << (MID_BITS + LEAF_BITS));
	if (err == 0)
		err = end_waiting(s, false, 0);
	return err;
}

static bool
is_known(const struct seg_header *h)
{
	return h->live_root != 0 && h->live_cell_version == 1 &&
	    h->live_root_bits == ROOT_BITS && h->live_mid_bits == MID_BITS &&
	    h->live_leaf_bits == LEAF_BITS &&
	    (h->live_granule_bits == 4 || h->live_granule_bits == 5);
}

int
livemap_read(struct livemap *m, pid_t pid, const struct seg_header *h,
    uint64_t budget_ns)
{
	struct scan *s;
	char path[64];
	int err;

	*m = (struct livemap){
	    .each = m->each, .arg = m->arg, .bytes_known = true};
	if (!is_known(h))
		return -ENOTSUP;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->map = m;
	s->pid = pid;
	s->granule_bits = h->live_granule_bits;
	s->first_id = h->first_id;
	s->until_ns = clock_ns(CLOCK_MONOTONIC) + budget_ns;
	(void)snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	s->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	err = s->pagemap < 0 ? -errno : read_root(s, h->live_root);
	if (err == 0)
		err = read_spilled(s, h->spill_root);
	if (s->pagemap >= 0)
		(void)close(s->pagemap);
	free(s);
	ledger_sort(&m->counts);
	return err;
}

void
livemap_release(struct livemap *m)
{
	ledger_release(&m->counts);
}
