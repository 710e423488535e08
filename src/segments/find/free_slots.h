/* free_slots.h - gives back the slots of forked children that have ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FREE_SLOTS_H
#define SEEP_FREE_SLOTS_H

#include "base/std.h"
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

/* ---- in_use: does any process of this machine have a segment file mapped? ---- */

enum in_use {
	IN_USE_NO,
	IN_USE_YES,
	IN_USE_UNKNOWN, /* not ours to ask, or the file system cannot say */
};

/*
 * /proc shows the processes of our pid namespace only, and not those that
 * hidepid= hides. The kernel knows better: a collector maps its file from a
 * descriptor that may write, and as long as such a mapping is there, in
 * whatever process, nobody gets a read lease on the file. Only the owner of the
 * file and root may ask; nobody else can remove it either.
 *
 * `name` is a regular file in the directory `dir`; another one than `device`
 * and `inode` say is IN_USE_UNKNOWN. The answer IN_USE_NO stays true, because
 * no process maps the file of another one later, unless it is the file of a
 * forked child without an event, which the next child may take (early.h).
 */
enum in_use in_use_check(int dir, const char *name, uint64_t device, uint64_t inode);

#endif
