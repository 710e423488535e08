/* levels.c - hash tables that grow by levels: how a level is made and shown. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/levels.h"

#include "base/attr.h"
#include "collector/segment/mem.h"

struct level *levels_open(struct level **levels, const struct levels_shape *s, uint32_t i)
{
	struct level *l, *none = NULL;

	if (i >= s->count)
		return NULL;
	l = LOAD_ACQUIRE(&levels[i]);
	if (l)
		return l;
	l = mem_alloc(s->head_bytes + (s->slot_bytes << (s->first_bits + s->grow_bits * i)));
	if (!l)
		return NULL;
	l->bits = s->first_bits + s->grow_bits * i;
	return CAS(&levels[i], &none, l) ? l : none;
}

bool levels_grow(
    struct level **levels, uint32_t *newest, const struct levels_shape *s, uint32_t from)
{
	if (!levels_open(levels, s, from + 1))
		return false;
	/* the thread that made it may not have come to this line yet */
	CAS(newest, &from, from + 1);
	return true;
}
