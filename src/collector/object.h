/* object.h - what the headers of a loaded object say: build-id, unwind table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_OBJECT_H
#define SEEP_COLLECTOR_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

/*
 * An object as _dl_find_object tells it: glibc's struct dl_find_object, by
 * hand, because older headers lack it. It is in use by the caller's stack, so
 * it cannot go away; everything read from it is bounded by its readable
 * segments. No state; a signal handler may call everything here.
 */
struct object {
	unsigned long long flags;
	void *map_start;
	void *map_end;
	struct link_map *link_map;
	void *eh_frame; /* .eh_frame_hdr */
	unsigned long long reserved[7];
};

struct build_id {
	uint8_t bytes[32];
	uint8_t count; /* 0: it has none */
};

/* The search table of .eh_frame_hdr, and the segment that contains it. */
struct object_table {
	const uint8_t *lo, *hi;
	const int32_t *rows; /* sorted (function, FDE) offsets */
	uint32_t count;
};

SEEP_INLINE uint64_t
object_start(const struct object *f)
{
	return (uint64_t)(uintptr_t)f->map_start;
}

SEEP_INLINE uint64_t
object_end(const struct object *f)
{
	return (uint64_t)(uintptr_t)f->map_end;
}

/* The load bias. */
SEEP_INLINE uint64_t
object_base(const struct object *f)
{
	return f->link_map ? f->link_map->l_addr : object_start(f);
}

struct build_id object_build_id(const struct object *f);

/* False: none that we can read. */
bool object_table(const struct object *f, struct object_table *ret);

#endif
