/* ignored.c - blocks that the host keeps on purpose: seep_ignore(). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/resizing.h"

#include <stdbool.h>

#include "base/hash.h"
#include "collector/heap/blocks.h"
#include "collector/segment/segment.h"

enum { PROBES = 16 };

struct ignored_level {
	struct level head;
	struct ignored_entry entries[];
};

_Static_assert(sizeof(struct level) == IGNORED_HEAD_BYTES, "a level's head");

static const struct levels_shape shape = {IGNORED_LEVELS, IGNORED_FIRST_BITS, IGNORED_GROW_BITS,
    sizeof(struct ignored_level), sizeof(struct ignored_entry)};

struct level *ignored_levels[IGNORED_LEVELS];

static struct ignored_entry *entry_at(struct ignored_level *l, uint64_t address, int n)
{
	return &l->entries[levels_place(&l->head, hash_word(address >> 3), (uint32_t)n)];
}

/* Is the entry free for another block, because its own has been freed since? */
static bool is_over(const struct ignored_entry *e, uint64_t address)
{
	uint64_t cell = LOAD(&e->cell);

	return cell && blocks_peek(address) != cell;
}

/* Takes an entry that is free, outdated, or already that of this address. */
static bool claim(struct ignored_entry *e, uint64_t address)
{
	uint64_t was = LOAD_ACQUIRE(&e->address);

	if (was && was != address && !is_over(e, was))
		return false;
	if (!CAS(&e->address, &was, address))
		return false;
	STORE(&e->cell, 0); /* that of an earlier block holds no more */
	return true;
}

void ignored_add(uint64_t address)
{
	const uint64_t cell = blocks_peek(address);
	uint32_t i;
	int n;

	if (!cell) {
		segment_count(SEG_IGNORED_UNKNOWN, 1);
		return;
	}
	for (i = 0; i < IGNORED_LEVELS; i++) {
		struct ignored_level *l =
		    (struct ignored_level *)levels_open(ignored_levels, &shape, i);

		for (n = 0; l && n < PROBES; n++) {
			struct ignored_entry *e = entry_at(l, address, n);

			if (!claim(e, address))
				continue;
			STORE_RELEASE(&e->cell, cell);
			return;
		}
	}
	segment_count(SEG_LOST_IGNORED, 1);
}
