/* snapfile.c - the file of a snapshot: made, written, named when whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/snapshot/snapfile.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/segment/place.h"
#include "collector/segment/kernel.h"

enum {
	FILES_MAX = PLACE_FILES_MAX / 2, /* segments keep the other half */
	NAMES_MAX = 1000,  /* names that are tried, because other files may have them */
	NO_REPLACE = 1,    /* RENAME_NOREPLACE */
	BEGIN_BYTES = 100, /* of a name, as SEEP_SNAPSHOT_NAME has it */
	/* our descriptors; the kernel's table of them would grow with more */
	HIGH_NUMBER = 4000,
	HIGH_NUMBERS = 24, /* at the end, if the limit is lower */
};

static char directory[SNAPFILE_DIR_BYTES - 1]; /* empty: there is none */
static char host[sizeof(((struct utsname *)0)->nodename)];

void snapfile_start(void)
{
	const char *dir = config.snapshot_dir[0] ? config.snapshot_dir : place_dir();
	struct utsname u;
	struct fmt f;
	long n = 0;

	/* only if it was asked for, because a sandbox may not know this call */
	if (config.snapshot_name[0] && sys_call(SYS_uname, (long)&u, 0, 0, 0) == 0)
		fmt_copy(host, sizeof(host), u.nodename);
	if (dir[0] != '/') {
		n = sys_call(SYS_getcwd, (long)directory, (long)sizeof(directory) - 1, 0, 0);
		if (n <= 0 || directory[0] != '/') {
			directory[0] = 0; /* deleted, or outside of our root */
			return;
		}
		directory[n - 1] = '/';
	}
	fmt_init(&f, directory + n, sizeof(directory) - (size_t)n);
	fmt_string(&f, dir);
	if (!f.ok)
		directory[0] = 0;
}

/* What SEEP_SNAPSHOT_NAME says, before place_name_tame(). */
static void expand(struct fmt *f, uint64_t pid)
{
	const char *c;

	for (c = config.snapshot_name; *c; c++) {
		char one[2] = {*c, 0};

		if (*c != '%' || !c[1]) {
			fmt_string(f, one);
			continue;
		}
		switch (*++c) {
		case 'h':
			fmt_string(f, host);
			break;
		case 'e':
			fmt_string(f, place_name_program());
			break;
		case 'p':
			fmt_decimal(f, pid);
			break;
		default:
			fmt_string(f, "%");
		}
	}
}

void snapfile_name(char to[SNAPFILE_NAME_BYTES], uint32_t pid, uint32_t number, bool is_whole)
{
	char begin[BEGIN_BYTES];
	struct fmt t;

	fmt_init(&t, begin, sizeof(begin)); /* a text that does not fit is cut */
	expand(&t, pid);
	place_name_tame(begin, true);
	fmt_init(&t, to, SNAPFILE_NAME_BYTES);
	if (!is_whole)
		fmt_string(&t, "."); /* readers ignore hidden files */
	place_name_write(&t, begin[0] ? begin : place_name_program(), pid);
	fmt_string(&t, "-");
	fmt_decimal(&t, number);
	fmt_string(&t, is_whole ? SNAPFILE_END : SNAPFILE_END ".tmp");
}

/* The name that the file gets when it is complete. */
static void name_of(const struct snapfile *f, char to[SNAPFILE_NAME_BYTES])
{
	struct fmt t;

	if (!f->is_segment) {
		snapfile_name(to, f->pid, f->number, true);
		return;
	}
	fmt_init(&t, to, SNAPFILE_NAME_BYTES);
	place_name_write(&t, place_name_program(), f->pid);
	fmt_string(&t, ".seg");
}

/* ---- descriptors --------------------------------------------------------- */

static struct snapfile_id id_of(const struct stat *st)
{
	return (struct snapfile_id){st->st_dev, st->st_ino};
}

static bool is_still(long fd, struct snapfile_id id)
{
	struct stat st;

	return sys_call(SYS_fstat, fd, (long)&st, 0, 0) == 0 && st.st_dev == id.device &&
	    st.st_ino == id.inode;
}

static void let_go(long fd, struct snapfile_id id)
{
	if (is_still(fd, id))
		sys_close(fd);
}

void snapfile_let_go(long fd, const struct stat *st)
{
	let_go(fd, id_of(st));
}

/* The lowest number that is high; 0: there is none. */
static long high_number(void)
{
	const uint64_t limit = kernel_limit(RLIMIT_NOFILE);

	if (limit / 4 < HIGH_NUMBERS)
		return 0;
	return limit < HIGH_NUMBER + HIGH_NUMBERS ? (long)limit - HIGH_NUMBERS : HIGH_NUMBER;
}

/*
 * A higher number for a file that was just opened by this name. Returns it, or
 * the old one if there is none, or a negative errno if the file is closed.
 */
static long move_up(long fd, long dir, const char *name, struct snapfile_id *ret_id)
{
	long from = high_number(), high = -EMFILE;
	struct stat st;

	if (sys_call(SYS_newfstatat, dir, (long)name, (long)&st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !is_still(fd, id_of(&st)))
		return -EBADF; /* another file has the number */
	*ret_id = id_of(&st);
	if (from)
		high = sys_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from, 0);
	if (high < 0)
		return fd;
	let_go(fd, *ret_id);
	if (is_still(high, *ret_id))
		return high;
	sys_close(high); /* nobody else knows this number yet */
	return -EBADF;
}

int snapfile_open(struct snapfile *f)
{
	const bool elsewhere = config.snapshot_dir[0] != 0;
	const char *path = elsewhere && f->is_segment ? place_dir() : directory;
	struct stat st;
	struct fmt t;

	if (!directory[0])
		return -ENOENT;
	fmt_init(&t, f->path, SNAPFILE_DIR_BYTES);
	fmt_string(&t, path);
	fmt_string(&t, "/");
	if (!t.ok)
		return -ENAMETOOLONG;
	f->hidden = f->path + fmt_length(f->path, SNAPFILE_DIR_BYTES);
	if (elsewhere && !f->is_segment)
		sys_mkdir(directory, 0700);
	f->dir = place_open_dir(path, &st);
	if (f->dir >= 0)
		f->dir = move_up(f->dir, AT_FDCWD, path, &f->dir_id);
	return f->dir < 0 ? (int)f->dir : 0;
}

/* No more than a quarter of the free space, because others need it, too. */
uint64_t snapfile_missing(const struct snapfile *f, uint64_t bytes)
{
	uint64_t left;
	struct statfs fs;
	struct stat st;

	if (sys_call(SYS_fstatfs, f->dir, (long)&fs, 0, 0) != 0 || !fs.f_blocks)
		return 0; /* the file system does not say */
	if (fs.f_type == PLACE_TMPFS && sys_call(SYS_fstat, f->dir, (long)&st, 0, 0) == 0 &&
	    (uint64_t)st.st_size / PLACE_DIRENT > FILES_MAX)
		return 1;
	left = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	return bytes * 4 > left ? bytes * 4 - left : 0;
}

static uint64_t file_limit(void)
{
	struct rlimit r;

	if (sys_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&r) != 0)
		return 0; /* not known: do not risk SIGXFSZ */
	return r.rlim_cur;
}

static bool is_taken(const struct snapfile *f)
{
	char name[SNAPFILE_NAME_BYTES];

	name_of(f, name);
	return sys_call(SYS_faccessat, f->dir, (long)name, 0, 0) == 0;
}

/*
 * By the path, if the host has closed our descriptor of the directory: then the
 * number is free, or leads to another directory, which has no such name.
 */
static void remove_hidden(const struct snapfile *f)
{
	if (sys_call(SYS_unlinkat, f->dir, (long)f->hidden, 0, 0) != 0)
		sys_call(SYS_unlinkat, AT_FDCWD, (long)f->path, 0, 0);
}

int snapfile_create(struct snapfile *f)
{
	int i;

	f->limit = file_limit();
	f->fd = -EEXIST;
	for (i = 0; f->fd == -EEXIST && i < NAMES_MAX; i++, f->number++) {
		if (is_taken(f))
			continue;
		if (!is_still(f->dir, f->dir_id))
			return -EBADF; /* nothing goes into a directory of the host */
		snapfile_name(f->hidden, f->pid, f->number, false);
		f->fd = sys_openat(
		    f->dir, f->hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (f->fd >= 0)
			break;
	}
	if (f->fd >= 0)
		f->fd = move_up(f->fd, f->dir, f->hidden, &f->id);
	else
		return (int)f->fd;
	if (f->fd < 0) {
		remove_hidden(f);
		return (int)f->fd;
	}
	/* the umask and a default ACL must not change the mode */
	sys_call(SYS_fchmod, f->fd, 0600, 0, 0);
	return 0;
}

int snapfile_write(const struct snapfile *f, uint64_t at, const void *bytes, uint64_t len)
{
	const char *from = bytes;

	if (at + len > f->limit)
		return -EFBIG;
	while (len) {
		long n = !is_still(f->fd, f->id)
		    ? -EBADF
		    : sys_call(SYS_pwrite64, f->fd, (long)from, (long)len, (long)at);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? (int)n : -ENOSPC;
		from += n;
		at += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

/* Renames the hidden file; never replaces another file. */
static long rename_to(const struct snapfile *f, const char *name)
{
	long err =
	    cpu_syscall6(SYS_renameat2, f->dir, (long)f->hidden, f->dir, (long)name, NO_REPLACE, 0);

	if (err != -EINVAL && err != -ENOSYS && err != -EPERM)
		return err;
	/* if that is not supported: a link cannot replace a file either */
	err = cpu_syscall6(SYS_linkat, f->dir, (long)f->hidden, f->dir, (long)name, 0, 0);
	if (!err)
		remove_hidden(f);
	return err;
}

int snapfile_publish(struct snapfile *f)
{
	char name[SNAPFILE_NAME_BYTES];
	long err;

	name_of(f, name);
	if (f->is_segment)
		sys_call(SYS_fchmod, f->fd, 0400, 0, 0);
	err = rename_to(f, name);
	if (err) {
		snapfile_discard(f);
		return (int)err;
	}
	let_go(f->fd, f->id);
	return 0;
}

void snapfile_discard(struct snapfile *f)
{
	remove_hidden(f);
	let_go(f->fd, f->id);
}

void snapfile_close(const struct snapfile *f)
{
	let_go(f->dir, f->dir_id);
}
