/* chapters.h - a folder of chapters becomes one session. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHAPTERS_H
#define SEEP_CHAPTERS_H

#include "kit/os/listing.h"
#include "session/load/session.h"

/* Is one of the names that of a chapter (recording/file/chapter_name.h)? */
bool chapters_are_in(const struct listing_names *names);
bool chapters_has(const char *name);

/* The chapters among the names, by number; the texts stay with `names`. */
struct chapters_order {
	const char **list; /* for free() */
	size_t count;
};
int chapters_sort(const struct listing_names *names, struct chapters_order *ret);

/*
 * Reads the chapters among the names in `folder`, in the order of their
 * numbers, as if one recording had been made. Counters go on from chapter to
 * chapter, so those of a process are what the last chapter has that knows it. A
 * process is the same if uuid, owner, pid and start are. The time line begins
 * with the first chapter that can be read; where nobody watched, it has a gap.
 * A chapter that cannot be read, or belongs to somebody else than the folder,
 * becomes a note. -ENOMEM.
 */
int chapters_load(
    struct session *s, const char *folder, const struct listing_names *names, struct fault *where);

#endif
