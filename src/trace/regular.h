/* regular.h - opens a regular file, and nothing else even for a moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRACE_REGULAR_H
#define SEEP_TRACE_REGULAR_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * To open a device may do something: /dev/ptmx makes a terminal, a watchdog
 * begins to count. So a descriptor that opens nothing looks first, and what it
 * found is opened then. `dir` as in openat(); returns a descriptor for reading,
 * and the file's status; -EISDIR, -EINVAL: another kind of file; or as open().
 */
static inline int
regular_open(int dir, const char *path, struct stat *ret)
{
	int place = openat(dir, path, O_PATH | O_CLOEXEC), fd = -1, err = 0;
	struct stat st;
	char self[64];

	if (place < 0)
		return -errno;
	if (fstat(place, ret) < 0)
		err = -errno;
	else if (!S_ISREG(ret->st_mode))
		err = S_ISDIR(ret->st_mode) ? -EISDIR : -EINVAL;
	if (err == 0) {
		(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
		fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		/* without /proc: by its name; another file there is noticed */
		if (fd < 0 && errno == ENOENT)
			fd = openat(dir, path,
			    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			err = -errno;
	}
	(void)close(place);
	if (err == 0 &&
	    (fstat(fd, &st) < 0 || st.st_dev != ret->st_dev ||
	        st.st_ino != ret->st_ino)) {
		(void)close(fd);
		err = -ESTALE;
	}
	return err < 0 ? err : fd;
}

#endif
