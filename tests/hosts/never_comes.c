/* never_comes.c - its live map leads into memory whose pages never come: who reads it must not wait for them. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Isrc */
/*
 * usage: never_comes fuse|userfault root|mid|leaf|spill|race DIRECTORY
 * race: the page is there when one asks, and mostly gone when one reads. The
 * DIRECTORY is for the mount of fuse, in a mount namespace of our own. Needs
 * root. Runs as root, or as nobody once all is set up, until it is killed.
 */
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/fuse_mount.h"
#include "../lib/own_segment.h"

enum { BYTES = 1 << 20 };

static int file;

/* ---- a file system with one file, of which no page can be read ---- */

/*
 * In a process of its own, which dies with the host: the host's own exit closes
 * the file and waits for an answer.
 */
static void serve(int fuse)
{
	static char text[FUSE_MOUNT_REQUEST];
	const struct fuse_in_header *in = (const void *)text;
	const struct fuse_open_out opened = {.fh = 1};

	fuse_mount_drop();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fuse, text, sizeof(text)) > 0) {
		if (in->opcode == FUSE_OPEN)
			fuse_mount_answer(fuse, in->unique, 0, &opened, sizeof(opened));
		else if (in->opcode == FUSE_READ)
			fprintf(stderr, "a page is waited for\n");
		else
			fuse_mount_answer_usual(fuse, in, BYTES);
	}
	_exit(0);
}

static void mount_fuse(const char *directory)
{
	int fuse = fuse_mount(directory);

	if (fork() == 0)
		serve(fuse);
	close(fuse);
	file = fuse_mount_open(directory);
}

static void *map_fuse(void *at)
{
	void *p =
	    mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | (at ? MAP_FIXED : 0), file, 0);

	if (p == MAP_FAILED)
		fuse_mount_fail("mmap");
	return p;
}

/* ---- memory whose faults nobody answers ---- */

static void *map_userfault(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register all = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0)
		fuse_mount_fail("userfaultfd");
	all.range.start = (unsigned long)p;
	all.range.len = BYTES;
	if (ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &all) < 0)
		fuse_mount_fail("register");
	return p;
}

/* ---- the forged live map ---- */

static void *table(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fuse_mount_fail("mmap");
	return p;
}

/* A map of one leaf, of which a part is replaced by what never comes. */
static void forge(struct seg_header *h, const char *where, void *never)
{
	uint64_t *root = table(sizeof(uint64_t) << 12);
	uint64_t *mid = table(sizeof(uint64_t) << 15);
	uint64_t *spill = table(4096);
	uint64_t address = (uint64_t)never;

	root[1] = (uint64_t)mid;
	mid[1] = strcmp(where, "leaf") == 0 ? address : (uint64_t)table(1 << 20);
	if (strcmp(where, "mid") == 0)
		root[1] = address;
	if (strcmp(where, "spill") == 0)
		spill[0] = address;
	h->spill_root = (uint64_t)spill;
	h->live_root =
	    strcmp(where, "root") == 0 || strcmp(where, "race") == 0 ? address : (uint64_t)root;
}

/*
 * Memory that is there, then the file, and so on. It is moved there and back,
 * so that there is never nothing.
 */
static void take_turns(char *at)
{
	char *there = table(BYTES), *file_pages = at;

	memset(there, 0, BYTES);
	for (;;) {
		char *spare = table(BYTES);

		/* what stands at `at` is replaced at once */
		if (mremap(there, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at)
			fuse_mount_fail("mremap");
		for (volatile int i = 0; i < 3000; i++)
			;
		memset(spare, 0, 8 * 4096);
		there = spare;
		(void)map_fuse(file_pages);
		for (volatile int i = 0; i < 3000; i++)
			;
	}
}

int main(int argc, char **argv)
{
	struct seg_header *h = own_segment();
	void *never, *volatile block = malloc(100);

	if (argc < 4 || !block)
		return 2;
	if (strcmp(argv[1], "fuse") == 0) {
		mount_fuse(argv[3]);
		never = map_fuse(NULL);
	} else {
		never = map_userfault();
	}
	forge(h, argv[2], never);
	fuse_mount_drop();
	(void)prctl(PR_SET_DUMPABLE, 1);
	printf("ready\n");
	fflush(stdout);
	if (strcmp(argv[2], "race") == 0)
		take_turns(never);
	for (;;)
		pause();
}
