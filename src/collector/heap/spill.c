/* spill.c - blocks that have no cell of their own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/spill.h"

#include "base/attr.h"
#include "base/hash.h"
#include "collector/segment/segment.h"

enum { PROBES = 32, FREE_AGAIN = 1 };

static const struct levels_shape shape = {CELL_SPILL_LEVELS, CELL_SPILL_FIRST_BITS,
    CELL_SPILL_GROW_BITS, sizeof(struct spill_level), sizeof(struct cell_spilled)};

struct level *spill_levels[CELL_SPILL_LEVELS];
uint64_t live_spilled;

static struct cell_spilled *slot_at(struct spill_level *l, uint64_t address, int n)
{
	return &l->slots[levels_place(&l->head, hash_word(address >> 3), (uint32_t)n)];
}

static struct cell_spilled *find(uint64_t address)
{
	int i, n;

	for (i = 0; i < CELL_SPILL_LEVELS; i++) {
		struct spill_level *l = (struct spill_level *)LOAD_ACQUIRE(&spill_levels[i]);

		if (!l)
			return NULL;
		for (n = 0; n < PROBES; n++) {
			struct cell_spilled *s = slot_at(l, address, n);
			uint64_t a = LOAD_ACQUIRE(&s->address);

			if (a == address)
				return s;
			if (!a)
				break;
		}
	}
	return NULL;
}

static struct live_block content(const struct cell_spilled *s)
{
	return (struct live_block){
	    .site = cell_site(s->cell), .birth = cell_birth(s->cell), .size = s->size};
}

static void fill(struct cell_spilled *s, uint32_t site, uint64_t size, uint32_t birth)
{
	s->size = size;
	s->cell = cell_make(0, site, CELL_LARGE, birth);
}

bool spill_put(
    uint64_t address, uint32_t site, uint64_t size, uint32_t birth, struct live_block *ret_old)
{
	struct cell_spilled *s = LOAD(&live_spilled) ? find(address) : NULL;
	int i, n;

	ret_old->site = 0;
	if (s) {
		*ret_old = content(s);
		fill(s, site, size, birth);
		return true;
	}
	for (i = 0; i < CELL_SPILL_LEVELS; i++) {
		struct spill_level *l =
		    (struct spill_level *)levels_open(spill_levels, &shape, (uint32_t)i);

		for (n = 0; l && n < PROBES; n++) {
			uint64_t a;

			s = slot_at(l, address, n);
			a = LOAD(&s->address);
			if (a > FREE_AGAIN || !CAS(&s->address, &a, address))
				continue;
			fill(s, site, size, birth);
			ADD(&live_spilled, 1);
			return true;
		}
	}
	segment_count(SEG_SPILL_FULL, 1);
	return false;
}

uint64_t spill_peek(uint64_t address)
{
	const struct cell_spilled *s = address > FREE_AGAIN ? find(address) : NULL;

	return s ? LOAD(&s->cell) : 0;
}

struct live_block spill_take(uint64_t address)
{
	struct live_block b = {0};
	struct cell_spilled *s = find(address);

	if (!s)
		return b;
	b = content(s);
	STORE_RELEASE(&s->address, FREE_AGAIN);
	ADD(&live_spilled, (uint64_t)-1);
	return b;
}
