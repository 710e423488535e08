/* foreign_file.h - files at paths that a foreign process has chosen. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOREIGN_FILE_H
#define SEEP_FOREIGN_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kit/os/source.h"

/*
 * A path below /proc/PID/root, or a link in /proc/PID/map_files, may lead to a
 * file system that never answers: FUSE, or a network. Looking it up, opening,
 * reading and even closing can hang beyond SIGKILL. So the helper of
 * foreign_ask.h opens it, with a deadline, unless the process is our own. It
 * gives only files on file systems on which collectors write, and where the
 * kernel always answers; all others are -EREMOTE.
 *
 * pid: who has chosen the path; 0: our own user.
 */

/*
 * As source_open(). -ETIMEDOUT: no answer in time, now or before; -EIO: no
 * helper.
 */
int foreign_file_open(pid_t pid, const char *path, struct source *ret);

/* The same for reading and writing; a link is -ELOOP. */
int foreign_file_open_to_write(pid_t pid, const char *path, int *ret_fd);

/*
 * The names in a directory that end in ".seg", each with its NUL, for free().
 * At most 4,096 of another user's process.
 */
int foreign_file_list(pid_t pid, const char *directory, char **ret, size_t *ret_len);

#endif
