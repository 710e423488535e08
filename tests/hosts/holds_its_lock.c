/* holds_its_lock.c - holds the lock of its memory map for ever: whoever reads its maps or its environment waits. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: holds_its_lock DIRECTORY
 * mmap() waits for a file system that does not answer, with the write lock of
 * the memory map. DIRECTORY is for the mount, in a mount namespace of our own.
 * Needs root; runs as nobody once all is set up. Prints "ready PID": end that
 * process first, because this one waits beyond SIGKILL. Ends after a minute.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PAGE = 4096, BYTES = 16 * PAGE, NOBODY = 65534 };

static int fuse, opened;

static void
fail(const char *what)
{
	perror(what);
	exit(77);
}

static void
drop(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		fail("setuid");
	(void)prctl(PR_SET_DUMPABLE, 1);
}

static void
say_ready(pid_t first)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "ready %d\n", (int)first);

	(void)!write(1, line, (size_t)n);
}

/* ---- a file system that reads, and never answers a write ---- */

static void
answer(uint64_t unique, int error, const void *body, size_t bytes)
{
	static char text[2 * BYTES];
	struct fuse_out_header head = {.unique = unique,
	    .error = error,
	    .len = (uint32_t)(sizeof(head) + bytes)};

	memcpy(text, &head, sizeof(head));
	if (bytes)
		memcpy(text + sizeof(head), body, bytes);
	(void)!write(fuse, text, head.len);
}

static void
answer_one(const struct fuse_in_header *in)
{
	static const char zeros[BYTES];
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
	    .minor = FUSE_KERNEL_MINOR_VERSION,
	    .max_write = PAGE};
	struct fuse_attr attr = {.ino = in->nodeid,
	    .mode = in->nodeid == 1 ? 040777 : 0100666,
	    .nlink = 1,
	    .size = in->nodeid == 1 ? 0 : BYTES};
	struct fuse_attr_out attrs = {.attr_valid = 1000, .attr = attr};
	struct fuse_entry_out entry = {.nodeid = 2,
	    .entry_valid = 1000,
	    .attr_valid = 1000,
	    .attr = {.ino = 2, .mode = 0100666, .nlink = 1, .size = BYTES}};
	struct fuse_open_out file = {.fh = 1};
	const struct fuse_read_in *read_in = (const void *)(in + 1);

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		answer(in->unique, 0, &attrs, sizeof(attrs));
		break;
	case FUSE_LOOKUP:
		answer(in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_OPEN: /* the second one goes around the page cache */
		file.open_flags = opened++ ? FOPEN_DIRECT_IO : FOPEN_KEEP_CACHE;
		answer(in->unique, 0, &file, sizeof(file));
		break;
	case FUSE_READ:
		answer(in->unique, 0, zeros,
		    read_in->size < BYTES ? read_in->size : BYTES);
		break;
	case FUSE_WRITE:
		usleep(100000);
		say_ready(getpid());
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(in->unique, -ENOSYS, NULL, 0);
	}
}

static void
serve(void)
{
	static char text[1 << 18];

	(void)alarm(60);
	while (read(fuse, text, sizeof(text)) > 0)
		answer_one((const void *)text);
	_exit(0);
}

static void
hold_maps(const char *directory)
{
	char text[4096];
	int cached, direct;
	char *page;

	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		fail("/dev/fuse");
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		fail("unshare");
	snprintf(text, sizeof(text),
	    "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (mount("held", directory, "fuse", MS_NOSUID | MS_NODEV, text) < 0)
		fail("mount");
	if (fork() == 0)
		serve();
	close(fuse);
	snprintf(text, sizeof(text), "%s/file", directory);
	cached = open(text, O_RDWR | O_CLOEXEC);
	direct = open(text, O_RDWR | O_CLOEXEC);
	if (cached < 0 || direct < 0)
		fail(text);
	drop();
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, cached, 0);
	if (page == MAP_FAILED)
		fail("mmap");
	*page = 1;
	/* the kernel writes the changed page back first, under the lock */
	(void)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, direct, 0);
	fail("mmap came back");
}

int
main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	(void)alarm(60);
	free(malloc(100));
	hold_maps(argv[1]);
}
