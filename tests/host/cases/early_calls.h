/* early_calls.h - the n-th function of the malloc family, checked and freed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_EARLY_CALLS_H
#define SEEP_TESTS_EARLY_CALLS_H

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EARLY_KINDS = 11 };

static void early_check(void *p, size_t align, size_t bytes)
{
	if (!p || (uintptr_t)p % align)
		_exit(91); /* no stdio this early */
	memset(p, 0x77, bytes);
	if (malloc_usable_size(p) < bytes)
		_exit(92);
}

static void early_call(int which)
{
	void *p = NULL;

	switch (which) {
	case 0:
		p = malloc(40);
		break;
	case 1:
		p = calloc(5, 8);
		break;
	case 2:
		p = realloc(NULL, 40);
		break;
	case 3:
		p = reallocarray(NULL, 5, 8);
		break;
	case 4:
		p = memalign(16, 40);
		break;
	case 5:
		p = aligned_alloc(16, 48);
		break;
	case 6:
		if (posix_memalign(&p, 16, 40))
			_exit(93);
		break;
	case 7:
		p = valloc(40);
		break;
	case 8:
		p = pvalloc(40);
		break;
	case 9:
		free(NULL);
		return;
	default:
		p = realloc(malloc(8), 40);
		break;
	}
	early_check(p, 16, 40);
	free(p);
}

#endif
