/* companion_calls.c - what libseep.so offers to its companions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/companion_calls.h"

#include "collector/event/recorder_hit.h"
#include "collector/event/next.h"
#include "collector/segment/mem.h"

/*
 * For libseep-cxx.so. If the next operator new has called our malloc, the block
 * is in the live map already, and stays as it is. Likewise for delete and free.
 */
SEEP_EXPORT void seep_cxx_allocated(
    const void *p, size_t size, const struct cpu_frame *c, uint32_t api)
{
	if (!blocks_peek((uint64_t)(uintptr_t)p))
		recorder_allocated(p, size, c, (enum seg_api)api);
}

SEEP_EXPORT void seep_cxx_library(const void *start, size_t bytes)
{
	own_memory_add(start, bytes, OWN_MEMORY_FOREVER);
	within_add_companion(start, bytes);
}

SEEP_EXPORT void seep_cxx_freeing(const void *p, uint64_t pc)
{
	recorder_freeing(p, pc);
	if (thread_self)
		thread_self->record.expect_free = p;
}

SEEP_EXPORT void seep_next_module(const void *function)
{
	within_add_module(function);
}

SEEP_EXPORT void seep_next_allocated(
    const void *p, size_t size, const struct cpu_frame *c, uint32_t api)
{
	if (likely(!within_is(c->pc)))
		recorder_allocated(p, size, c, (enum seg_api)api);
}

SEEP_EXPORT void seep_next_freeing(const void *p, uint64_t pc)
{
	if (likely(!within_is(pc)))
		recorder_freeing(p, pc);
}

SEEP_EXPORT void *seep_next_resize(void *old, size_t size, const struct cpu_frame *c, uint32_t api,
    companion_resize *resize, size_t extra)
{
	if (unlikely(within_is(c->pc)))
		return resize(old, size, extra);
	return recorder_resizes(old, size, c, (enum seg_api)api, resize, extra);
}
