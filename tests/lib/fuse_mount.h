/* fuse_mount.h - for hosts: a FUSE file system with one file, whose answers the host chooses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_FUSE_MOUNT_H
#define SEEP_TESTS_FUSE_MOUNT_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fuse.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum { FUSE_MOUNT_NOBODY = 65534, FUSE_MOUNT_REQUEST = 1 << 18 };

static inline void fuse_mount_fail(const char *what)
{
	perror(what);
	exit(77); /* a test takes this for "not possible here" */
}

/* From here on the process is nobody's, not root's. */
static inline void fuse_mount_drop(void)
{
	if (setgroups(0, NULL) || setgid(FUSE_MOUNT_NOBODY) || setuid(FUSE_MOUNT_NOBODY))
		fuse_mount_fail("setuid");
}

static inline void fuse_mount_answer(
    int fuse, uint64_t unique, int error, const void *body, size_t bytes)
{
	static char text[1 << 17];
	struct fuse_out_header head = {
	    .unique = unique, .error = error, .len = (uint32_t)(sizeof(head) + bytes)};

	memcpy(text, &head, sizeof(head));
	if (bytes)
		memcpy(text + sizeof(head), body, bytes);
	(void)!write(fuse, text, head.len);
}

/*
 * Answers the requests that need no thought: what the root (node 1) and its
 * only file (node 2, of this size) are. All others, but those that want no
 * answer, get -ENOSYS.
 */
static inline void fuse_mount_answer_usual(
    int fuse, const struct fuse_in_header *in, uint64_t file_bytes)
{
	struct fuse_init_out init = {
	    .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096};
	struct fuse_attr file = {.ino = 2, .mode = 0100666, .nlink = 1, .size = file_bytes};
	struct fuse_attr root = {.ino = 1, .mode = 040777, .nlink = 1};
	struct fuse_attr_out attrs = {.attr_valid = 1000, .attr = in->nodeid == 1 ? root : file};
	struct fuse_entry_out entry = {
	    .nodeid = 2, .entry_valid = 1000, .attr_valid = 1000, .attr = file};

	switch (in->opcode) {
	case FUSE_INIT:
		fuse_mount_answer(fuse, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		fuse_mount_answer(fuse, in->unique, 0, &attrs, sizeof(attrs));
		break;
	case FUSE_LOOKUP:
		fuse_mount_answer(fuse, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		fuse_mount_answer(fuse, in->unique, -ENOSYS, NULL, 0);
	}
}

/*
 * Mounts on `directory` in a mount namespace of its own, and returns the
 * descriptor by which a server gets requests. Needs root.
 */
static inline int fuse_mount(const char *directory)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char text[128];

	if (fuse < 0)
		fuse_mount_fail("/dev/fuse");
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		fuse_mount_fail("unshare");
	snprintf(text, sizeof(text), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (mount("test", directory, "fuse", MS_NOSUID | MS_NODEV, text) < 0)
		fuse_mount_fail("mount");
	return fuse;
}

/* Opens its only file. */
static inline int fuse_mount_open(const char *directory)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/file", directory);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fuse_mount_fail(path);
	return fd;
}

#endif
