/* cause.c - the end of a process, and its cause, from a descriptor of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/cause.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* PIDFD_GET_INFO of Linux 6.13, and its exit code of 6.15; headers lack them. */
struct cause_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t pid, process, parent;
	uint32_t ids[8];
	int32_t status;
};
_Static_assert(sizeof(struct cause_info) == 64, "PIDFD_INFO_SIZE_VER0");

#define CAUSE_GET_INFO _IOWR(0xff, 11, struct cause_info)
enum { CAUSE_EXIT = 1 << 3 };

int cause_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0); /* it is close-on-exec */

	return fd < 0 ? -errno : (int)fd;
}

int cause_status(int pidfd, int *ret_status)
{
	struct cause_info info = {.mask = CAUSE_EXIT};

	if (ioctl(pidfd, CAUSE_GET_INFO, &info) < 0)
		/* without the bit of 6.15 only a living process has answers */
		return errno == ESRCH ? -EAGAIN : -ENOTSUP;
	if (!(info.mask & CAUSE_EXIT))
		return -EAGAIN;
	*ret_status = info.status;
	return 0;
}
