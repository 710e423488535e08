/* family.h - finds the ancestors of a forked process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FAMILY_H
#define SEEP_FAMILY_H

#include "session/load/session.h"

/*
 * A forked child inherits blocks, whose sites are in its parents' segments.
 * Adds those parents whose segments are still in the directory of the child's
 * own segment, after the processes that the session has. Parents that cannot be
 * read are left out. pid is the child's pid in our namespace. -ENOMEM.
 */
int family_add(struct session *s, const struct process *child, pid_t pid, const char *segment_path);

/* The parent of p in the session. NULL: p has none, or it is not there. */
const struct process *family_parent(const struct session *s, const struct process *p);

/*
 * The process whose site this id is: p, or one from which it was forked. NULL:
 * the records of that one, or of two in between, are not there.
 */
const struct process *family_owner(const struct session *s, const struct process *p, uint32_t id);

#endif
