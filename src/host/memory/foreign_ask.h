/* foreign_ask.h - requests to the helper that opens files of foreign processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOREIGN_ASK_H
#define SEEP_FOREIGN_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * One helper serves all requests as long as it answers in time. It has our
 * rights, and opens and reads what this process must not: a file of /proc/PID
 * takes a lock of the process, and a path below /proc/PID/root may lead to a
 * file system that never answers.
 *
 * A process that misses the deadline of 2 s is not asked again for 30 s. All
 * such processes together may cost 2 s and a tenth of the run; beyond that each
 * of them costs 10 ms.
 */
enum foreign_kind {
	FOREIGN_TEXT,   /* a file of /proc/PID, in `path` */
	FOREIGN_LIST,   /* names of segments in a directory, each with NUL */
	FOREIGN_ROOT,   /* procfs_walk_root(), without NUL */
	FOREIGN_FOLDER, /* struct foreign_folder */
	FOREIGN_OPEN,   /* a regular file, see foreign_ask_file() */
	FOREIGN_WRITE,  /* the same for reading and writing, no link */
};

enum { FOREIGN_PATH_BYTES = 4096 + 8 };

struct foreign_request {
	uint32_t kind;
	pid_t pid;  /* the file's owner, or the user who chose the path */
	uid_t user; /* of FOREIGN_FOLDER */
	char path[FOREIGN_PATH_BYTES];
};

struct foreign_folder {
	uint32_t state; /* enum folder_state */
	uid_t owner;
};

/*
 * Does the process belong to us alone? Then nobody else decides what it does,
 * and this process reads it directly. A set-user-ID program that another user
 * has started has that user's real user id.
 */
bool foreign_text_is_mine(pid_t pid);

/*
 * An answer of bytes, NUL terminated; the caller frees it. -ETIMEDOUT, -EIO,
 * -ENOMEM, -EFBIG; or the error that the helper met.
 */
int foreign_ask(const struct foreign_request *r, char **ret, size_t *ret_len);

/*
 * A descriptor. -EREMOTE: the file is not on one of the file systems on which
 * collectors write and where the kernel always answers.
 */
int foreign_ask_file(const struct foreign_request *r, struct stat *ret_stat, int *ret_fd);

#endif
