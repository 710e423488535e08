/* object.h - what the headers of a loaded object say: build-id, unwind table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OBJECT_H
#define SEEP_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

/*
 * An object as _dl_find_object describes it. This is glibc's struct
 * dl_find_object, declared here because older headers lack it. An address of
 * the object is on the caller's stack, so it cannot be unloaded. All reads are
 * within its readable segments. A signal handler may call everything here but
 * object_init().
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

SEEP_INLINE uint64_t object_start(const struct object *f)
{
	return (uint64_t)(uintptr_t)f->map_start;
}

SEEP_INLINE uint64_t object_end(const struct object *f)
{
	return (uint64_t)(uintptr_t)f->map_end;
}

/* The load bias. */
SEEP_INLINE uint64_t object_base(const struct object *f)
{
	return f->link_map ? f->link_map->l_addr : object_start(f);
}

/* Once: the executable, and where the kernel says that its headers are. */
void object_init(
    const struct link_map *executable, const void *headers, uint64_t count, uint64_t header_bytes);

/*
 * The kernel maps the segments of an executable one by one, with gaps between
 * them if the linker left gaps (older ones do at every 2 MiB). Then
 * _dl_find_object() describes only the segment that has the address, which
 * contains neither the headers nor the unwind tables. This makes it the whole
 * executable.
 */
void object_complete(struct object *f);

struct build_id object_build_id(const struct object *f);

/* Its largest segment that is readable and executable; empty if it has none. */
void object_text(const struct object *f, uint64_t *ret_start, uint64_t *ret_end);

/* False: none that we can read. */
bool object_table(const struct object *f, struct object_table *ret);

#endif
