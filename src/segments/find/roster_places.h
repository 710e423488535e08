/* roster_places.h - the directories with segments, and what is new in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROSTER_PLACES_H
#define SEEP_ROSTER_PLACES_H

#include "base/std.h"

/*
 * Directories are held by their descriptors, so that a path which leads
 * elsewhere by now changes nothing. inotify says that something has happened in
 * one; then all of it is listed again, so that no event is ever missed, also if
 * the kernel's queue has overflowed. A directory that is not there yet, or is
 * replaced by another one, is found by the next look.
 *
 * In /dev/shm the directories seep-UID of that very user are taken, of root those
 * of all users; under /run/seep all of them.
 */
struct roster_places;

struct roster_place {
	uint64_t number; /* never used again */
	char *path;
	int fd;
	uint64_t device, inode;
};

struct roster_visitor {
	void *context;
	/* A file NAME.seg in the directory; others are not shown. -ENOMEM. */
	int (*file)(void *context, const struct roster_place *at, const char *name, uint64_t inode);
	/* All files of the place have been shown; none: it is gone. */
	void (*all)(void *context, const struct roster_place *at);
};

/*
 * `directories` ends with NULL; NULL itself: all that belong to us, or to anybody
 * for root. -ENOMEM.
 */
int roster_places_new(const char *const *directories, struct roster_places **ret);
void roster_places_free(struct roster_places *p);

/* Readable when something has changed; -1: the kernel gave none. */
int roster_places_fd(const struct roster_places *p);

/* Shows the files of all directories that have changed. -ENOMEM. */
int roster_places_look(struct roster_places *p, const struct roster_visitor *v);

/* The place with this number; NULL: it is gone. */
const struct roster_place *roster_places_find(const struct roster_places *p, uint64_t number);

/* Files and directories that there was no room for. */
uint64_t roster_places_refused(const struct roster_places *p);

/* ---- roster_newcomers: processes of the machine that were not seen before ---- */

/*
 * A process in another mount namespace, or with a SEEP_DIR of its own, has its
 * segment where we do not look. Its memory map tells. That costs, so the map of
 * each process (pid and start) is read twice: when it is 1 s old, by when a
 * collector has started, and when it is 10 s old, by when most services have
 * become the program that they are.
 */
struct roster_newcomers;

struct roster_newcomers *roster_newcomers_new(void); /* NULL: no memory */
void roster_newcomers_free(struct roster_newcomers *n);

/* Called for a process that maps a segment. -ENOMEM ends the look. */
typedef int roster_newcomer(void *context, pid_t pid);

/* Need the map of this process not be read, because it is known already? */
typedef bool roster_is_known(void *context, pid_t pid);

/*
 * Looks at the maps of those that are due, for at most `budget_ns`; the others are due at
 * the next call. -ENOMEM.
 */
int roster_newcomers_look(struct roster_newcomers *n, uint64_t budget_ns, roster_is_known *is_known,
    roster_newcomer *each, void *context);

/*
 * The process of a pid namespace below ours that has this pid there, maps the
 * file, and may have written the header: the youngest one. 0: there is none;
 * *ret_hidden: one may be, but its map cannot be read. /proc is listed again if
 * the list is older than `since_ns` of CLOCK_MONOTONIC.
 */
struct seg_header;
struct source;
pid_t roster_newcomers_search(struct roster_newcomers *n, const struct seg_header *h,
    const struct source *file, uint64_t since_ns, bool *ret_hidden);

/* It is another program now: its map is read again. */
void roster_newcomers_again(struct roster_newcomers *n, pid_t pid);

#endif
