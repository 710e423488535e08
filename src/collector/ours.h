/* ours.h - which memory of the host is the collector's. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_OURS_H
#define SEEP_COLLECTOR_OURS_H

#include <stddef.h>

#include "base/attr.h"
#include "trace/ours.h"

/*
 * For who looks for pointers of the host from outside (trace/ours.h). Whatever
 * maps memory that is of no file enters it here behind the mmap, and takes it
 * out before the munmap: the next mapping at that address may be the host's.
 * A forked child has a copy, as of the memory itself.
 *
 * Lock-free; a signal handler may call it. A range that finds no room is
 * counted (SEG_LOST_RANGES) and looks as if it were the host's.
 */
extern SEEP_HIDDEN struct ours_entry ours_table[OURS_MAX];

void ours_add(const void *start, size_t bytes, enum ours_kind kind);

/* Of ranges that are OURS_FOR_NOW; also a part of one, or of several. */
void ours_remove(const void *start, size_t bytes);

/* The data of this library. */
void ours_add_library(void);

#endif
