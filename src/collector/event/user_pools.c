/* user_pools.c - what the host calls a resource: pools, handles, descriptors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/user_pools.h"

#include <string.h>

#include "base/attr.h"
#include "base/hash.h"
#include "collector/heap/ledger.h"
#include "collector/segment/levels.h"
#include "collector/snapshot/mark.h"
#include "collector/segment/mem.h"
#include "collector/segment/tick.h"

enum {
	LEVELS = 7, /* the last has 2^20 slots */
	PROBES = 16,
	NAME_SLOT_BITS = 12, /* twice as many as pools */
	NAMES_BYTES = sizeof(uint64_t) << NAME_SLOT_BITS,
	NAME_NUMBER_BITS = 12,
	OTHER_POOLS = 1, /* number of "(other pools)" */
};

_Static_assert(USER_POOLS_MAX * 2 <= 1 << NAME_SLOT_BITS, "half empty");
_Static_assert(USER_POOLS_MAX < 1 << NAME_NUMBER_BITS, "pool numbers");

/* slot.key; other values are made by key_of() */
enum { NEVER_USED = 0, FREE_AGAIN = 1, CLAIMED = 2, KEYS_FROM = 3 };

struct slot {
	uint64_t key;  /* written last */
	uint64_t pool; /* hash of its name */
	uint64_t size;
	uint32_t site, birth;
};

struct user_pools_level {
	struct level head;
	uint64_t live;
	struct slot slots[];
};

enum { POOLS, ROWS };
struct segment_table user_pools_tables[2];

static const struct levels_shape shape = {
    LEVELS, 8, 2, sizeof(struct user_pools_level), sizeof(struct slot)};
static struct level *levels[LEVELS];
static uint64_t *names; /* hash | number of a pool; NULL: there is none yet */
static uint32_t pool_count;
static uint64_t passed_by;

bool user_pools_init(uint32_t first_id)
{
	if (names)
		memset(names, 0, NAMES_BYTES);
	pool_count = OTHER_POOLS;
	return segment_table_init(&user_pools_tables[POOLS], SEG_EXT_POOL, 0,
	           sizeof(struct seg_pool), 0, USER_POOLS_MAX) &&
	    segment_table_init(&user_pools_tables[ROWS], SEG_EXT_LEDGER, SEG_USER_ARRAY,
	        sizeof(struct seg_row), first_id, SITES_MAX);
}

/* ---- pools --------------------------------------------------------------- */

static uint64_t hash_name(const char *name)
{
	uint64_t h = HASH_GOLDEN;
	uint32_t i;

	for (i = 0; name && i < SEG_POOL_BYTES - 1 && name[i]; i++)
		h = hash_mix(h, (uint8_t)name[i]);
	return hash_finish(h);
}

static struct seg_pool *pool_row(uint32_t number)
{
	return segment_table_row(&user_pools_tables[POOLS], number);
}

static bool write_pool(uint32_t number, const char *name)
{
	struct seg_pool *row = pool_row(number);
	char text[SEG_POOL_BYTES];
	size_t n = mark_copy_label(text, sizeof(text), name);

	if (!row)
		return false;
	memcpy(row->name, text, sizeof(text));
	row->first_tick = tick_now();
	STORE_RELEASE(&row->name_bytes, (uint32_t)n);
	return true;
}

/* The pool that stands for all pools beyond the last number. */
static uint32_t other_pools(void)
{
	segment_count(SEG_USER_POOLS, 1);
	if (write_pool(OTHER_POOLS, "(other pools)"))
		return OTHER_POOLS;
	return 0;
}

/*
 * The number of a pool. Pools are told apart by 52 bits of their hashes alone.
 * If two threads name one pool at once, one of the two numbers stays unused.
 */
static uint32_t pool_number(uint64_t hash, const char *name)
{
	const uint64_t mask = (1u << NAME_NUMBER_BITS) - 1;
	uint64_t mine = 0, *slots = mem_publish(&names, NAMES_BYTES);
	uint32_t i, number = 0;

	for (i = 0; slots && i < 1u << NAME_SLOT_BITS; i++) {
		uint64_t *at = &slots[((hash >> 40) + i) & ((1u << NAME_SLOT_BITS) - 1)];
		uint64_t v = LOAD_ACQUIRE(at);

		if (!v) {
			if (!mine) {
				number = ADD(&pool_count, 1) + 1;
				if (number >= USER_POOLS_MAX) {
					ADD(&pool_count, (uint32_t)-1);
					return other_pools();
				}
				if (!write_pool(number, name))
					return 0;
				mine = (hash & ~mask) | number;
			}
			if (CAS(at, &v, mine))
				return number;
		}
		if ((v & ~mask) == (hash & ~mask))
			return (uint32_t)(v & mask);
	}
	return other_pools();
}

/* ---- the hash ------------------------------------------------------------ */

static struct user_pools_level *level_at(int i)
{
	return (struct user_pools_level *)LOAD_ACQUIRE(&levels[i]);
}

/*
 * One number for a handle of a pool. Within a pool different handles have
 * different keys, because mixing loses nothing. So (key, pool) is as good as
 * (handle, pool), and the key shows if a slot has been reused for another
 * handle.
 */
static uint64_t key_of(uint64_t pool, const void *handle)
{
	uint64_t key = hash_mix(pool, (uint64_t)(uintptr_t)handle);

	return key < KEYS_FROM ? key + KEYS_FROM : key;
}

static struct slot *slot_at(struct user_pools_level *l, uint64_t key, int n)
{
	return &l->slots[levels_place(&l->head, key, (uint32_t)n)];
}

/* Takes what is in the slot, if the slot still has this key. */
static bool take_slot(struct user_pools_level *l, struct slot *s, uint64_t key, struct slot *ret)
{
	if (!CAS(&s->key, &key, CLAIMED))
		return false;
	ret->size = s->size;
	ret->site = s->site;
	ret->birth = s->birth;
	STORE_RELEASE(&s->key, FREE_AGAIN);
	ADD(&l->live, (uint64_t)-1);
	return true;
}

static bool take(uint64_t pool, const void *handle, struct slot *ret)
{
	uint64_t key = key_of(pool, handle);
	int i, n;

	for (i = 0; i < LEVELS; i++) {
		struct user_pools_level *l = level_at(i);

		if (!l)
			return false;
		if (!LOAD(&l->live))
			continue;
		for (n = 0; n < PROBES; n++) {
			struct slot *s = slot_at(l, key, n);
			uint64_t k = LOAD_ACQUIRE(&s->key);

			if (k == NEVER_USED)
				break;
			if (k == key && LOAD(&s->pool) == pool)
				return take_slot(l, s, key, ret);
		}
	}
	return false;
}

static bool put(uint64_t pool, const void *handle, uint64_t size, uint32_t site, uint32_t birth)
{
	uint64_t key = key_of(pool, handle);
	int i, n;

	for (i = 0; i < LEVELS; i++) {
		struct user_pools_level *l =
		    (struct user_pools_level *)levels_open(levels, &shape, (uint32_t)i);

		for (n = 0; l && n < PROBES; n++) {
			struct slot *s = slot_at(l, key, n);
			uint64_t k = LOAD(&s->key);

			if (k > FREE_AGAIN || !CAS(&s->key, &k, CLAIMED))
				continue;
			STORE(&s->pool, pool);
			s->size = size;
			s->site = site;
			s->birth = birth;
			/*
			 * counted before it can be found, so that live is never
			 * too low
			 */
			ADD(&l->live, 1);
			STORE_RELEASE(&s->key, key);
			return true;
		}
	}
	return false;
}

/* ---- events -------------------------------------------------------------- */

static void book_free(const struct slot *s, bool is_death)
{
	uint32_t age = tick_now() - s->birth;
	struct seg_row *row;

	if (ledger_is_inherited(s->site)) {
		segment_count(SEG_USER_INHERITED, 1);
		return;
	}
	row = ledger_row_in(&user_pools_tables[ROWS], s->site);
	if (!row) {
		segment_count(SEG_USER_LOST, 1); /* impossible: it has one */
		return;
	}
	ledger_row_sub(row, s->size);
	if (is_death && age)
		ledger_age(NULL, s->site, age);
}

static void lost(void)
{
	segment_count(SEG_USER_LOST, 1);
	ADD(&passed_by, 1);
}

void user_pools_passed_by(void)
{
	segment_count(SEG_USER_OFF, 1);
	ADD(&passed_by, 1);
}

void user_pools_alloc(
    const char *pool, const void *handle, uint64_t size, struct site_id stack, uint32_t birth)
{
	uint64_t hash = hash_name(pool);
	uint32_t number = pool_number(hash, pool);
	struct site_id site = {0};
	struct seg_row *row;
	struct slot old;

	if (number)
		site = sites_user(stack, number);
	row = site.v ? ledger_row_in(&user_pools_tables[ROWS], site.v) : NULL;
	if (!row) {
		lost();
		return;
	}
	if (take(hash, handle, &old)) {
		segment_count(SEG_USER_MISSED, 1);
		book_free(&old, true);
	}
	if (!put(hash, handle, size, site.v, birth)) {
		lost();
		return;
	}
	ledger_row_add(row, site.v, size);
}

static void unknown_free(void)
{
	uint64_t n = LOAD(&passed_by);

	while (n) {
		if (CAS(&passed_by, &n, n - 1)) {
			segment_count(SEG_USER_UNTRACKED, 1);
			return;
		}
	}
	segment_count(SEG_USER_UNKNOWN, 1);
}

uint32_t user_pools_move(const char *pool, const void *handle, uint32_t birth)
{
	struct slot s;

	if (!take(hash_name(pool), handle, &s)) {
		unknown_free();
		return birth;
	}
	book_free(&s, false);
	return s.birth;
}

void user_pools_free(const char *pool, const void *handle)
{
	struct slot s;

	if (take(hash_name(pool), handle, &s))
		book_free(&s, true);
	else
		unknown_free();
}

void user_pools_free_all(const char *pool)
{
	uint64_t hash = hash_name(pool);
	struct slot taken;
	uint64_t k;
	int i;

	for (i = 0; i < LEVELS; i++) {
		struct user_pools_level *l = level_at(i);

		if (!l)
			return;
		for (k = 0; LOAD(&l->live) && k < UINT64_C(1) << l->head.bits; k++) {
			struct slot *s = &l->slots[k];
			uint64_t key = LOAD_ACQUIRE(&s->key);

			if (key >= KEYS_FROM && LOAD(&s->pool) == hash &&
			    take_slot(l, s, key, &taken))
				book_free(&taken, true);
		}
	}
}

void user_pools_scan(bool (*fn)(uint32_t, uint64_t, uint32_t, void *), void *arg)
{
	uint64_t k;
	int i;

	for (i = 0; i < LEVELS; i++) {
		struct user_pools_level *l = level_at(i);

		for (k = 0; l && k < UINT64_C(1) << l->head.bits; k++) {
			const struct slot *s = &l->slots[k];

			if (LOAD_ACQUIRE(&s->key) >= KEYS_FROM &&
			    !fn(s->site, s->size, s->birth, arg))
				return;
		}
	}
}
