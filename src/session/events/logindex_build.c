/* logindex_build.c - makes the index of an entry of an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/logread.h"

#include "session/events/logblocks.h"
#include "kit/data/capped.h"
#include "kit/data/sorted.h"

enum { SMALLER = 4 }; /* an index has so many times fewer items than words */

/* logblocks_block.thread: what the entry did to the block. */
enum { BORN, MOVED, GONE };

struct build {
	struct logindex_head head;
	struct logblocks blocks;
	struct logsites sites;
	size_t counts[GONE + 1];
	bool is_strange; /* a block is allocated twice */
};

static int count_alloc(struct build *b, uint32_t site, uint64_t size)
{
	struct logindex_site *row = logsites_row(&b->sites, site);

	if (!row)
		return -ENOMEM;
	logsites_alloc(row, size);
	b->head.allocations++;
	return 0;
}

static int count_free(struct build *b, const struct logblocks_block *old)
{
	struct logindex_site *row = logsites_row(&b->sites, old->site);

	if (!row)
		return -ENOMEM;
	logsites_free(row, old->size);
	return 0;
}

static int put(struct build *b, const struct events_event *e, int state, uint64_t born)
{
	const struct logblocks_block one = {.name = e->name,
	    .site = e->site,
	    .size = e->size,
	    .born = born,
	    .thread = (uint32_t)state};

	b->counts[state]++;
	return logblocks_put(&b->blocks, &one);
}

static int see_alloc(struct build *b, const struct events_event *e)
{
	int err = count_alloc(b, e->site, e->size);

	if (logblocks_find(&b->blocks, e->name)) {
		b->is_strange = true;
		return err;
	}
	return err < 0 ? err : put(b, e, BORN, e->tick);
}

/* A free, or the first half of a realloc. *ret_state: what the block was. */
static int see_free(
    struct build *b, const struct events_event *e, struct logblocks_block *old, int *ret_state)
{
	bool found = logblocks_take(&b->blocks, e->name, old);

	b->head.frees++;
	*ret_state = -1; /* of an entry before this one */
	if (!found)
		return 0;
	b->counts[old->thread]--;
	*ret_state = (int)old->thread;
	if (*ret_state != GONE)
		return count_free(b, old);
	b->is_strange = true; /* freed twice */
	return 0;
}

static int see(void *context, struct events_event *e)
{
	struct build *b = context;
	struct logblocks_block old;
	int state, err = 0;

	if (e->name == 0 && (e->kind == EVENTS_FREE || e->kind == EVENTS_REALLOC)) {
		b->is_strange = true;
		return 0;
	}
	switch (e->kind) {
	case EVENTS_ALLOC:
		return see_alloc(b, e);
	case EVENTS_FREE:
		err = see_free(b, e, &old, &state);
		if (err == 0 && state != BORN)
			err = put(b, e, GONE, 0);
		return err;
	case EVENTS_REALLOC:
		err = see_free(b, e, &old, &state);
		if (err == 0)
			err = count_alloc(b, e->site, e->size);
		if (err == 0 && state == BORN)
			return put(b, e, BORN, old.born);
		return err < 0 ? err : put(b, e, MOVED, state == MOVED ? old.born : e->tick);
	case EVENTS_INHERITED:
		b->head.inherited++;
		break;
	case EVENTS_UNLOGGED:
		b->head.unlogged++;
		break;
	case EVENTS_GAP:
		b->head.lost = capped_sum(b->head.lost, e->count);
		break;
	}
	return 0;
}

BY(by_name, struct logindex_block, UP(name))

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

BY(by_site, struct logindex_site, UP(site))

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count > 1)
		qsort(items, count, size, compare);
}

/* Sorted, because that packs better and is the same in each run. */
static int write_index(struct build *b, unsigned char **ret_bytes, size_t *ret_len)
{
	size_t sites = b->sites.count, living = b->counts[BORN], moved = b->counts[MOVED],
	       gone = b->counts[GONE], at = 0;
	size_t len = sites * sizeof(struct logindex_site) +
	    (living + moved) * sizeof(struct logindex_block) + gone * sizeof(uint32_t);
	unsigned char *bytes = calloc(len + 1, 1);
	struct logindex_site *site = (void *)bytes;
	struct logindex_block *to[] = {[BORN] = NULL, [MOVED] = NULL};
	const struct logindex_site *row;
	const struct logblocks_block *one;
	uint32_t *name;
	size_t used[GONE + 1] = {0};

	if (!bytes)
		return -ENOMEM;
	to[BORN] = (void *)(site + sites);
	to[MOVED] = to[BORN] + living;
	name = (void *)(to[MOVED] + moved);
	for (size_t i = 0; (row = logsites_next(&b->sites, &at)); i++) {
		site[i] = *row;
		site[i].reserved = 0;
	}
	at = 0;
	while ((one = logblocks_next(&b->blocks, &at))) {
		size_t n = used[one->thread]++;

		if (one->thread == GONE)
			name[n] = one->name;
		else
			to[one->thread][n] = (struct logindex_block){.name = one->name,
			    .site = one->site,
			    .size = one->size,
			    .tick = one->born};
	}
	sort(site, sites, sizeof(*site), by_site);
	sort(to[BORN], living, sizeof(*to[BORN]), by_name);
	sort(to[MOVED], moved, sizeof(*to[MOVED]), by_name);
	sort(name, gone, sizeof(*name), by_number);
	b->head.sites = (uint32_t)sites;
	b->head.born = (uint32_t)living;
	b->head.moved = (uint32_t)moved;
	b->head.gone = (uint32_t)gone;
	*ret_bytes = bytes;
	*ret_len = len;
	return 1;
}

int logindex_build(
    const struct logcode *c, struct logindex_head *ret, unsigned char **ret_bytes, size_t *ret_len)
{
	struct build b = {.head = {.version = LOGINDEX_VERSION, .log = c->head}};
	int err;

	err = logwords_read(c, see, &b, &b.head.strange);
	if (err == 0 && !b.is_strange && b.sites.count + b.blocks.count <= c->head.words / SMALLER)
		err = write_index(&b, ret_bytes, ret_len);
	if (err > 0)
		*ret = b.head;
	logblocks_release(&b.blocks);
	logsites_release(&b.sites);
	return err;
}
