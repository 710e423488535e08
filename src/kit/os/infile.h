/* infile.h - files and directories as inputs, without side effects. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INFILE_H
#define SEEP_INFILE_H

#include "base/std.h"

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

/* ---- source: reads bytes of a file that may change, or of memory ---- */

/*
 * Files are read with pread() into private memory and never mapped. Reading a
 * hole of a tmpfs file through a mapping would allocate a page at the host's
 * expense, and a file that becomes shorter while it is mapped would raise
 * SIGBUS in this process.
 */
struct source {
	int fd;               /* -1: memory */
	const uint8_t *bytes; /* not owned */
	uint64_t size;        /* at the time of opening */
	uint64_t device, inode;
	uint64_t stored_bytes; /* blocks that the file occupies */
	int64_t mtime_s;
	uint32_t uid; /* the owner */
};

/*
 * Opens a regular file; anything else is not opened (-EINVAL). `dir` is
 * AT_FDCWD for a path that the user gave; otherwise the name was found in this
 * directory, and a link of another user gives -ELOOP (infile_open_entry()).
 * Negative errno; then nothing is held. The second form takes a path whose last
 * part was found in a directory.
 */
int source_open(int dir, const char *path, struct source *ret);
int source_open_entry(const char *path, struct source *ret);

/* Takes over the descriptor of a regular file. */
struct stat;
void source_init(const struct stat *st, int fd, struct source *ret);

/* uid + 1 of the owner of a file; 0: it is memory. */
static inline uint64_t source_owner(const struct source *s)
{
	return s->fd >= 0 ? (uint64_t)s->uid + 1 : 0;
}

/* The caller keeps the bytes alive. */
void source_memory(const void *bytes, size_t len, struct source *ret);

void source_release(struct source *s);

/* Reads exactly len bytes. -EBADMSG: the source ends before; -EIO. */
int source_read(const struct source *s, uint64_t offset, void *buffer, size_t len);

/* ---- listing: the names in a directory, sorted, up to LISTING_MAX of them ---- */

enum { LISTING_MAX = 65536 }; /* names kept */

struct listing_names {
	char **names; /* sorted */
	size_t count;
	uint64_t refused; /* wanted names beyond LISTING_MAX */
};

/*
 * Reads the directory behind a descriptor, which stays the caller's. If
 * `is_wanted` is NULL, all names are taken. `f` is for listing_release() in any
 * case. -ENOMEM, or as openat() says.
 */
int listing_read(int dir, bool (*is_wanted)(const char *name), struct listing_names *ret);
void listing_release(struct listing_names *f);

/* Is it a plain file, and of the owner of the directory? */
bool listing_is_own(int dir, const char *name);

/* ---- holes: does a file store the data that its tables claim, or holes? ---- */

/*
 * A file claims that `claimed` bytes are in its range [base, base + limit). Is
 * at least a part of that stored there? True for fd -1, which is memory. A hole
 * costs the author of the file nothing, and us memory and time. The tables of
 * the collector use at least every second page, so a factor of HOLES_FACTOR is
 * ample; claims below HOLES_FREE are not checked. On a file system without
 * holes everything is stored.
 */
enum { HOLES_FACTOR = 8, HOLES_FREE = 2 << 20 };

bool holes_allow(int fd, uint64_t base, uint64_t limit, uint64_t claimed);

/* ---- lock_holder: which process holds an flock() on a file ---- */

/*
 * The process that took the lock on this file, as /proc/locks says. 0: it
 * is not known, because there is no /proc, the process is in another pid
 * namespace, or the file system has a device number of its own for the file.
 * Use it for messages only.
 */
pid_t lock_holder_find(const struct stat *st);

#endif
