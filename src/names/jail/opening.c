/* opening.c - opens one file safely: the work of the opener's process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail/opener.h"

#include <elf.h>

#include "names/dwarf/objfile.h"
#include "kit/os/infile.h"

#define PROC "/proc/"

/* Opens a path below another process's root as that process sees it. */
static int find_in_root(const struct opening_question *q, int flags)
{
	char root[OPENER_PATH_BYTES];

	memcpy(root, q->path, q->root_bytes);
	root[q->root_bytes] = '\0';
	return infile_find_in_root(root, q->path + q->root_bytes, flags);
}

/* A descriptor that only refers to the file (O_PATH). */
static int find(const struct opening_question *q)
{
	int flags = q->kind == OPENER_MAP ? O_NOFOLLOW : 0;
	int fd = -ENOSYS;

	if (q->root_bytes > 0 && strncmp(q->path, PROC, strlen(PROC)) == 0)
		fd = find_in_root(q, flags);
	if (fd != -ENOSYS) /* before Linux 5.6 */
		return fd;
	fd = open(q->path, O_PATH | O_CLOEXEC | flags);
	return fd < 0 ? -errno : fd;
}

static uint64_t in_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

static void describe(const struct stat *st, struct opener_file *to)
{
	to->device = st->st_dev;
	to->inode = st->st_ino;
	to->size = (uint64_t)st->st_size;
	to->modified_ns = in_ns(&st->st_mtim);
	to->changed_ns = in_ns(&st->st_ctim);
	to->owner = st->st_uid;
	to->mode = st->st_mode;
}

/* Opens the same file for reading. */
static int reopen(int named, const struct opening_question *q, const struct stat *st)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char link[32];
	struct stat now;
	int fd;

	(void)snprintf(link, sizeof(link), PROC "self/fd/%d", named);
	fd = open(link, flags);
	if (fd < 0 && errno == ENOENT) /* there is no /proc */
		fd = open(q->path, flags | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &now) < 0 || now.st_dev != st->st_dev || now.st_ino != st->st_ino ||
	    !S_ISREG(now.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

/* 0, or -ENOEXEC: files that are not ELF never leave this process. */
static int read_headers(int fd, struct opener_file *to)
{
	char magic[SELFMAG];
	int n;

	if (pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
	    memcmp(magic, ELFMAG, sizeof(magic)) != 0)
		return -ENOEXEC;
	n = buildid_find(fd, to->id);
	to->id_bytes = n > 0 ? (size_t)n : 0;
	return 0;
}

static int open_regular(
    int named, const struct opening_question *q, struct opener_file *to, int *ret_fd)
{
	struct stat st;
	int fd, err = 0;

	if (fstat(named, &st) < 0)
		return -errno;
	describe(&st, to);
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (q->kind == OPENER_THERE)
		return 0;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (q->check_owner && !opener_may_choose(q->chooser, st.st_uid))
		return -EPERM;
	fd = reopen(named, q, &st);
	if (fd < 0)
		return fd;
	if (q->kind == OPENER_ELF)
		err = read_headers(fd, to);
	if (err == 0 && q->wants_fd)
		*ret_fd = fd;
	else
		close(fd);
	return err;
}

void opening_do(const struct opening_question *q, struct opening_reply *ret, int *ret_fd)
{
	int named;

	*ret_fd = -1;
	memset(ret, 0, sizeof(*ret));
	if (q->root_bytes >= strlen(q->path)) {
		ret->err = -ENOENT;
		return;
	}
	named = find(q);
	ret->err = named < 0 ? named : open_regular(named, q, &ret->file, ret_fd);
	if (named >= 0)
		close(named);
}
