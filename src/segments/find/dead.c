/* dead.c - finds the segment of a process that has ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/dead.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "host/memory/foreign_ask.h"

/* The youngest segment of this pid in one file; NONE: there is none. */
enum { NONE = -2 };

static int find_slot(const struct segfile *f, pid_t pid, uint64_t *ret_start_ns)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	int found = NONE;

	segfile_taken(f, taken);
	for (int i = SEGFILE_OWN; i < segfile_slots(f); i++) {
		if ((i >= 0 && !taken[i]) || segfile_header(f, i, &h, NULL) < 0 ||
		    (pid_t)h.pid != pid || h.start_realtime_ns < *ret_start_ns)
			continue;
		*ret_start_ns = h.start_realtime_ns;
		found = i;
	}
	return found;
}

int dead_find(pid_t chooser, const char *directory, pid_t pid, struct dead *ret)
{
	char path[4096], *names = NULL;
	uint64_t start_ns = 0;
	size_t len = 0;

	ret->file = NULL;
	if (foreign_file_list(chooser, directory, &names, &len) < 0)
		len = 0;
	for (size_t at = 0; at < len; at += strlen(names + at) + 1) {
		const char *name = names + at;
		struct segfile *f;
		int slot;

		if (strlen(name) >= sizeof(ret->name) ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >=
		        sizeof(path) ||
		    segfile_open_of(chooser, path, &f, NULL) < 0)
			continue;
		slot = find_slot(f, pid, &start_ns);
		if (slot == NONE) {
			segfile_close(f);
			continue;
		}
		segfile_close(ret->file);
		ret->file = f;
		ret->slot = slot;
		(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	}
	free(names);
	return ret->file ? 0 : -ESRCH;
}

/* ---- cause: the end of a process, and its cause, from a descriptor of it ---- */

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
