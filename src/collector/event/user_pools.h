/* user_pools.h - what the host may call, and what it calls a resource. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_USER_POOLS_H
#define SEEP_USER_POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/heap/sites.h"
#include "collector/segment/segment.h"

/*
 * A hash table maps (pool, handle) to site, size and birth. It is apart from
 * the live map, so a handle may be any number, and two pools may have the same
 * handle. The sites are of a kind of their own and name the pool. Their rows
 * are in an array of their own, which is not part of the heap's totals.
 *
 * Lock-free; a signal handler may call everything. Between alloc and free a
 * resource has one owner, as a block has; a second free is counted. The table
 * is private memory, so a forked child has a copy, and a free of a resource
 * from there is an inherited free. There is room for about 1.4 million
 * resources at a time; others are counted as lost.
 */
enum { USER_POOLS_MAX = 2048 };

extern struct segment_table user_pools_tables[2]; /* pools, rows */

/* Ids begin at first_id; a forked child calls it again. False: no memory. */
bool user_pools_init(uint32_t first_id);

/*
 * `stack` is a site of the heap with the caller's stack, and `birth` is a tick.
 * If the resource is there already, its free was missed: it is recorded as
 * freed, and counted.
 */
void user_pools_alloc(
    const char *pool, const void *handle, uint64_t size, struct site_id stack, uint32_t birth);

/*
 * The resource moved or was resized, but lives on. Returns its birth, or
 * `birth` if it is not known.
 */
uint32_t user_pools_move(const char *pool, const void *handle, uint32_t birth);

void user_pools_free(const char *pool, const void *handle);
void user_pools_free_all(const char *pool);

/* Counts an alloc that is not recorded, so that its free is expected. */
void user_pools_passed_by(void);

/* Calls fn for every resource while fn returns true. */
void user_pools_scan(
    bool (*fn)(uint32_t site, uint64_t size, uint32_t birth, void *arg), void *arg);

/* ---- api: what the host may call: include/seep.h from the other side ---- */

/*
 * include/seep.h describes these functions, and refers to them by name alone.
 * All are safe in threads, in signal handlers and in forked children, and none
 * changes errno. If the collector is inert, they do nothing.
 */
SEEP_EXPORT int seep_snapshot(const char *label);
SEEP_EXPORT void seep_mark(const char *label);
SEEP_EXPORT void seep_pause(void);
SEEP_EXPORT void seep_resume(void);

SEEP_EXPORT void seep_alloc(const char *pool, const void *handle, size_t size);
SEEP_EXPORT void seep_free(const char *pool, const void *handle);
SEEP_EXPORT void seep_realloc(const char *pool, const void *old, const void *handle, size_t size);
SEEP_EXPORT void seep_free_all(const char *pool);
SEEP_EXPORT void seep_ignore(const void *p);

/* Programs made for memtrail call this; the same as seep_snapshot(NULL). */
SEEP_EXPORT void memtrail_snapshot(void);

#endif
