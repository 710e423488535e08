/* logsites.c - counts of events by site, found by the site's id. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/logsites.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kit/data/capped.h"
#include "kit/data/dict.h"

enum { FIRST_BITS = 8 };

static struct logindex_site *place_of(const struct logsites *s, uint32_t site)
{
	size_t mask = ((size_t)1 << s->bits) - 1;
	size_t i = (size_t)(hash_mix(s->seed, site) >> (64 - s->bits));

	while (s->at[i].reserved && s->at[i].site != site)
		i = (i + 1) & mask;
	return &s->at[i];
}

static bool grow(struct logsites *s)
{
	struct logindex_site *old = s->at;
	size_t count = old ? (size_t)1 << s->bits : 0;
	unsigned bits = old ? s->bits + 1 : FIRST_BITS;
	struct logindex_site *more = calloc((size_t)1 << bits, sizeof(*more));

	if (!more)
		return false;
	if (!old)
		s->seed = dict_hash(1, 0, 0);
	s->at = more;
	s->bits = bits;
	for (size_t i = 0; i < count; i++)
		if (old[i].reserved)
			*place_of(s, old[i].site) = old[i];
	free(old);
	return true;
}

struct logindex_site *logsites_row(struct logsites *s, uint32_t site)
{
	struct logindex_site *at;

	if ((!s->at || s->count >= ((size_t)1 << s->bits) / 4 * 3) && !grow(s))
		return NULL;
	if (!s->at)
		return NULL; /* grow() has made it; for the analyzer */
	at = place_of(s, site);
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
