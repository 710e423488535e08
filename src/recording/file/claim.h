/* claim.h - says which file a recorder is about to write, and to which no other may. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLAIM_H
#define SEEP_CLAIM_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * A recording has no name before it contains something, and none is made for
 * a command that was not traced. So a second recorder for the same name would
 * learn of the first one when it has already run its command. A claim is a
 * locked file rec-HASH.ctl beside the segments, HASH standing for the directory
 * and the name of the recording; it ends with its recorder, whatever ends that.
 * Recorders that use different directories of segments do not see each other's.
 */
struct claim {
	int dir_fd;
	int fd;        /* locked; -1: there is none */
	char name[64]; /* in dir_fd */
};

/*
 * Claims `name` in the directory `folder_fd`; `segments_fd` must stay open as
 * long as the claim. -EBUSY: another recorder has claimed it, *ret_holder is its
 * pid, or 0 if that is not known. After other errors there is no claim, either.
 */
int claim_take(
    struct claim *c, int segments_fd, int folder_fd, const char *name, pid_t *ret_holder);

/* Also for a claim that was not taken. */
void claim_release(struct claim *c);

/*
 * Is another recorder writing the recording that has this path? Then its pid is
 * in *ret_holder, or 0 if that is not known.
 */
bool claim_is_written(const char *path, pid_t *ret_holder);

#endif
