/* free_slots.h - gives back the slots of forked children that have ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FREE_SLOTS_H
#define SEEP_FREE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segments/read/segfile.h"

/*
 * A slot that is free may be taken by a new child at once. So two rules hold:
 * - One process at a time gives back slots of a file. It holds a flock() on the
 *   control file, NAME.seg.ctl, so nobody else frees a slot between its reading
 *   and its freeing.
 * - A process is found to have ended by a look at /proc that was made after its
 *   header was read, and the slot still has its header (by uuid) afterwards.
 *   A child in its first events frees its own line when it moves into a slot.
 */
struct free_slots {
	int lock; /* of the control file */
	int fd;   /* the segment file, writable */
	int log;  /* NAME.seg.log, writable; -1: there is none */
};

/*
 * Locks the file NAME.seg of the directory, which `f` has open. -EWOULDBLOCK:
 * somebody else has the lock; -EACCES: it is another user's (root may write
 * those of a user in that user's own directory); -ENOENT: there is no
 * control file.
 */
int free_slots_begin(struct free_slots *s, int dir, const char *name, const struct segfile *f);

/* The same for root in a file of another user, where that is for root to do. */
int free_slots_begin_as_root(
    struct free_slots *s, int dir, const char *name, const struct segfile *f);
void free_slots_end(struct free_slots *s);

/*
 * Empties a slot and its pool of events, or the line of a child in its first events, and gives it
 * back. The caller knows that the process with this uuid has ended. False: the
 * slot has another process by now, or cannot be emptied, and stays as it is.
 */
bool free_slots_give(
    const struct free_slots *s, const struct segfile *f, int slot, const uint8_t uuid[16]);

/*
 * Gives back the slots of all children that have ended in these files of a
 * directory, except in those of a recorder that lives and has not read them
 * yet. How many; what cannot be given back is left as it is.
 */
size_t free_slots_of_dead(int dir, char *const *names, size_t count);

#endif
