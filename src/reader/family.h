/* family.h - the processes that a forked one descends from. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_FAMILY_H
#define SEEP_READER_FAMILY_H

#include "reader/session.h"

/*
 * A forked child inherits blocks, whose sites are those of its parents. Adds
 * the parents whose segments are still in the directory of the child's own
 * segment, behind the processes that the session has. Parents that cannot be
 * read are left out. pid is the child's, as we see it. -ENOMEM.
 */
int family_add(struct session *s, const struct process *child, pid_t pid,
    const char *segment_path);

/* The parent of p in the session. NULL: p has none, or it is not there. */
const struct process *family_parent(
    const struct session *s, const struct process *p);

#endif
