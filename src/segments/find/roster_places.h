/* roster_places.h - the directories with segments, and what is new in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROSTER_PLACES_H
#define SEEP_ROSTER_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
