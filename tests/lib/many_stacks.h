/* many_stacks.h - one allocation, or one call, by many different call stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_MANY_STACKS_H
#define SEEP_TESTS_MANY_STACKS_H

#include <stddef.h>
#include <stdlib.h>

/* malloc(size), `depth` calls below the caller; each n below 2^depth has a stack of its own. */
static __attribute__((noinline, unused)) void *many_stacks(int n, int depth, size_t size)
{
	void *volatile p;

	if (depth == 0)
		return malloc(size);
	if (n & 1)
		p = many_stacks(n / 2, depth - 1, size);
	else
		p = many_stacks(n / 2, depth - 1, size);
	return p;
}

/*
 * leaf(path), `bits` calls below the caller; each path below 2^bits has a stack
 * of its own. The remarks keep the two calls apart.
 */
static __attribute__((noipa, unused)) void many_stacks_call(
    unsigned path, int bits, void (*leaf)(size_t path))
{
	if (bits == 0) {
		leaf(path);
	} else if (path >> (bits - 1) & 1) {
		many_stacks_call(path, bits - 1, leaf);
		__asm__ volatile("# one" ::: "memory");
	} else {
		many_stacks_call(path, bits - 1, leaf);
		__asm__ volatile("# none" ::: "memory");
	}
	__asm__ volatile("" ::: "memory");
}

#endif
