/* source.h - reads bytes of a file that may change, or of memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SOURCE_H
#define SEEP_SOURCE_H

#include <stddef.h>
#include <stdint.h>

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

#endif
