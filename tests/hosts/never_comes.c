/* never_comes.c - its live map leads into memory whose pages never come: who reads it must not wait for them. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Isrc */
/*
 * usage: never_comes fuse|userfault root|mid|leaf|spill|race DIRECTORY
 * race: the page is there when one asks, and mostly gone when one reads. The
 * DIRECTORY is for the mount of fuse, in a mount namespace of our own. Needs
 * root. Runs as root, or as nobody once all is set up, until it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/own_segment.h"

enum { BYTES = 1 << 20, NOBODY = 65534 };

static int fuse, file;

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
}

/* ---- a file system with one file, of which no page can be read ---- */

static void
answer(uint64_t unique, int error, const void *body, size_t bytes)
{
	char text[4096];
	struct fuse_out_header head = {.unique = unique,
	    .error = error,
	    .len = (uint32_t)(sizeof(head) + bytes)};

	memcpy(text, &head, sizeof(head));
	if (bytes)
		memcpy(text + sizeof(head), body, bytes);
	(void)!write(fuse, text, head.len);
}

/*
 * In a process of its own, which dies with the host: the host's own exit closes
 * the file and waits for an answer.
 */
static void
serve(void)
{
	static char text[1 << 18];
	const struct fuse_in_header *in = (const void *)text;

	drop();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fuse, text, sizeof(text)) > 0) {
		struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION,
		    .minor = FUSE_KERNEL_MINOR_VERSION,
		    .max_write = 4096};
		struct fuse_attr attr = {.ino = in->nodeid,
		    .mode = in->nodeid == 1 ? 040777 : 0100666,
		    .nlink = 1,
		    .size = in->nodeid == 1 ? 0 : BYTES};
		struct fuse_attr_out attrs = {.attr_valid = 1000, .attr = attr};
		struct fuse_entry_out entry = {.nodeid = 2,
		    .entry_valid = 1000,
		    .attr_valid = 1000,
		    .attr = {
		        .ino = 2, .mode = 0100666, .nlink = 1, .size = BYTES}};
		struct fuse_open_out opened = {.fh = 1};

		if (in->opcode == FUSE_INIT)
			answer(in->unique, 0, &init, sizeof(init));
		else if (in->opcode == FUSE_GETATTR)
			answer(in->unique, 0, &attrs, sizeof(attrs));
		else if (in->opcode == FUSE_LOOKUP)
			answer(in->unique, 0, &entry, sizeof(entry));
		else if (in->opcode == FUSE_OPEN)
			answer(in->unique, 0, &opened, sizeof(opened));
		else if (in->opcode == FUSE_READ)
			fprintf(stderr, "a page is waited for\n");
		else if (in->opcode != FUSE_FORGET &&
		    in->opcode != FUSE_INTERRUPT &&
		    in->opcode != FUSE_BATCH_FORGET)
			answer(in->unique, -ENOSYS, NULL, 0);
	}
	_exit(0);
}

static void
mount_fuse(const char *directory)
{
	char text[4096];

	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		fail("/dev/fuse");
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		fail("unshare");
	snprintf(text, sizeof(text),
	    "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (mount("never", directory, "fuse", MS_NOSUID | MS_NODEV, text) < 0)
		fail("mount");
	if (fork() == 0)
		serve();
	close(fuse);
	snprintf(text, sizeof(text), "%s/file", directory);
	file = open(text, O_RDWR | O_CLOEXEC);
	if (file < 0)
		fail(text);
}

static void *
map_fuse(void *at)
{
	void *p = mmap(at, BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | (at ? MAP_FIXED : 0), file, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

/* ---- memory whose faults nobody answers ---- */

static void *
map_userfault(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register all = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0)
		fail("userfaultfd");
	all.range.start = (unsigned long)p;
	all.range.len = BYTES;
	if (ioctl(fd, UFFDIO_API, &api) < 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &all) < 0)
		fail("register");
	return p;
}

/* ---- the forged live map ---- */

static void *
table(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

/* A map of one leaf, of which a part is replaced by what never comes. */
static void
forge(struct seg_header *h, const char *where, void *never)
{
	uint64_t *root = table(sizeof(uint64_t) << 12);
	uint64_t *mid = table(sizeof(uint64_t) << 15);
	uint64_t *spill = table(4096);
	uint64_t address = (uint64_t)never;

	root[1] = (uint64_t)mid;
	mid[1] =
	    strcmp(where, "leaf") == 0 ? address : (uint64_t)table(1 << 20);
	if (strcmp(where, "mid") == 0)
		root[1] = address;
	if (strcmp(where, "spill") == 0)
		spill[0] = address;
	h->spill_root = (uint64_t)spill;
	h->live_root = strcmp(where, "root") == 0 || strcmp(where, "race") == 0
	    ? address
	    : (uint64_t)root;
}

/*
 * Memory that is there, then the file, and so on. It is moved there and back,
 * so that there is never nothing.
 */
static void
take_turns(char *at)
{
	char *there = table(BYTES), *file_pages = at;

	memset(there, 0, BYTES);
	for (;;) {
		char *spare = table(BYTES);

		/* what stands at `at` is replaced at once */
		if (mremap(there, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
		        at) != at)
			fail("mremap");
		for (volatile int i = 0; i < 3000; i++)
			;
		memset(spare, 0, 8 * 4096);
		there = spare;
		(void)map_fuse(file_pages);
		for (volatile int i = 0; i < 3000; i++)
			;
	}
}

int
main(int argc, char **argv)
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
	drop();
	(void)prctl(PR_SET_DUMPABLE, 1);
	printf("ready\n");
	fflush(stdout);
	if (strcmp(argv[2], "race") == 0)
		take_turns(never);
	for (;;)
		pause();
}
