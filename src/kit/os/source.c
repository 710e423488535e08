/* source.c - reads bytes of a file that may change, or of memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/infile.h"

void source_init(const struct stat *st, int fd, struct source *ret)
{
	*ret = (struct source){
	    .fd = fd,
	    .size = (uint64_t)st->st_size,
	    .device = st->st_dev,
	    .inode = st->st_ino,
	    .stored_bytes = (uint64_t)st->st_blocks * 512,
	    .mtime_s = st->st_mtime,
	    .uid = st->st_uid,
	};
}

static int source_take(int dir, const char *path, bool is_given, struct source *ret)
{
	struct stat st = {0};
	int fd;

	fd = is_given ? infile_open(AT_FDCWD, path) : infile_open_entry(dir, path);
	if (fd >= 0 && fstat(fd, &st) < 0) {
		(void)close(fd);
		fd = -EIO;
	}
	if (fd < 0)
		return fd;
	source_init(&st, fd, ret);
	return 0;
}

int source_open(int dir, const char *path, struct source *ret)
{
	return source_take(dir, path, dir == AT_FDCWD, ret);
}

int source_open_entry(const char *path, struct source *ret)
{
	return source_take(AT_FDCWD, path, false, ret);
}

void source_memory(const void *bytes, size_t len, struct source *ret)
{
	*ret = (struct source){.fd = -1, .bytes = bytes, .size = len};
}

void source_release(struct source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct source){.fd = -1};
}

int source_read(const struct source *s, uint64_t offset, void *buffer, size_t len)
{
	uint8_t *to = buffer;

	if (offset > s->size || len > s->size - offset)
		return -EBADMSG;
	if (s->fd < 0) {
		if (len > 0)
			memcpy(to, s->bytes + offset, len);
		return 0;
	}
	while (len > 0) {
		ssize_t n = pread(s->fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG; /* the file has become shorter */
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}
