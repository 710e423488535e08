/* within.c - does a call come from the allocator itself, or from us? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/next.h"

#include "collector/unwind/module.h"

struct within within_ranges[WITHIN_MAX];
uint32_t within_count;

/* Companions' constructors run one after the other, so there is one writer. */
static void add(uint64_t start, uint64_t end)
{
	if (within_count == WITHIN_MAX)
		return;
	within_ranges[within_count].start = start;
	within_ranges[within_count].bytes = end - start;
	STORE_RELEASE(&within_count, within_count + 1);
}

void within_add_module(const void *function)
{
	uint64_t start, end;

	if (!within_is((uint64_t)(uintptr_t)function) && module_range(function, &start, &end))
		add(start, end);
}

void within_add_companion(const void *start, size_t bytes)
{
	within_add_module(&within_count); /* libseep.so */
	add((uint64_t)(uintptr_t)start, (uint64_t)(uintptr_t)start + bytes);
}
