/* looks.c - several looks at a running process: what is lost in all of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/look.h"

#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

struct candidate {
	struct heap_block block;
	uint8_t role; /* enum heap_role, in the last look */
	uint8_t weak; /* enum heap_weak, the last that was seen */
	uint8_t lost; /* so many looks in a row, the last one included */
	bool was_lost;
};

/* Figures by site. */
struct sites {
	struct looks_site *at;
	size_t count, room;
	struct dict find;
};

struct looks {
	uint32_t first_tick;
	int count;
	int quiet; /* looks in a row that found no candidate held again */
	/* sorted by address */
	struct candidate *at;
	size_t candidates;
	struct sites dropped; /* what became of other candidates */
};

int looks_new(uint32_t first_tick, struct looks **ret)
{
	struct looks *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->first_tick = first_tick;
	*ret = l;
	return 0;
}

void looks_free(struct looks *l)
{
	if (!l)
		return;
	free(l->at);
	free(l->dropped.at);
	dict_release(&l->dropped.find);
	free(l);
}

int looks_count(const struct looks *l)
{
	return l->count;
}

bool looks_are_enough(const struct looks *l)
{
	return l->count >= LOOKS_MIN && l->quiet >= 2;
}

static bool is_site(const void *items, uint32_t item, const void *key)
{
	const struct looks_site *list = items;
	const uint32_t *site = key;

	return list[item].site == *site;
}

/* The entry of a site, which is made if there is none. NULL: no memory. */
static struct looks_site *site_in(struct sites *s, uint32_t site)
{
	uint32_t fresh = (uint32_t)s->count, i;

	if (room_make(&s->at, &s->room, s->count, sizeof(*s->at)) < 0 ||
	    dict_find(&s->find, dict_hash(site, 0, 0), is_site, s->at, &site, fresh, &i) < 0)
		return NULL;
	if (i == fresh) {
		s->at[s->count++] = (struct looks_site){
		    .site = site, .first_birth = UINT32_MAX, .possible_first_birth = UINT32_MAX};
	}
	return &s->at[i];
}

static bool is_same(const struct heap_block *a, const struct heap_block *b)
{
	return a->address == b->address && a->site == b->site && a->birth == b->birth &&
	    a->size == b->size;
}

/* How the block is held now. */
static void update(struct candidate *c, const struct heap *h, size_t i)
{
	if (heap_reach(h, i) == HEAP_LOST) {
		c->role = (uint8_t)heap_role(h, i);
		c->was_lost = true;
		if (c->lost < UINT8_MAX)
			c->lost++;
	} else {
		c->weak = (uint8_t)heap_weak(h, i);
		c->lost = 0;
	}
}

/* Of the first look all that is not certainly held is a candidate. */
static int first_look(struct looks *l, const struct heap *h)
{
	const struct heap_block *blocks = heap_blocks(h);
	size_t i, n = 0;

	for (i = 0; i < heap_count(h); i++)
		n += heap_reach(h, i) != HEAP_HELD;
	l->at = calloc(n ? n : 1, sizeof(*l->at));
	if (!l->at)
		return -ENOMEM;
	for (i = 0; i < heap_count(h); i++) {
		struct candidate *c = &l->at[l->candidates];

		/* a birth after the first look's begin may still be on its way */
		if (heap_reach(h, i) == HEAP_HELD || blocks[i].birth >= l->first_tick)
			continue;
		c->block = blocks[i];
		update(c, h, i);
		l->candidates++;
	}
	return 0;
}

/* A candidate is one no longer: `freed`, or held again. -ENOMEM. */
static int drop(struct looks *l, const struct candidate *c, bool freed)
{
	struct looks_site *s;

	if (!c->was_lost)
		return 0;
	if (freed && c->lost < 2)
		return 0; /* it seemed lost once, perhaps on its way */
	s = site_in(&l->dropped, c->block.site);
	if (!s)
		return -ENOMEM;
	if (freed)
		s->freed_late++;
	else
		s->held_again++;
	return 0;
}

static int next_look(struct looks *l, const struct heap *h)
{
	const struct heap_block *blocks = heap_blocks(h);
	size_t count = heap_count(h), i, k = 0, kept = 0;
	bool quiet = true;
	int err = 0;

	for (i = 0; i < l->candidates && err == 0; i++) {
		struct candidate c = l->at[i];
		bool seemed_lost = c.lost > 0;

		while (k < count && blocks[k].address < c.block.address)
			k++;
		if (k == count || !is_same(&blocks[k], &c.block)) {
			err = drop(l, &c, true);
		} else if (heap_reach(h, k) == HEAP_HELD) {
			quiet &= !seemed_lost;
			err = drop(l, &c, false);
		} else {
			update(&c, h, k);
			quiet &= !seemed_lost || c.lost > 0;
			l->at[kept++] = c;
		}
	}
	l->candidates = kept;
	l->quiet = quiet ? l->quiet + 1 : 0;
	return err;
}

int looks_add(struct looks *l, const struct heap *h)
{
	int err = l->count ? next_look(l, h) : first_look(l, h);

	l->count++;
	return err;
}

static bool is_lost(const struct looks *l, const struct candidate *c)
{
	return c->lost >= l->count || c->lost >= LOOKS_MIN;
}

int looks_each_lost(const struct looks *l,
    int (*visit)(const struct heap_block *b, enum heap_role role, void *context), void *context)
{
	int err = 0;

	for (size_t i = 0; i < l->candidates && err == 0; i++)
		if (is_lost(l, &l->at[i]))
			err = visit(&l->at[i].block, (enum heap_role)l->at[i].role, context);
	return err;
}

bool looks_is_lost(const struct looks *l, const struct heap_block *b)
{
	size_t lo = sorted_first(l->at, l->candidates, x, x->block.address < b->address);

	return lo < l->candidates && is_same(&l->at[lo].block, b) && is_lost(l, &l->at[lo]);
}

static void add_birth(uint32_t *first, uint32_t *last, uint32_t birth)
{
	if (*first > birth)
		*first = birth;
	if (*last < birth)
		*last = birth;
}

static void add_possible(struct looks_site *s, const struct candidate *c)
{
	s->possible_blocks++;
	s->possible_bytes += c->block.size;
	add_birth(&s->possible_first_birth, &s->possible_last_birth, c->block.birth);
	s->weak |= UINT32_C(1) << c->weak;
}

static void add_lost(struct looks_site *s, const struct candidate *c)
{
	uint64_t size = c->block.size;

	s->blocks++;
	s->bytes += size;
	add_birth(&s->first_birth, &s->last_birth, c->block.birth);
	switch (c->role) {
	case HEAP_DIRECT:
		s->direct++;
		s->direct_bytes += size;
		break;
	case HEAP_CYCLE:
		s->cycle++;
		s->cycle_bytes += size;
		break;
	default:
		s->indirect++;
		s->indirect_bytes += size;
	}
}

static void add_dropped(struct looks_site *s, const struct looks_site *d)
{
	uint64_t all = s->blocks + d->held_again + d->freed_late;

	s->held_again = d->held_again;
	s->freed_late = d->freed_late;
	s->moves = d->held_again * 100 > all * LOOKS_MOVES_PERCENT;
	s->hides = d->freed_late > 0;
}

BY(by_site, struct looks_site, UP(site))

static int sum_up(const struct looks *l, struct sites *list)
{
	struct looks_site *s;
	size_t i;

	for (i = 0; i < l->candidates; i++) {
		s = site_in(list, l->at[i].block.site);
		if (!s)
			return -ENOMEM;
		if (is_lost(l, &l->at[i]))
			add_lost(s, &l->at[i]);
		else
			add_possible(s, &l->at[i]);
	}
	for (i = 0; i < l->dropped.count; i++) {
		s = site_in(list, l->dropped.at[i].site);
		if (!s)
			return -ENOMEM;
		add_dropped(s, &l->dropped.at[i]);
	}
	return 0;
}

int looks_sites(const struct looks *l, struct looks_site **ret, size_t *ret_count)
{
	struct sites list = {0};
	int err = sum_up(l, &list);

	dict_release(&list.find);
	if (err < 0) {
		free(list.at);
		return err;
	}
	if (list.count)
		qsort(list.at, list.count, sizeof(*list.at), by_site);
	*ret = list.at;
	*ret_count = list.count;
	return 0;
}
