/* mem.h - private memory of the collector, and the list of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MEM_H
#define SEEP_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "format/seg_own_memory.h"

/*
 * Pages come from blocks whose size grows with the memory in use. So a process
 * with few sites takes little of the host's address space, commit charge and
 * locked memory, whatever limits the host sets later. Only mmap is called for
 * them, which the allocator needs, too. Lock-free; a signal handler may call
 * it. It is private memory, so a forked child has its own copy.
 */

/* Once, before all else. The limit is for all blocks together. */
void mem_init(uint64_t total_bytes);

/*
 * Zeroed and page aligned; `bytes` is rounded up to pages. NULL: there is no
 * memory, and the caller drops its event and counts that.
 */
void *mem_alloc(size_t bytes);

/*
 * What the pointer at `slot` points to; if that is NULL, new pages, to which it
 * points from now on. If two threads come at once, the second takes the pages of
 * the first, and its own are wasted, which is rare, and nobody touches them.
 * NULL: no memory.
 */
void *mem_publish(void *slot, size_t bytes);

/*
 * Maps the next block ahead. Call it when the host's allocator has just got new
 * memory from the kernel, because that shows that the call is allowed. The
 * allocator of a host in seccomp's strict mode gets none, so nothing is asked
 * of the kernel there as long as the block that was mapped ahead lasts.
 */
void mem_refill(void);

/*
 * The same at the end of the start, when so much must be left besides, in one
 * piece, whatever tables of options have taken from the first block. So a host
 * that enters a sandbox at once gets as far with options as without.
 */
void mem_refill_first(size_t bytes);

/*
 * Asks the kernel to leave our blocks out of core files. That takes a madvise
 * for each new block, which a filter of the host may forbid. So it is called
 * where a madvise has to be made anyway.
 */
void mem_keep_out_of_cores(void);

/*
 * Zeroes the pages and gives them back to the kernel; the addresses stay ours.
 */
void mem_zero(void *p, size_t bytes);

/* All that was ever handed out, in bytes. */
uint64_t mem_total(void);

/* ---- own_memory: which memory of the host is the collector's ---- */

/*
 * For a reader that searches the host's memory for pointers from outside
 * (format/seg_own_memory.h). Code that maps memory without a file enters it here after the
 * mmap, and removes it before the munmap, because the next mapping at that
 * address may be the host's. A forked child has a copy, as it has of the memory
 * itself.
 * Lock-free; a signal handler may call it. A range for which there is no room
 * is counted (SEG_LOST_RANGES), and a reader takes it for the host's.
 */
extern SEEP_HIDDEN struct own_memory_entry ours_table[OWN_MEMORY_MAX];

void own_memory_add(const void *start, size_t bytes, enum own_memory_kind kind);

/* Removes ranges that are OWN_MEMORY_FOR_NOW; also a part of one, or several. */
void own_memory_remove(const void *start, size_t bytes);

/* The data of this library. */
void own_memory_add_library(void);

#endif
