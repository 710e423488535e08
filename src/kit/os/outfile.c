/* outfile.c - opens the place of a result, and names the file when complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/outfile.h"

#include <linux/magic.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/vfs.h>

#include "kit/os/infile.h"

enum {
	NAME_TRIES = 16,
	LINKS_MAX = 40,     /* limit of links, as in the kernel */
	TEMP_DIGITS = 8,    /* at random, the end of a temporary name */
	LEFT_S = 60,        /* who locks a file does it long before */
	SWEEP_MAX = 100000, /* files that one sweep looks at */
};

#define TEMP_MARK ".seep-" /* before these digits */

/* ---- the place ---- */

/*
 * Opens the directory of path, which is relative to `base`; keeps the last
 * part.
 */
static int open_directory(struct outfile *o, int base, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char dir[PATH_MAX] = ".";
	size_t len = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;

	/* room for ".old" and for a temporary suffix */
	if (name[0] == '\0' || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EISDIR;
	if (strlen(name) + 16 > NAME_MAX || len >= sizeof(dir))
		return -ENAMETOOLONG;
	strcpy(o->name, name);
	if (len > 0) {
		memcpy(dir, path, len);
		dir[len] = '\0';
	}
	o->dir_fd = openat(base, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (o->dir_fd < 0 && errno == EACCES) /* --x: may still be written */
		o->dir_fd = openat(base, dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return o->dir_fd < 0 ? -errno : 0;
}

static bool is_trusted_owner(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* Can only the user and root create names in this directory? */
static bool is_closed_directory(int dir_fd)
{
	struct stat st;

	return fstat(dir_fd, &st) == 0 && is_trusted_owner(&st) &&
	    (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Links in this directory lead to open objects, not to paths. */
static bool is_proc(int dir_fd)
{
	struct statfs fs;

	return fstatfs(dir_fd, &fs) == 0 && (uint64_t)fs.f_type == PROC_SUPER_MAGIC;
}

static int take_descriptor(struct outfile *o, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	o->direct = true;
	return o->fd < 0 ? -errno : 0;
}

/*
 * Opens an object that was only checked so far: a pipe, a device, or a file in
 * /proc.
 */
static int open_direct(struct outfile *o, int seen)
{
	enum { WRITING = O_WRONLY | O_CLOEXEC | O_NOCTTY };
	struct stat st, now;
	char self[32];

	if (fstat(seen, &st) < 0)
		return -errno;
	if (!S_ISCHR(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	o->direct = true;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", seen);
	o->fd = open(self, S_ISREG(st.st_mode) ? WRITING | O_TRUNC : WRITING);
	if (o->fd >= 0 || errno != ENOENT)
		return o->fd < 0 ? -errno : 0;
	/* no /proc here */
	o->fd = openat(o->dir_fd, o->name, WRITING | O_NOFOLLOW);
	if (o->fd < 0)
		return -errno;
	return fstat(o->fd, &now) == 0 && now.st_dev == st.st_dev && now.st_ino == st.st_ino
	    ? 0
	    : -ESTALE;
}

/* Follows a link of /proc, such as /proc/PID/fd/1 of a process of ours. */
static int open_behind(struct outfile *o)
{
	int seen = openat(o->dir_fd, o->name, O_PATH | O_CLOEXEC);
	int err = seen < 0 ? -errno : open_direct(o, seen);

	if (seen >= 0)
		close(seen);
	return err;
}

static void forget_directory(struct outfile *o)
{
	if (o->dir_fd >= 0)
		close(o->dir_fd);
	o->dir_fd = -1;
}

/* 1: it is a link, and `path` is where it leads; 0: the place is found. */
static int judge(struct outfile *o, int seen, char path[PATH_MAX])
{
	bool closed = is_closed_directory(o->dir_fd);
	struct stat st;
	ssize_t n;

	if (fstat(seen, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISLNK(st.st_mode))
		return closed || is_trusted_owner(&st) ? open_direct(o, seen) : -ELOOP;
	if (!closed || !is_trusted_owner(&st))
		return -ELOOP;
	if (is_proc(o->dir_fd))
		return open_behind(o);
	n = readlinkat(seen, "", path, PATH_MAX);
	if (n < 0 || n >= PATH_MAX)
		return n < 0 ? -errno : -ENAMETOOLONG;
	path[n] = '\0';
	return 1;
}

static int step(struct outfile *o, char path[PATH_MAX], bool *ret_exists)
{
	int seen = openat(o->dir_fd, o->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int err;

	if (seen < 0)
		return errno == ENOENT ? 0 : -errno;
	*ret_exists = true;
	err = judge(o, seen, path);
	close(seen);
	return err;
}

/*
 * Results in a directory and a name in it, or in an object to be written
 * directly.
 */
static int find(struct outfile *o, const char *given, bool *ret_exists)
{
	char path[PATH_MAX];
	int err, base = AT_FDCWD;

	if (strlen(given) >= sizeof(path))
		return -ENAMETOOLONG;
	strcpy(path, given);
	*ret_exists = false; /* a link to nowhere also occupies its name */
	for (int links = 0; links < LINKS_MAX; links++) {
		int fd = infile_descriptor(path);

		if (fd >= 0) {
			err = take_descriptor(o, fd);
			break;
		}
		err = open_directory(o, base, path);
		if (base >= 0)
			close(base);
		base = -1;
		if (err == 0)
			err = step(o, path, ret_exists);
		if (err <= 0)
			break;
		base = o->dir_fd;
		o->dir_fd = -1;
		err = -ELOOP; /* should this have been the last */
	}
	if (base >= 0)
		close(base);
	return err;
}

/* ---- the file ---- */

static int temp_name(struct outfile *o)
{
	uint32_t r;

	if (getrandom(&r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return -EIO;
	(void)snprintf(o->temp, sizeof(o->temp), ".%.230s" TEMP_MARK "%08x", o->name, (unsigned)r);
	return 0;
}

static bool is_temp_name(const char *name)
{
	const size_t end = strlen(TEMP_MARK) + TEMP_DIGITS;
	size_t len = strlen(name);

	return name[0] == '.' && len > 1 + end &&
	    strncmp(name + len - end, TEMP_MARK, strlen(TEMP_MARK)) == 0 &&
	    strspn(name + len - TEMP_DIGITS, "0123456789abcdef") == TEMP_DIGITS;
}

/* Removes a file with such a name if nobody holds the lock on it any more. */
static void remove_if_left(int dir_fd, const char *name)
{
	struct stat st;
	int fd;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || time(NULL) - st.st_mtime < LEFT_S)
		return;
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)unlinkat(dir_fd, name, 0);
	close(fd);
}

/* Removes what commands have left in this directory that were killed. */
static void sweep(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (int i = 0; i < SWEEP_MAX && (e = readdir(d)); i++)
		if (is_temp_name(e->d_name))
			remove_if_left(dir_fd, e->d_name);
	(void)closedir(d);
}

/* Gives the nameless file a temporary name, so that it can be renamed. */
static int link_file(struct outfile *o)
{
	char self[32];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	return linkat(AT_FDCWD, self, o->dir_fd, o->temp, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Takes the first name that no file has, for a new file or for ours. */
static int take_name(struct outfile *o, mode_t mode)
{
	int err = -EEXIST;

	/*
	 * As long as it is held, nobody takes the file for one that was left. A
	 * file that has had no name so far may be old already.
	 */
	if (o->fd >= 0)
		(void)flock(o->fd, LOCK_EX | LOCK_NB);
	for (int i = 0; i < NAME_TRIES && err == -EEXIST; i++) {
		err = temp_name(o);
		if (err == 0 && o->fd >= 0) {
			err = link_file(o);
		} else if (err == 0) {
			o->fd = openat(o->dir_fd, o->temp,
			    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
			err = o->fd < 0 ? -errno : 0;
		}
	}
	o->has_temp = err == 0;
	if (o->has_temp)
		(void)flock(o->fd, LOCK_EX | LOCK_NB);
	return err;
}

int outfile_renew(struct outfile *o, mode_t mode)
{
	if (o->fd >= 0)
		close(o->fd);
	/*
	 * The file has no name at first, so a command that runs meanwhile sees
	 * no file that it would not see without us. Not every file system can
	 * do this, and without /proc the file could never get a name.
	 */
	o->fd = -1;
	if (access("/proc/self/fd", X_OK) == 0)
		o->fd = openat(o->dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (o->fd >= 0)
		return 0;
	sweep(o->dir_fd);
	return take_name(o, mode);
}

int outfile_open(const char *path, enum outfile_existing existing, mode_t mode, struct outfile *ret)
{
	struct outfile o = {.fd = -1, .dir_fd = -1};
	bool exists;
	struct stat st;
	int err;

	if (existing == OUTFILE_KEEP_OLD) {
		err = open_directory(&o, AT_FDCWD, path);
		if (err == 0 && fstatat(o.dir_fd, o.name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode))
			err = -EISDIR;
	} else {
		err = find(&o, path, &exists);
		if (err == 0 && !o.direct && exists && existing == OUTFILE_REFUSE)
			err = -EEXIST;
	}
	if (err == 0 && o.direct)
		forget_directory(&o);
	else if (err == 0)
		err = outfile_renew(&o, mode);
	if (err < 0)
		outfile_close(&o);
	else
		*ret = o;
	return err;
}

int outfile_flush(const struct outfile *o)
{
	int again = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);

	return again < 0 || close(again) < 0 ? -errno : 0;
}

int outfile_write(const struct outfile *o, const void *bytes, size_t len)
{
	return write_all(o->fd, bytes, len);
}

static int keep_old(const struct outfile *o)
{
	char old[NAME_MAX + 8];

	(void)snprintf(old, sizeof(old), "%s.old", o->name);
	if (renameat(o->dir_fd, o->name, o->dir_fd, old) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int outfile_clear(const struct outfile *o, enum outfile_existing existing)
{
	if (o->direct || existing == OUTFILE_REFUSE)
		return 0;
	if (existing == OUTFILE_KEEP_OLD)
		return keep_old(o);
	if (unlinkat(o->dir_fd, o->name, 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

/* Keeps a file of that name that appeared meanwhile: -EEXIST. */
static int name_unless_taken(struct outfile *o)
{
	if (renameat2(o->dir_fd, o->temp, o->dir_fd, o->name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(o->dir_fd, o->temp, o->dir_fd, o->name, 0) == 0) {
		(void)unlinkat(o->dir_fd, o->temp, 0);
		return 0;
	}
	if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK)
		return -errno;
	/* this file system supports neither call */
	if (faccessat(o->dir_fd, o->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(o->dir_fd, o->temp, o->dir_fd, o->name) < 0 ? -errno : 0;
}

int outfile_publish(struct outfile *o, enum outfile_existing existing)
{
	int err = 0;

	if (o->direct)
		return 0;
	if (!o->has_temp)
		err = take_name(o, 0);
	if (err == 0 && existing == OUTFILE_KEEP_OLD)
		err = keep_old(o);
	if (err < 0)
		return err;
	if (existing == OUTFILE_REFUSE)
		err = name_unless_taken(o);
	else if (renameat(o->dir_fd, o->temp, o->dir_fd, o->name) < 0)
		err = -errno;
	o->has_temp = err < 0;
	return err;
}

bool outfile_is_in_place(const struct outfile *o)
{
	struct stat own, st;

	return fstat(o->fd, &own) == 0 &&
	    fstatat(o->dir_fd, o->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == own.st_dev &&
	    st.st_ino == own.st_ino;
}

/*
 * Some file systems cannot do this and return an error. Then their usual
 * guarantees must do.
 */
static int sync_one(int fd)
{
	if (fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOSYS ||
	    errno == EBADF)
		return 0;
	return -errno;
}

int outfile_sync(const struct outfile *o)
{
	return o->direct ? 0 : sync_one(o->fd);
}

int outfile_sync_name(const struct outfile *o)
{
	return o->direct ? 0 : sync_one(o->dir_fd);
}

void outfile_close(struct outfile *o)
{
	if (o->has_temp)
		(void)unlinkat(o->dir_fd, o->temp, 0);
	o->has_temp = false;
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	forget_directory(o);
}

const char *outfile_error(int err)
{
	if (err == -ELOOP)
		return "a link, pipe or device is there that somebody else may "
		       "have put there; name the file itself";
	return strerror(-err);
}
