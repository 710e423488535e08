/* bootstrap.h - memory for calls that come before our own relocation. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BOOTSTRAP_H
#define SEEP_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/*
 * While the loader relocates another library, an IFUNC resolver of it may
 * allocate. No code that serves it may use a pointer that is initialised
 * statically, or call through the PLT. Its blocks come from a mapping of our
 * own and are never freed. There is one thread only. The functions set no
 * errno; NULL means that there is no memory.
 */
SEEP_HIDDEN void *bootstrap_alloc(size_t align, size_t size);
SEEP_HIDDEN void *bootstrap_malloc(size_t size);
SEEP_HIDDEN void bootstrap_free(void *p); /* does nothing */
SEEP_HIDDEN void *bootstrap_calloc(size_t n, size_t size);
SEEP_HIDDEN void *bootstrap_realloc(void *old, size_t size);
SEEP_HIDDEN void *bootstrap_reallocarray(void *old, size_t n, size_t size);
SEEP_HIDDEN int bootstrap_posix_memalign(void **ret, size_t align, size_t size);
SEEP_HIDDEN void *bootstrap_valloc(size_t size);
SEEP_HIDDEN void *bootstrap_pvalloc(size_t size);

/* Is this a block from here? Any thread may ask, at any time. */
SEEP_HIDDEN bool bootstrap_owns(const void *p);

/* realloc of such a block later: one of next.malloc() with its content. */
SEEP_HIDDEN void *bootstrap_move(const void *old, size_t size);

#endif
