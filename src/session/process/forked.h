/* forked.h - a forked child that has no segment of its own yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FORKED_H
#define SEEP_FORKED_H

#include <stdbool.h>

#include "session/load/session.h"

/*
 * A child gets a segment after some 64 events. Until then it has the live map
 * that it inherited, at the addresses that the header of its parent has, and all
 * of those blocks have stacks in the segment of the parent.
 *
 * A session with the process `pid` and the ancestors whose segments name what it
 * inherits. If it has no segment of its own, it has no sites and no uuid there.
 * Ages and sizes of live blocks are missing. -ENXIO: neither pid nor an ancestor
 * of it that runs has a segment; all else as of proc_open().
 */
int forked_load(pid_t pid, struct session **ret, struct fault *where);

/* Is it one of these? */
bool forked_is(const struct seg_header *h);

/* Is this process without a segment of its own, but forked from one that has one? */
bool forked_lacks_segment(pid_t pid);

#endif
