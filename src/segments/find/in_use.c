/* in_use.c - does any process of this machine have a segment file mapped? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/in_use.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A lease is given back at once. If somebody opens the file to write in
 * between, we are sent a signal, which must be one that does nothing.
 */
static enum in_use ask_for_lease(int fd)
{
	enum in_use answer;

	if (fcntl(fd, F_SETSIG, SIGURG) < 0)
		return IN_USE_UNKNOWN;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
		answer = IN_USE_NO;
	else
		answer = errno == EAGAIN ? IN_USE_YES : IN_USE_UNKNOWN;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return answer;
}

enum in_use in_use_check(int dir, const char *name, uint64_t device, uint64_t inode)
{
	enum in_use answer = IN_USE_UNKNOWN;
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return IN_USE_UNKNOWN;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return IN_USE_UNKNOWN;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_dev != device || st.st_ino != inode)
		goto out;
	/*
	 * The file of a forked child may be taken by the next one, which must
	 * not wait for us. It is locked as long as it is mapped, so a lease is
	 * needed for the others only.
	 */
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		answer = errno == EWOULDBLOCK ? IN_USE_YES : IN_USE_UNKNOWN;
	else
		answer = ask_for_lease(fd);
out:
	(void)close(fd);
	return answer;
}
