/* logblocks.c - blocks of an event log that live, found by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/logblocks.h"

#include "base/hash.h"
#include "kit/data/capped.h"
#include "kit/data/dict.h"

enum { FIRST_BITS = 10 };

static size_t slot_of(const struct logblocks *b, uint32_t name)
{
	return (size_t)(hash_mix(b->seed, name) >> (64 - b->bits));
}

/* The place of this block, or the free place where it would be. */
static struct logblocks_block *place_of(const struct logblocks *b, uint32_t name)
{
	size_t mask = ((size_t)1 << b->bits) - 1, i = slot_of(b, name);

	while (b->at[i].name != 0 && b->at[i].name != name)
		i = (i + 1) & mask;
	return &b->at[i];
}

static int grow(struct logblocks *b)
{
	struct logblocks_block *old = b->at;
	size_t count = old ? (size_t)1 << b->bits : 0;
	unsigned bits = old ? b->bits + 1 : FIRST_BITS;
	struct logblocks_block *more = calloc((size_t)1 << bits, sizeof(*more));

	if (!more)
		return -ENOMEM;
	if (!old)
		b->seed = dict_hash(0, 0, 0);
	b->at = more;
	b->bits = bits;
	for (size_t i = 0; i < count; i++)
		if (old[i].name != 0)
			*place_of(b, old[i].name) = old[i];
	free(old);
	return 0;
}

int logblocks_put(struct logblocks *b, const struct logblocks_block *one)
{
	struct logblocks_block *to;

	if ((!b->at || b->count >= ((size_t)1 << b->bits) / 4 * 3) && grow(b) < 0)
		return -ENOMEM;
	if (!b->at)
		return -ENOMEM; /* grow() has made it; for the analyzer */
	to = place_of(b, one->name);
	b->count += to->name == 0;
	*to = *one;
	return 0;
}

struct logblocks_block *logblocks_find(const struct logblocks *b, uint32_t name)
{
	struct logblocks_block *at;

	if (!b->at || name == 0)
		return NULL;
	at = place_of(b, name);
	return at->name ? at : NULL;
}

/* Those behind a block that it was in the way of move up. */
bool logblocks_take(struct logblocks *b, uint32_t name, struct logblocks_block *ret)
{
	struct logblocks_block *at = logblocks_find(b, name);
	size_t mask, hole, i;

	if (!at)
		return false;
	*ret = *at;
	mask = ((size_t)1 << b->bits) - 1;
	hole = (size_t)(at - b->at);
	for (i = (hole + 1) & mask; b->at[i].name != 0; i = (i + 1) & mask) {
		size_t home = slot_of(b, b->at[i].name);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		b->at[hole] = b->at[i];
		hole = i;
	}
	memset(&b->at[hole], 0, sizeof(b->at[hole]));
	b->count--;
	return true;
}

const struct logblocks_block *logblocks_next(const struct logblocks *b, size_t *at)
{
	size_t room = b->at ? (size_t)1 << b->bits : 0;

	while (*at < room)
		if (b->at[(*at)++].name != 0)
			return &b->at[*at - 1];
	return NULL;
}

void logblocks_release(struct logblocks *b)
{
	free(b->at);
	memset(b, 0, sizeof(*b));
}

/* ---- logsites: counts of events by site, found by the site's id ---- */

enum { LOGSITES_FIRST_BITS = 8 };

static struct logindex_site *logsites_place_of(const struct logsites *s, uint32_t site)
{
	size_t mask = ((size_t)1 << s->bits) - 1;
	size_t i = (size_t)(hash_mix(s->seed, site) >> (64 - s->bits));

	while (s->at[i].reserved && s->at[i].site != site)
		i = (i + 1) & mask;
	return &s->at[i];
}

static bool logsites_grow(struct logsites *s)
{
	struct logindex_site *old = s->at;
	size_t count = old ? (size_t)1 << s->bits : 0;
	unsigned bits = old ? s->bits + 1 : LOGSITES_FIRST_BITS;
	struct logindex_site *more = calloc((size_t)1 << bits, sizeof(*more));

	if (!more)
		return false;
	if (!old)
		s->seed = dict_hash(1, 0, 0);
	s->at = more;
	s->bits = bits;
	for (size_t i = 0; i < count; i++)
		if (old[i].reserved)
			*logsites_place_of(s, old[i].site) = old[i];
	free(old);
	return true;
}

struct logindex_site *logsites_row(struct logsites *s, uint32_t site)
{
	struct logindex_site *at;

	if ((!s->at || s->count >= ((size_t)1 << s->bits) / 4 * 3) && !logsites_grow(s))
		return NULL;
	if (!s->at)
		return NULL; /* logsites_grow() has made it; for the analyzer */
	at = logsites_place_of(s, site);
	if (!at->reserved) {
		*at = (struct logindex_site){.site = site, .reserved = 1};
		s->count++;
	}
	return at;
}

const struct logindex_site *logsites_next(const struct logsites *s, size_t *at)
{
	size_t room = s->at ? (size_t)1 << s->bits : 0;

	while (*at < room)
		if (s->at[(*at)++].reserved)
			return &s->at[*at - 1];
	return NULL;
}

void logsites_alloc(struct logindex_site *row, uint64_t bytes)
{
	row->allocations++;
	row->allocated_bytes = capped_sum(row->allocated_bytes, bytes);
}

void logsites_free(struct logindex_site *row, uint64_t bytes)
{
	row->frees++;
	row->freed_bytes = capped_sum(row->freed_bytes, bytes);
}

void logsites_add(struct logindex_site *to, const struct logindex_site *from)
{
	to->allocations = capped_sum(to->allocations, from->allocations);
	to->allocated_bytes = capped_sum(to->allocated_bytes, from->allocated_bytes);
	to->frees = capped_sum(to->frees, from->frees);
	to->freed_bytes = capped_sum(to->freed_bytes, from->freed_bytes);
}

void logsites_release(struct logsites *s)
{
	free(s->at);
	memset(s, 0, sizeof(*s));
}
