/* large.h - arrays that are read here and there: in large pages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LARGE_H
#define SEEP_LARGE_H

#include <stddef.h>

/*
 * A heap of a million blocks takes tens of megabytes here, which are read in no
 * order. In pages of 4 KiB the CPU spends more time on finding out where a page
 * is than on reading it. The kernel is asked for pages of 2 MiB; if it has none,
 * all is the same, and slower.
 *
 * All memory is for free(). NULL: there is none.
 */
void *large_zeroed(size_t bytes);

/* As realloc(); of the old array so many bytes are kept. */
void *large_grow(void *old, size_t keep, size_t bytes);

#endif
