/* user.h - what the host calls a resource: pools, handles, descriptors. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_USER_H
#define SEEP_COLLECTOR_USER_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/segment.h"
#include "collector/sites.h"

/*
 * (pool, handle) -> site, size, birth, in a hash of its own, so that a handle
 * may be any number and two pools may have the same. The sites are of their
 * own kind and carry the pool; their rows are in an array of their own, which
 * is no part of the heap's totals.
 *
 * Lock-free; a signal handler may call everything. Between alloc and free a
 * resource has one owner, as a block has; who frees twice is counted. Private
 * memory, so a forked child has a copy: what it frees of that is inherited.
 * At most some 1.4 million resources at a time, the others are counted as lost.
 */
enum { USER_POOLS = 2048 };

extern struct segment_table user_tables[2]; /* pools, rows */

/* Ids from first_id on; also how a forked child starts over. False: memory. */
bool user_init(uint32_t first_id);

/*
 * `stack` is a site of the heap with the caller's stack; *birth* a tick. A
 * resource that was there already was not freed: booked so, and counted.
 */
void user_alloc(const char *pool, const void *handle, uint64_t size,
    struct site_id stack, uint32_t birth);

/* It moved, or has another size: no death. Returns its birth, else `birth`. */
uint32_t user_move(const char *pool, const void *handle, uint32_t birth);

void user_free(const char *pool, const void *handle);
void user_free_all(const char *pool);

/* An alloc that is not recorded: its free is no riddle. */
void user_passed_by(void);

/* Calls fn for every resource while fn returns true. */
void user_scan(
    bool (*fn)(uint32_t site, uint64_t size, uint32_t birth, void *arg),
    void *arg);

#endif
