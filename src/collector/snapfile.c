/* snapfile.c - the file of a snapshot: made, written, named when whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/snapfile.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "collector/config.h"
#include "collector/place.h"

enum {
	FILES_MAX = PLACE_FILES_MAX / 2, /* segments keep the other half */
	NAMES_MAX = 1000, /* tried: somebody's files are in our way */
	NO_REPLACE = 1,   /* RENAME_NOREPLACE */
};

static char directory[2 * sizeof(config.dir)]; /* empty: there is none */

void
snapfile_start(void)
{
	const char *dir =
	    config.snapshot_dir[0] ? config.snapshot_dir : place_dir();
	struct fmt f;
	long n = 0;

	if (dir[0] != '/') {
		n = sys_call(SYS_getcwd, (long)directory,
		    (long)sizeof(directory) - 1, 0, 0);
		if (n <= 0 || directory[0] != '/') {
			directory[0] = 0; /* deleted, or out of our root */
			return;
		}
		directory[n - 1] = '/';
	}
	fmt_init(&f, directory + n, sizeof(directory) - (size_t)n);
	fmt_string(&f, dir);
	if (!f.ok)
		directory[0] = 0;
}

static void
make_name(char *to, const struct snapfile *f, bool is_whole)
{
	struct fmt t;

	fmt_init(&t, to, SNAPFILE_NAME_BYTES);
	if (!is_whole)
		fmt_string(&t, "."); /* readers pass hidden files by */
	place_name(&t, f->pid);
	if (f->is_segment && is_whole) {
		fmt_string(&t, ".seg");
		return;
	}
	fmt_string(&t, "-");
	fmt_decimal(&t, f->number);
	fmt_string(&t, is_whole ? ".seep-snap" : ".seep-snap.tmp");
}

/* Not more than a quarter of what is left: others live here, too. */
static bool
has_room(long dir, const struct stat *st, uint64_t bytes)
{
	struct statfs fs;

	if (sys_call(SYS_fstatfs, dir, (long)&fs, 0, 0) != 0 || !fs.f_blocks)
		return true; /* it does not say */
	if (fs.f_type == PLACE_TMPFS &&
	    (uint64_t)st->st_size / PLACE_DIRENT > FILES_MAX)
		return false;
	return bytes <= (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize / 4;
}

static long
open_directory(uint64_t bytes, bool for_segment)
{
	const bool elsewhere = config.snapshot_dir[0] != 0;
	struct stat st;
	long dir;

	if (!directory[0])
		return -ENOENT;
	if (elsewhere && !for_segment)
		sys_call(SYS_mkdir, (long)directory, 0700, 0, 0);
	dir = place_open_dir(
	    elsewhere && for_segment ? place_dir() : directory, &st);
	if (dir < 0 || has_room(dir, &st, bytes))
		return dir;
	sys_close(dir);
	return -ENOSPC;
}

static uint64_t
file_limit(void)
{
	struct rlimit r;

	if (sys_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&r) != 0)
		return 0; /* not known: better none than SIGXFSZ */
	return r.rlim_cur;
}

static bool
is_taken(const struct snapfile *f)
{
	char name[SNAPFILE_NAME_BYTES];

	make_name(name, f, true);
	return sys_call(SYS_faccessat, f->dir, (long)name, 0, 0) == 0;
}

int
snapfile_create(struct snapfile *f, uint64_t bytes)
{
	int i;

	f->limit = file_limit();
	f->dir = open_directory(bytes, f->is_segment);
	if (f->dir < 0)
		return (int)f->dir;
	f->fd = -EEXIST;
	for (i = 0; f->fd == -EEXIST && i < NAMES_MAX; i++, f->number++) {
		if (is_taken(f))
			continue;
		make_name(f->hidden, f, false);
		f->fd = sys_openat(f->dir, f->hidden,
		    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (f->fd >= 0)
			break;
	}
	if (f->fd < 0) {
		sys_close(f->dir);
		return (int)f->fd;
	}
	/* whatever the umask and any default ACL say */
	sys_call(SYS_fchmod, f->fd, 0600, 0, 0);
	return 0;
}

int
snapfile_write(
    const struct snapfile *f, uint64_t at, const void *bytes, uint64_t len)
{
	const char *from = bytes;

	if (at + len > f->limit)
		return -EFBIG;
	while (len) {
		long n = sys_call(
		    SYS_pwrite64, f->fd, (long)from, (long)len, (long)at);

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

/* Takes the hidden name away where it gives the other one. */
static long
rename_to(const struct snapfile *f, const char *name)
{
	long err = cpu_syscall6(SYS_renameat2, f->dir, (long)f->hidden, f->dir,
	    (long)name, NO_REPLACE, 0);

	if (err != -EINVAL && err != -ENOSYS)
		return err;
	/* a kernel or a file system that cannot: a link cannot replace either */
	err = cpu_syscall6(
	    SYS_linkat, f->dir, (long)f->hidden, f->dir, (long)name, 0, 0);
	if (!err)
		sys_call(SYS_unlinkat, f->dir, (long)f->hidden, 0, 0);
	return err;
}

int
snapfile_publish(struct snapfile *f)
{
	char name[SNAPFILE_NAME_BYTES];
	long err;

	make_name(name, f, true);
	if (f->is_segment)
		sys_call(SYS_fchmod, f->fd, 0400, 0, 0);
	err = rename_to(f, name);
	if (err) {
		snapfile_discard(f);
		return (int)err;
	}
	sys_close(f->fd);
	sys_close(f->dir);
	return 0;
}

void
snapfile_discard(struct snapfile *f)
{
	sys_call(SYS_unlinkat, f->dir, (long)f->hidden, 0, 0);
	sys_close(f->fd);
	sys_close(f->dir);
}
