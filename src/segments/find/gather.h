/* gather.h - the segments of dead processes: read once, then given back. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_GATHER_H
#define SEEP_GATHER_H

#include "base/std.h"
#include "segments/read/segfile.h"

/*
 * Walks the segment directories, finds processes that have ended and that
 * nobody has written down, and has them written. What is safe leaves the
 * directory: the slot of a child is emptied for the next one, a file goes when
 * all its processes have ended and nobody maps it. Three rules:
 *
 * - A segment whose recorder lives (`seep record`) is left to that.
 * - Only segments of our own user, and those below /run/seep, are removed.
 *   Others are written down once and left to their owner.
 * - In doubt a process lives.
 */
struct gather;

enum { GATHER_KEYS = 4096 }; /* segments in one offer */

struct gather_row {
	const struct segfile *file;
	int slot;
	struct seg_header header;     /* of this process */
	const struct seg_header *own; /* of the process whose file it is */
	bool has_called_exec;         /* it runs as another program by now */
	bool may_remove;
	void *context; /* for the hooks: who has it; NULL at first */
};

struct gather_hooks {
	void *context;
	/* Is the process in this slot known to run? It is not looked at then. */
	bool (*runs)(void *context, uint64_t device, uint64_t inode, int slot);
	/* Writes its last state. 1: never to be read; negative: not now. */
	int (*write)(void *context, struct gather_row *row);
	/* Makes all that was written safe. */
	void (*sync)(void *context);
	/* Is what was written for this row safe? */
	bool (*is_safe)(void *context, const struct gather_row *row);
	/*
	 * Others read it as well, and nothing is given back before. At most
	 * GATHER_KEYS are offered to them, and more when they have read those.
	 * Both NULL: there is nobody else.
	 */
	void (*offer)(void *context, const struct live_key *keys, size_t count);
	bool (*has_read)(void *context);
};

struct gather_plan {
	/* to be walked; NULL: SEEP_DIR, /dev/shm/seep-*, /run/seep/ * */
	const char *const *directories;
	struct gather_hooks hooks;
};

/* -ENOMEM. */
int gather_new(const struct gather_plan *plan, struct gather **ret);
void gather_free(struct gather *g); /* NULL is fine */

/*
 * One round. *ret_waiting: slots that are taken, and whose processes are not
 * known to run: if they are many, the next round should come soon. -ENOMEM.
 */
int gather_round(struct gather *g, size_t *ret_waiting);

/*
 * What the files of the last round take of their file system by now, in bytes.
 * Children in slots come without a sign, but they take room.
 */
uint64_t gather_room(const struct gather *g);

/* This one is safe, because somebody else wrote it down. -ENOMEM. */
int gather_note(struct gather *g, const struct segfile *f, int slot, const uint8_t uuid[16]);

/* Has somebody noted it, or is it never to be read? */
bool gather_is_noted(
    const struct gather *g, const struct segfile *f, int slot, const uint8_t uuid[16]);

/*
 * What is safe and still there, because it is not ours to remove, as text, so
 * that the next watch does not write it again. -ENOMEM, or as of write().
 */
int gather_save(const struct gather *g, int dir_fd, const char *name);
int gather_load(struct gather *g, int dir_fd, const char *name);

struct gather_counts {
	uint64_t written, unreadable, slots_freed, files_removed;
};
struct gather_counts gather_counts(const struct gather *g);

#endif
