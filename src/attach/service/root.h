/* root.h - files below another root directory, which cannot lead out of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROOT_H
#define SEEP_ROOT_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Opens `path` as a process would whose root directory is `root`: links in an
 * image lead to files of the image. NULL: our own root. O_CLOEXEC is added.
 * Returns a descriptor or a negative errno; -ENOSYS: the kernel is older than
 * Linux 5.6, and there is a root.
 */
int root_open(const char *root, const char *path, int flags);

/*
 * The contents of a regular file, NUL terminated, up to `max` bytes; the caller
 * frees it. -EFBIG: longer; -EINVAL: no regular file, or it contains a NUL.
 */
int root_read(const char *root, const char *path, size_t max, char **ret);

/* The same for an open descriptor, which it closes. */
int root_read_fd(int fd, size_t max, char **ret);

/* What a link says, at most bytes - 1. -EINVAL: it is no link. */
int root_link(const char *root, const char *path, char *to, size_t bytes);

#endif
