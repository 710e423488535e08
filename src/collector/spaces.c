/* spaces.c - code that the loader binds to another malloc than ours. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/spaces.h"

#include <link.h>
#include <stddef.h>

#include "collector/mark.h"
#include "collector/segment.h"
#include "collector/symbol.h"

/* glibc's struct r_debug_extended, by hand: older headers lack it. */
struct debug {
	struct r_debug base;
	const struct debug *next; /* from version 2 on */
};

enum {
	SPACES_MAX = 64,     /* glibc has room for 16 */
	DEEPBIND_MARKS = 16, /* the ring of marks is for others, too */
};

static const int none;
static const struct debug *first;

static uint64_t before;   /* libraries in front of us with a malloc */
static uint64_t deepbind; /* loads so far, an ancestor's included */

const int *spaces_version = &none;

/* The list of objects is in the order of search, the executable first. */
static uint64_t
mallocs_before_us(const struct link_map *l)
{
	uint64_t n = 0;

	for (l = l ? l->l_next : NULL; l && l->l_ld != _DYNAMIC; l = l->l_next)
		n += symbol_is_defined(l, "malloc");
	return n;
}

void
spaces_init(const void *debug)
{
	first = debug;
	if (!first)
		return;
	spaces_version = &first->base.r_version;
	before = mallocs_before_us(first->base.r_map);
}

void
spaces_tell(void)
{
	STORE(&segment.header->counts[SEG_MALLOC_BEFORE], before);
	STORE(&segment.header->counts[SEG_DEEPBIND_LOADS], LOAD(&deepbind));
}

/* A label is short: the last part of a path says most. */
static const char *
last_part(const char *path)
{
	const char *last = path;

	for (; *path; path++) {
		if (*path == '/')
			last = path + 1;
	}
	return last;
}

void
spaces_deepbind(const char *file, bool tell)
{
	uint64_t n = ADD(&deepbind, 1);

	if (!tell)
		return;
	spaces_tell();
	if (n < DEEPBIND_MARKS)
		mark_put(SEG_MARK_DEEPBIND, last_part(file));
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
