/* logfile.c - the log file beside a segment: opens it, and finds a pool in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/read/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/seg_log.h"

enum { CTL_CHILDREN = 4096 };

int logfile_open(int dir, const char *name, const char *end, int flags)
{
	char path[NAME_MAX + 16];
	struct stat st;
	int fd, err;

	(void)snprintf(path, sizeof(path), "%s.log%s", name, end);
	fd = openat(dir, path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (err == 0)
		return fd;
	(void)close(fd);
	return err;
}

int logfile_read(int fd, uint64_t at, void *to, size_t bytes)
{
	ssize_t n = pread(fd, to, bytes, (off_t)at);

	if (n < 0)
		return -errno;
	return (size_t)n == bytes ? 0 : -EBADMSG;
}

int logfile_find_pool(int fd, uint32_t pool, uint64_t *ret_offset, uint64_t *ret_control)
{
	struct log_head first;
	int err;

	*ret_offset = *ret_control = 0;
	if (pool == 0)
		return 0;
	err = logfile_read(fd, 0, &first, sizeof(first));
	if (err < 0)
		return err;
	if (first.magic != LOG_MAGIC || pool > first.child_count || first.child_count > 65536 ||
	    first.child_bytes > (uint64_t)1 << 32 || first.child_bytes < LOG_HEAD_BYTES ||
	    first.child_offset > (uint64_t)1 << 40)
		return -EBADMSG;
	*ret_offset = first.child_offset + (pool - 1) * first.child_bytes;
	*ret_control =
	    CTL_CHILDREN + (pool - 1) * ((first.child_bytes - LOG_HEAD_BYTES) / LOG_CHUNK_BYTES);
	return 0;
}
