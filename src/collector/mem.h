/* mem.h - private memory of the collector: pages of our own, never freed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_MEM_H
#define SEEP_COLLECTOR_MEM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Pages come from PROT_NONE reserves that are opened piece by piece, so that
 * mlockall() and overcommit see only what is used, and are kept out of core
 * files. Lock-free; a signal handler may call it. Being private memory, a
 * forked child gets its own copy for nothing.
 */

/*
 * Once, before anything else: how large a reserve may be, and all of them
 * together.
 */
void mem_init(size_t reserve_bytes, uint64_t total_bytes);

/*
 * Zeroed and page aligned; `bytes` is rounded up to pages. NULL when there is
 * no memory: the caller drops its event and counts the drop.
 */
void *mem_alloc(size_t bytes);

/*
 * The same for a table that will be used all over, such as a hash table: its
 * pages are made at once, which costs a fraction of as many page faults.
 */
void *mem_alloc_dense(size_t bytes);

/* Back to zero and to the kernel; the address range stays ours. */
void mem_zero(void *p, size_t bytes);

/* All that was ever handed out, in bytes. */
uint64_t mem_total(void);

#endif
