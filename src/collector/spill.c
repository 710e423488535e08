/* spill.c - blocks that have no cell of their own: tiny or far away. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/spill.h"

#include "base/attr.h"
#include "base/hash.h"
#include "collector/segment.h"

enum { PROBES = 32, FREE_AGAIN = 1 };

static const struct levels_shape shape = {
    SPILL_LEVELS, 9, 2, sizeof(struct spill_level), sizeof(struct spill_slot)};

struct level *spill_levels[SPILL_LEVELS];
uint64_t live_spilled;

static struct spill_slot *
slot_at(struct spill_level *l, uint64_t address, int n)
{
	uint64_t i = hash_word(address >> 3) >> (64 - l->head.bits);

	return &l->slots[(i + (uint64_t)n) &
	    ((UINT64_C(1) << l->head.bits) - 1)];
}

static struct spill_slot *
find(uint64_t address)
{
	int i, n;

	for (i = 0; i < SPILL_LEVELS; i++) {
		struct spill_level *l =
		    (struct spill_level *)LOAD_ACQUIRE(&spill_levels[i]);

		if (!l)
			return NULL;
		for (n = 0; n < PROBES; n++) {
			struct spill_slot *s = slot_at(l, address, n);
			uint64_t a = LOAD_ACQUIRE(&s->address);

			if (a == address)
				return s;
			if (!a)
				break;
		}
	}
	return NULL;
}

static struct live_block
content(const struct spill_slot *s)
{
	return (struct live_block){.site = (uint32_t)(s->cell >> 38),
	    .birth = (uint32_t)s->cell,
	    .size = s->size};
}

static void
fill(struct spill_slot *s, uint32_t site, uint64_t size, uint32_t birth)
{
	s->size = size;
	s->cell = (uint64_t)site << 38 | (uint64_t)LIVE_LARGE << 32 | birth;
}

bool
spill_put(uint64_t address, uint32_t site, uint64_t size, uint32_t birth,
    struct live_block *ret_old)
{
	struct spill_slot *s = LOAD(&live_spilled) ? find(address) : NULL;
	int i, n;

	ret_old->site = 0;
	if (s) {
		*ret_old = content(s);
		fill(s, site, size, birth);
		return true;
	}
	for (i = 0; i < SPILL_LEVELS; i++) {
		struct spill_level *l = (struct spill_level *)levels_open(
		    spill_levels, &shape, (uint32_t)i);

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

struct live_block
spill_take(uint64_t address)
{
	struct live_block b = {0};
	struct spill_slot *s = find(address);

	if (!s)
		return b;
	b = content(s);
	STORE_RELEASE(&s->address, FREE_AGAIN);
	ADD(&live_spilled, (uint64_t)-1);
	return b;
}
