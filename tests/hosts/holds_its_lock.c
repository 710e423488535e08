/* holds_its_lock.c - holds the lock of its memory map for ever: whoever reads its maps or its environment waits. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: holds_its_lock DIRECTORY
 * mmap() waits for a file system that does not answer, with the write lock of
 * the memory map. DIRECTORY is for the mount, in a mount namespace of our own.
 * Needs root; runs as nobody once all is set up. Prints "ready PID": end that
 * process first, because this one waits beyond SIGKILL. Ends after a minute.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../lib/fuse_mount.h"

enum { PAGE = 4096, BYTES = 16 * PAGE };

static int fuse, opened;

static void say_ready(pid_t first)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "ready %d\n", (int)first);

	(void)!write(1, line, (size_t)n);
}

/* ---- a file system that reads, and never answers a write ---- */

static void answer_one(const struct fuse_in_header *in)
{
	static const char zeros[BYTES];
	struct fuse_open_out file = {.fh = 1};
	const struct fuse_read_in *read_in = (const void *)(in + 1);

	switch (in->opcode) {
	case FUSE_OPEN: /* the second one goes around the page cache */
		file.open_flags = opened++ ? FOPEN_DIRECT_IO : FOPEN_KEEP_CACHE;
		fuse_mount_answer(fuse, in->unique, 0, &file, sizeof(file));
		break;
	case FUSE_READ:
		fuse_mount_answer(
		    fuse, in->unique, 0, zeros, read_in->size < BYTES ? read_in->size : BYTES);
		break;
	case FUSE_WRITE:
		usleep(100000);
		say_ready(getpid());
		break;
	default:
		fuse_mount_answer_usual(fuse, in, BYTES);
	}
}

static void serve(void)
{
	static char text[FUSE_MOUNT_REQUEST];

	(void)alarm(60);
	while (read(fuse, text, sizeof(text)) > 0)
		answer_one((const void *)text);
	_exit(0);
}

static void hold_maps(const char *directory)
{
	int cached, direct;
	char *page;

	fuse = fuse_mount(directory);
	if (fork() == 0)
		serve();
	close(fuse);
	cached = fuse_mount_open(directory);
	direct = fuse_mount_open(directory);
	fuse_mount_drop();
	(void)prctl(PR_SET_DUMPABLE, 1);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, cached, 0);
	if (page == MAP_FAILED)
		fuse_mount_fail("mmap");
	*page = 1;
	/* the kernel writes the changed page back first, under the lock */
	(void)mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, direct, 0);
	fuse_mount_fail("mmap came back");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	(void)alarm(60);
	free(malloc(100));
	hold_maps(argv[1]);
}
