/* infile.h - opens files for reading, without side effects. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INFILE_H
#define SEEP_INFILE_H

/*
 * Opens a regular file for reading. It is checked before it is opened, because
 * opening a device can have effects and opening a FIFO can block. `dir` as for
 * openat(). -EISDIR: a directory; -EINVAL: anything else that is no regular
 * file; or an error of openat().
 */
int infile_open(int dir, const char *path);

/* The same, but a symbolic link gives -ELOOP. */
int infile_open_nofollow(int dir, const char *path);

/*
 * The same for a name that was found in a directory and not given by the user.
 * A symbolic link is followed only if it belongs to root or to us; other links
 * give -ELOOP, because other users could otherwise choose which file we read
 * and wait for.
 */
int infile_open_entry(int dir, const char *name);

/*
 * Opens a text that the user names: a regular file, /dev/null, or a descriptor
 * that is already open (/dev/stdin, /dev/fd/63 of <(...)). A FIFO with a name
 * gives -EINVAL.
 */
int infile_open_text(const char *path);

/*
 * The object at `path` as a process sees it whose root directory is `root`: no
 * link leads out of it. The first form gives a descriptor that only refers to
 * it (O_PATH; `flags` may be O_NOFOLLOW), the second is infile_open(). -ENOSYS:
 * not before Linux 5.6.
 */
int infile_find_in_root(const char *root, const char *path, int flags);
int infile_open_in_root(const char *root, const char *path);

/* The descriptor that a name such as "/dev/fd/63" refers to, or -1. */
int infile_descriptor(const char *path);

#endif
