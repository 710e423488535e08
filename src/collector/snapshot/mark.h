/* mark.h - moments that the host names: a ring in the segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MARK_H
#define SEEP_MARK_H

#include <stdbool.h>

#include "collector/segment/segment.h"
#include "format/format.h"

enum { MARK_RING = 1024 }; /* the latest are kept */

extern SEEP_HIDDEN struct segment_table mark_table;

/* Makes it empty; a forked child calls it again. False: no memory. */
bool mark_init(void);

/*
 * Notes this moment. Lock-free; a signal handler may call it. The label may be
 * NULL, and is cut if it is too long. A mark that finds no room is counted.
 */
void mark_put(enum seg_mark_kind kind, const char *label);

/*
 * Copies at most bytes - 1, fills up with NULs; a character of several bytes is
 * kept whole or left out. NULL is an empty text. Returns the length.
 */
size_t mark_copy_label(char *to, size_t bytes, const char *label);

#endif
