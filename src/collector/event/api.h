/* api.h - what the host may call: include/seep.h from the other side. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_API_H
#define SEEP_API_H

#include <stddef.h>

#include "base/attr.h"

/*
 * include/seep.h describes these functions, and refers to them by name alone.
 * All are safe in threads, in signal handlers and in forked children, and none
 * changes errno. If the collector is inert, they do nothing.
 */
SEEP_EXPORT int seep_snapshot(const char *label);
SEEP_EXPORT void seep_mark(const char *label);
SEEP_EXPORT void seep_pause(void);
SEEP_EXPORT void seep_resume(void);

SEEP_EXPORT void seep_alloc(const char *pool, const void *handle, size_t size);
SEEP_EXPORT void seep_free(const char *pool, const void *handle);
SEEP_EXPORT void seep_realloc(const char *pool, const void *old, const void *handle, size_t size);
SEEP_EXPORT void seep_free_all(const char *pool);
SEEP_EXPORT void seep_ignore(const void *p);

/* Programs made for memtrail call this; the same as seep_snapshot(NULL). */
SEEP_EXPORT void memtrail_snapshot(void);

#endif
