/* mem.h - private memory of the collector: pages of our own, never freed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_MEM_H
#define SEEP_COLLECTOR_MEM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Pages come from blocks that grow with what is in use: a process with few
 * sites takes little of the address space, of the commit charge and of the
 * locked memory of its host, whatever limits the host sets later. Only mmap is
 * called for them, which the allocator needs too. Lock-free; a signal handler
 * may call it. Being private memory, a forked child gets its own copy for
 * nothing.
 */

/* Once, before anything else: the most that all blocks together may take. */
void mem_init(uint64_t total_bytes);

/*
 * Zeroed and page aligned; `bytes` is rounded up to pages. NULL when there is
 * no memory: the caller drops its event and counts the drop.
 */
void *mem_alloc(size_t bytes);

/*
 * Maps the next block ahead. To be called when the host's allocator has just
 * got new memory from the kernel: such a call is allowed then. A host under
 * seccomp's strict mode gets none, so that nothing is asked of the kernel as
 * long as the block that was mapped ahead lasts.
 */
void mem_refill(void);

/*
 * Asks the kernel to leave our blocks out of core files. It takes a madvise for
 * each new one, a call that a filter of the host may lack: so this is called
 * where a madvise has to be made anyway.
 */
void mem_keep_out_of_cores(void);

/* Back to zero and to the kernel; the address range stays ours. */
void mem_zero(void *p, size_t bytes);

/* All that was ever handed out, in bytes. */
uint64_t mem_total(void);

#endif
