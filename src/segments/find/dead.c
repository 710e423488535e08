/* dead.c - finds the segment of a process that has ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/dead.h"

#include <linux/futex.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "host/memory/foreign_ask.h"
#include "kit/os/clock.h"

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

/* ---- exit_hold: processes that wait at exit until they have been read ---- */

struct exit_wait {
	int fd;
	/* an address for the kernel's futex; never accessed here */
	char *block;
};

static int open_block(int dir, const char *segment, struct exit_wait *w)
{
	char name[NAME_MAX + 8];
	uint64_t magic = 0;
	struct stat st, of;
	void *p;

	(void)snprintf(name, sizeof(name), "%s.ctl", segment);
	w->fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (w->fd < 0)
		return -errno;
	if (fstatat(dir, segment, &of, AT_SYMLINK_NOFOLLOW) < 0 || fstat(w->fd, &st) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_uid != of.st_uid ||
	    pread(w->fd, &magic, sizeof(magic), 0) != sizeof(magic) || magic != SEG_CTL_MAGIC)
		return -ENODATA;
	p = mmap(NULL, SEG_CTL_BYTES, PROT_READ, MAP_SHARED, w->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	w->block = p;
	return 0;
}

int exit_hold_open(int dir, const char *segment, struct exit_wait **ret)
{
	struct exit_wait *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return err;
	w->fd = -1;
	err = open_block(dir, segment, w);
	if (err == 0)
		*ret = w;
	else
		exit_hold_close(w);
	return err;
}

static int put(struct exit_wait *w, size_t offset, const void *value, size_t bytes)
{
	ssize_t n = pwrite(w->fd, value, bytes, (off_t)offset);

	return n == (ssize_t)bytes ? 0 : n < 0 ? -errno : -EIO;
}

int exit_hold_beat(struct exit_wait *w)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return put(w, offsetof(struct ctl_block, heartbeat), &now, sizeof(now));
}

bool exit_hold_is_on(const struct seg_header *h)
{
	return h->exit_state == SEG_EXIT_WAITS;
}

int exit_hold_end(struct exit_wait *w, const struct seg_header *h)
{
	size_t offset = h->slot_index >= SEG_SLOTS
	    ? offsetof(struct ctl_block, command)
	    : offsetof(struct ctl_block, slot_command) + h->slot_index * sizeof(uint32_t);
	uint32_t answer = seg_exit_answer(h->uuid);
	int err = put(w, offset, &answer, sizeof(answer));

	/* a file that has been cut short is EFAULT here, not SIGBUS */
	if (err == 0 &&
	    syscall(SYS_futex, w->block + offset, FUTEX_WAKE, INT_MAX, NULL, NULL, 0) < 0)
		err = -errno;
	return err;
}

void exit_hold_close(struct exit_wait *w)
{
	if (!w)
		return;
	if (w->block)
		(void)munmap(w->block, SEG_CTL_BYTES);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}
