/* ours.h - which memory of the host is the collector's. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OURS_H
#define SEEP_OURS_H

#include <stddef.h>

#include "base/attr.h"
#include "format/seg_ours.h"

/*
 * For a reader that searches the host's memory for pointers from outside
 * (format/seg_ours.h). Code that maps memory without a file enters it here after the
 * mmap, and removes it before the munmap, because the next mapping at that
 * address may be the host's. A forked child has a copy, as it has of the memory
 * itself.
 * Lock-free; a signal handler may call it. A range for which there is no room
 * is counted (SEG_LOST_RANGES), and a reader takes it for the host's.
 */
extern SEEP_HIDDEN struct ours_entry ours_table[OURS_MAX];

void ours_add(const void *start, size_t bytes, enum ours_kind kind);

/* Removes ranges that are OURS_FOR_NOW; also a part of one, or several. */
void ours_remove(const void *start, size_t bytes);

/* The data of this library. */
void ours_add_library(void);

#endif
