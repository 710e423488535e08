/* within.h - does a call come from the allocator itself, or from us? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WITHIN_H
#define SEEP_WITHIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/*
 * An allocator may serve one of its functions by another one: tcmalloc's valloc
 * jumps to tc_memalign, and jemalloc's operator new may call mallocx. If both
 * are hooked, the block must be counted once, where the host has called. So
 * calls whose return address is in the allocator, in libseep.so or in one of its
 * companions are not counted.
 */
enum { WITHIN_MAX = 8 };
struct within {
	uint64_t start, bytes;
};
extern SEEP_HIDDEN struct within within_ranges[WITHIN_MAX];
extern SEEP_HIDDEN uint32_t within_count;

/* A companion (companion.h) was loaded here. Constructors only. */
void within_add_companion(const void *start, size_t bytes);

/* The object with this function is the allocator. Constructors only. */
void within_add_module(const void *function);

SEEP_INLINE bool within_is(uint64_t pc)
{
	uint32_t i, count = LOAD_ACQUIRE(&within_count);

	for (i = 0; i < count; i++)
		if (pc - within_ranges[i].start < within_ranges[i].bytes)
			return true;
	return false;
}

#endif
