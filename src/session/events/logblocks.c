/* logblocks.c - blocks of an event log that live, found by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/logblocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
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
