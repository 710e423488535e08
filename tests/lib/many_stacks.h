/* many_stacks.h - one allocation by many different call stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_MANY_STACKS_H
#define SEEP_TESTS_MANY_STACKS_H

#include <stddef.h>
#include <stdlib.h>

/* malloc(size), `depth` calls below the caller; each n below 2^depth has a stack of its own. */
static __attribute__((noinline)) void *
many_stacks(int n, int depth, size_t size)
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

#endif
