/* allocator.h - the allocators that a replay compares. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ALLOCATOR_H
#define SEEP_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>

#include "replay/script.h"
#include "kit/os/fault.h"

enum { ALLOCATOR_NAME = 32, ALLOCATOR_PATH = 4096, ALLOCATORS_MAX = 32 };

struct allocator {
	char name[ALLOCATOR_NAME];
	char preload[ALLOCATOR_PATH];    /* path or name of a library; or "" */
	char tunables[ALLOCATOR_PATH];   /* of glibc; or "" */
	char library[SCRIPT_PATH_BYTES]; /* which file has its malloc */
};

struct allocators {
	const char *performer; /* path of seep-replay-run */
	char libc[SCRIPT_PATH_BYTES];
	struct allocator *all;
	size_t count, room;
};

/* Finds out what libc is. -errno, with a text: the performer does not run. */
int allocator_begin(struct allocators *a, const char *performer, struct fault *where);

/*
 * Adds NAME=LIB, NAME=glibc:TUNABLES, or the NAME of one of those that are known.
 * -EINVAL, with a text: it is none, or cannot be loaded. -ENOMEM.
 */
int allocator_add(struct allocators *a, const char *text, struct fault *where);

/* Adds glibc, and those that the loader finds by their usual names. -ENOMEM */
int allocator_add_known(struct allocators *a);

void allocator_release(struct allocators *a);

#endif
