/* infile.h - opens what is to be read, and touches nothing else. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRACE_INFILE_H
#define SEEP_TRACE_INFILE_H

/*
 * Opens a regular file for reading. It is checked before it is opened, because
 * opening a device can have effects and opening a FIFO can block. `dir` as of
 * openat(). -EISDIR: a directory, -EINVAL: anything else; or as openat() says.
 */
int infile_open(int dir, const char *path);

/* The same, and a symbolic link is -ELOOP. */
int infile_open_nofollow(int dir, const char *path);

/*
 * The same for a name that was found in a directory, not given by the user: a
 * symbolic link is followed only if it belongs to root or to us, else it is
 * -ELOOP. Others could have us read what they like, and wait for it.
 */
int infile_open_entry(int dir, const char *name);

/*
 * A text that the user names: a regular file, /dev/null, or whatever is open
 * already: /dev/stdin, /dev/fd/63 of <(...). A FIFO with a name is -EINVAL.
 */
int infile_open_text(const char *path);

/*
 * The descriptor that a name such as "/dev/fd/63" refers to; -1: it is not such
 * a name.
 */
int infile_descriptor(const char *path);

#endif
