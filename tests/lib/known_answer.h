/* known_answer.h - for hosts: blocks of which the host says itself whether they are lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_KNOWN_ANSWER_H
#define SEEP_TESTS_KNOWN_ANSWER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scrub.h"

enum { N = 100, SIZE = 72 };

/* equal functions would become one */
#define OWN __attribute__((noinline, noclone, no_icf))

/* Each case has a function of its own, by which a test finds its site. */
#define MAKER(name) \
	static OWN void *k_##name(size_t size) \
	{ \
		void *p = malloc(size); \
		if (!p) \
			abort(); \
		memset(p, 0, size < 256 ? size : 256); \
		return p; \
	}

/* tests/lib/known_answer.py compares these lines with the verdicts. */
static inline void say(const char *name, const char *truth, int blocks)
{
	printf("CASE k_%s %s %d\n", name, truth, blocks);
}

static inline void *map_pages(size_t bytes, int flags, int fd)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

#endif
