/* unhooked.c - code whose allocations do not come to us. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/fork.h"

#include <link.h>
#include <stddef.h>

#include "collector/snapshot/mark.h"
#include "collector/segment/segment.h"
#include "collector/segment/loader.h"

/* glibc's struct r_debug_extended, by hand: older headers lack it. */
struct debug {
	struct r_debug base;
	const struct debug *next; /* from version 2 on */
};

enum {
	UNHOOKED_MAX = 64,   /* glibc has room for 16 */
	DEEPBIND_MARKS = 16, /* the ring of marks is for others, too */
	CALLS = 5,
};

static const int none;
static const struct debug *first;

static uint64_t before;   /* libraries in front of us with a malloc */
static uint64_t own;      /* objects that call what nobody hooks */
static uint64_t deepbind; /* loads so far, an ancestor's included */

const int *unhooked_version = &none;

/* The list of objects is in the order of search, the executable first. */
static uint64_t mallocs_before_us(const struct link_map *l)
{
	uint64_t n = 0;

	for (l = l ? l->l_next : NULL; l && l->l_ld != _DYNAMIC; l = l->l_next)
		n += loader_defines(l, "malloc");
	return n;
}

/*
 * Allocators have functions with names of their own, too. A companion
 * (companion.h) may hook them: it defines such a name before the allocator does,
 * but no malloc.
 */
static const struct {
	const char *name;         /* such allocators define it */
	const char *calls[CALLS]; /* who uses them calls one of these */
} families[] = {
    {"mallocx", {"mallocx", "rallocx", "xallocx", "dallocx", "sdallocx"}},
    {"tc_malloc", {"tc_malloc", "tc_calloc", "tc_new", "tc_free", "tc_delete"}},
    {"mi_malloc", {"mi_malloc", "mi_zalloc", "mi_new", "mi_free", "mi_free_size"}},
};

/* Is the allocator the first to define it? */
static bool is_unhooked(const struct link_map *l, const char *name)
{
	for (; l; l = l->l_next)
		if (loader_defines(l, name))
			return loader_defines(l, "malloc");
	return false;
}

static bool calls_one_of(const struct link_map *l, const char *const *names, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (loader_imports(l, names[i]))
			return true;
	return false;
}

/* Objects that call functions of their allocator which are not hooked. */
static uint64_t own_names_unhooked(const struct link_map *all)
{
	const struct link_map *l;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (!is_unhooked(all, families[i].name))
			continue;
		for (l = all; l; l = l->l_next)
			n += calls_one_of(l, families[i].calls, CALLS);
	}
	return n;
}

void unhooked_init(const void *debug, bool is_other_allocator)
{
	first = debug;
	if (!first)
		return;
	unhooked_version = &first->base.r_version;
	before = mallocs_before_us(first->base.r_map);
	if (is_other_allocator)
		own = own_names_unhooked(first->base.r_map);
}

void unhooked_tell(void)
{
	STORE(&segment.header->counts[SEG_MALLOC_BEFORE], before);
	STORE(&segment.header->counts[SEG_DEEPBIND_LOADS], LOAD(&deepbind));
	STORE(&segment.header->counts[SEG_OWN_NAMES], own);
}

/* A label is short: the last part of a path says most. */
static const char *last_part(const char *path)
{
	const char *last = path;

	for (; *path; path++) {
		if (*path == '/')
			last = path + 1;
	}
	return last;
}

void unhooked_deepbind(const char *file, bool tell)
{
	uint64_t n = ADD(&deepbind, 1);

	if (!tell)
		return;
	unhooked_tell();
	if (n < DEEPBIND_MARKS)
		mark_put(SEG_MARK_DEEPBIND, last_part(file));
}

void unhooked_count(void)
{
	const struct debug *d = first;
	uint64_t n = 0;

	while (n < UNHOOKED_MAX && (d = LOAD_ACQUIRE(&d->next)))
		n++;
	STORE(&segment.header->counts[SEG_NAMESPACES], n);
}
