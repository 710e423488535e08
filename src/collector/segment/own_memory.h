/* own_memory.h - which memory of the host is the collector's. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OWN_MEMORY_H
#define SEEP_OWN_MEMORY_H

#include <stddef.h>

#include "base/attr.h"
#include "format/seg_own_memory.h"

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
