/* companion_calls.h - what libseep.so offers to its companions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COMPANION_CALLS_H
#define SEEP_COMPANION_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"

/* After operator new returned p to `c`; api is an enum seg_api. */
SEEP_EXPORT void seep_cxx_allocated(
    const void *p, size_t size, const struct cpu_frame *c, uint32_t api);

/* Before operator delete. */
SEEP_EXPORT void seep_cxx_freeing(const void *p, uint64_t pc);

/* Where a companion (companion.h) is in memory. */
SEEP_EXPORT void seep_cxx_library(const void *start, size_t bytes);

/* An object with the next definition of a function that a companion hooks. */
SEEP_EXPORT void seep_next_module(const void *function);

/*
 * For functions that the allocator has beside the malloc family (mallocx of
 * jemalloc): after p was returned to `c`, and before p is freed by `pc`. Calls
 * that the allocator makes by itself are not counted (next.h).
 */
SEEP_EXPORT void seep_next_allocated(
    const void *p, size_t size, const struct cpu_frame *c, uint32_t api);
SEEP_EXPORT void seep_next_freeing(const void *p, uint64_t pc);

/*
 * Calls `resize` with old, size and extra. It returns the address of the block
 * with its new size, which is returned to the caller, or NULL, and then the
 * block has stayed as it was.
 */
typedef void *companion_resize(void *old, size_t size, size_t extra);
SEEP_EXPORT void *seep_next_resize(void *old, size_t size, const struct cpu_frame *c, uint32_t api,
    companion_resize *resize, size_t extra);

#endif
