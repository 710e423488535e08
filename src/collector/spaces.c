/* spaces.c - namespaces of the loader beside ours: each has its own heap. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/spaces.h"

#include <link.h>
#include <stddef.h>

#include "collector/segment.h"

/* glibc's struct r_debug_extended, by hand: older headers lack it. */
struct debug {
	struct r_debug base;
	const struct debug *next; /* from version 2 on */
};

enum { SPACES_MAX = 64 }; /* glibc has room for 16 */

static const int none;
static const struct debug *first;

const int *spaces_version = &none;

void
spaces_init(const void *debug)
{
	first = debug;
	if (first)
		spaces_version = &first->base.r_version;
}

void
spaces_count(void)
{
	const struct debug *d = first;
	uint64_t n = 0;

	while (n < SPACES_MAX && (d = LOAD_ACQUIRE(&d->next)))
		n++;
	STORE(&segment.header->counts[SEG_NAMESPACES], n);
}
