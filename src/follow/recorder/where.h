/* where.h - where modules with a relative path were mapped. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WHERE_H
#define SEEP_WHERE_H

#include "session/process/process.h"
#include "follow/recorder/tail.h"

/*
 * Names are found after the program has ended, when its memory map is gone. So
 * the map is read while the process is followed. All zero is an empty struct.
 */
struct where {
	struct where_file *files;
	size_t count, room;
	size_t unplaced; /* modules beyond the limit, not searched for */
};

void where_release(struct where *w);

/*
 * Looks at the memory map of the process behind this segment, if the tail has
 * met modules with a relative path that are not known here yet. -ENOMEM.
 */
int where_look(
    struct where *w, const struct tail *t, const struct seg_header *h, const struct source *file);

/* Fills `mapped` of the modules of a process. -ENOMEM. */
int where_fill(const struct where *w, struct process *p);

#endif
