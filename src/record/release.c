/* release.c - gives back what a dead process has taken of the segment directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/release.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/segment_dir.h"

/*
 * The file is 0400: its owner may change that for a moment, root may write it
 * as it is. Where we are neither, it stays as it is: -EACCES.
 */
static int
open_writable(
    int dir_fd, const char *name, const struct source *source, bool of_others)
{
	int fd = openat(
	    dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	char self[32];
	struct stat st;
	int writable = -1;

	if (fd < 0)
		return -errno;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) == 0 && st.st_dev == source->device &&
	    st.st_ino == source->inode &&
	    (st.st_uid == geteuid() || (of_others && geteuid() == 0))) {
		writable = open(self, O_WRONLY | O_CLOEXEC);
		if (writable < 0 && st.st_uid == geteuid() &&
		    fchmod(fd, 0600) == 0) {
			writable = open(self, O_WRONLY | O_CLOEXEC);
			(void)fchmod(fd, 0400);
		}
	}
	close(fd);
	return writable < 0 ? -EACCES : writable;
}

/* First its pages, the header among them, then the byte that keeps others out. */
bool
release_slot(int dir_fd, const char *name, const struct segfile *f, int slot,
    bool of_others)
{
	static const uint8_t no[sizeof(struct seg_early)];
	bool early = segfile_is_early(f, slot), done;
	uint64_t base, limit;
	size_t bytes;
	off_t at = (off_t)segfile_taken_at(f, slot, &bytes);
	int fd;

	if (!early && segfile_window(f, slot, &base, &limit) < 0)
		return false;
	fd = open_writable(dir_fd, name, segfile_source(f), of_others);
	if (fd < 0)
		return false;
	/* without holes it would not come back empty: then it stays taken */
	done = early ||
	    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	        (off_t)base, (off_t)limit) == 0;
	done = done && pwrite(fd, no, bytes, at) == (ssize_t)bytes;
	close(fd);
	return done;
}

bool
release_file(int dir_fd, const char *name, uint64_t device, uint64_t inode)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_dev != device || st.st_ino != inode)
		return false;
	segment_dir_remove(dir_fd, name);
	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0;
}
