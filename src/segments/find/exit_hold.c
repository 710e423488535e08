/* exit_hold.c - processes that wait at exit until they have been read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/dead.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kit/os/clock.h"

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
