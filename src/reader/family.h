/* family.h - the processes that a forked one descends from. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_FAMILY_H
#define SEEP_READER_FAMILY_H

#include "reader/session.h"

/*
 * Blocks that a forked child has inherited are of sites of its parents. Adds
 * those to the session whose segments are still in the directory of the child's
 * own, behind the processes that it has. What cannot be read is left out.
 * -ENOMEM.
 */
int family_add(
    struct session *s, const struct process *child, const char *segment_path);

/* The parent of p in the session, NULL: it has none, or it is not there. */
const struct process *family_parent(
    const struct session *s, const struct process *p);

#endif
