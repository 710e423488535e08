/* api.h - what the host may call: include/seep.h from the other side. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_API_H
#define SEEP_COLLECTOR_API_H

#include <stddef.h>

#include "base/attr.h"

/*
 * The promises are in include/seep.h, which knows these by name alone. All of
 * it is safe in threads, in handlers and in forked children; none touches
 * errno. Where the collector is inert, each does nothing.
 */
SEEP_EXPORT int seep_snapshot(const char *label);
SEEP_EXPORT void seep_mark(const char *label);
SEEP_EXPORT void seep_pause(void);
SEEP_EXPORT void seep_resume(void);

SEEP_EXPORT void seep_alloc(const char *pool, const void *handle, size_t size);
SEEP_EXPORT void seep_free(const char *pool, const void *handle);
SEEP_EXPORT void seep_realloc(
    const char *pool, const void *old, const void *handle, size_t size);
SEEP_EXPORT void seep_free_all(const char *pool);
SEEP_EXPORT void seep_ignore(const void *p);

/* What programs made for memtrail call; the same as seep_snapshot(NULL). */
SEEP_EXPORT void memtrail_snapshot(void);

#endif
