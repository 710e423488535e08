/* store.h - the directory of a history, which one watch writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_STORE_H
#define SEEP_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kit/os/fault.h"

/* What a history is allowed to be; set before store_open(). */
struct store_plan {
	const char *path; /* NULL: the default */
	bool has_group;   /* who may read it beside us */
	gid_t group;
	uint64_t size_bytes; /* of one service */
	uint64_t keep_ns;
};

struct store {
	struct store_plan plan;
	char path[PATH_MAX]; /* absolute */
	int fd, lock_fd;
};

/*
 * Makes the directory, if it is missing, checks that it is ours and that nobody
 * else may write it, and locks it. -EBUSY: another watch writes it; -EPERM: of
 * another owner, or not closed; -ENOTSUP: of another version; -ENOTEMPTY: it
 * has files but is no history; or a negative errno. Nothing is held then.
 */
int store_open(struct store *s, const struct store_plan *plan, struct fault *where);

/* Unlocks. */
void store_release(struct store *s);

/*
 * Makes the folder of a service, or a folder in that, and gives its path.
 * Negative errno; -EPERM: something else is there.
 */
int store_folder(const struct store *s, const char *name, char path[PATH_MAX]);

/* A file of ours becomes readable for the group, if there is one. */
int store_share(const struct store *s, int fd);

/* Calls `each` with the name of every folder. */
void store_each(
    const struct store *s, void (*each)(void *context, const char *name), void *context);

/*
 * Removes the oldest chapters of a service until the rest, with `more` bytes to
 * come, fits its size, and those that ended before `now_ns` (since 1970; 0: not
 * known, so none) less the time to keep. The chapter that is being written stays.
 */
void store_thin(const struct store *s, const char *folder, uint64_t now_ns, uint64_t more);

#endif
