/* infile.c - opens files for reading, without side effects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/infile.h"

#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "kit/data/room.h"

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

/* From linux/openat2.h, which older systems do not have. */
struct how {
	uint64_t flags, mode, resolve;
};
enum { IN_ROOT = 0x10 };

enum { READING = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

/* /dev/null is an empty text, and opening it does nothing. */
static bool is_null(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static int check(const struct stat *st, bool or_null)
{
	if (S_ISREG(st->st_mode) || (or_null && is_null(st)))
		return 0;
	return S_ISDIR(st->st_mode) ? -EISDIR : S_ISLNK(st->st_mode) ? -ELOOP : -EINVAL;
}

/*
 * Opens the object behind the descriptor `seen` again, whatever its name is
 * now.
 */
static int reopen(int seen, int dir, const char *path, int flags, const struct stat *st)
{
	char self[32];
	struct stat now;
	int fd;

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", seen);
	fd = open(self, READING);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	/* no /proc here */
	fd = openat(dir, path, READING | flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino)
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_seen(int dir, const char *path, int flags, bool or_null)
{
	int seen = openat(dir, path, O_PATH | O_CLOEXEC | flags), fd;
	struct stat st;

	if (seen < 0)
		return -errno;
	fd = fstat(seen, &st) < 0 ? -errno : check(&st, or_null);
	if (fd == 0)
		fd = reopen(seen, dir, path, flags, &st);
	close(seen);
	return fd;
}

int infile_open(int dir, const char *path)
{
	return open_seen(dir, path, 0, false);
}

int infile_find_in_root(const char *root, const char *path, int flags)
{
	const struct how how = {
	    .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags), .resolve = IN_ROOT};
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, err;

	if (dir < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	err = errno;
	close(dir);
	if (fd < 0 && err == EPERM)
		return -ENOSYS; /* a container's filter that is older than it */
	return fd < 0 ? -err : fd;
}

int infile_open_in_root(const char *root, const char *path)
{
	int seen = infile_find_in_root(root, path, 0), fd;
	char self[32];
	struct stat st;

	if (seen < 0)
		return seen;
	fd = fstat(seen, &st) < 0 ? -errno : check(&st, false);
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", seen);
	if (fd == 0 && (fd = open(self, READING)) < 0)
		fd = -errno;
	close(seen);
	return fd;
}

int infile_open_nofollow(int dir, const char *path)
{
	return open_seen(dir, path, O_NOFOLLOW, false);
}

int infile_open_entry(int dir, const char *name)
{
	int fd = open_seen(dir, name, O_NOFOLLOW, false), seen;
	char to[PATH_MAX];
	struct stat st;
	ssize_t n = -1;

	if (fd != -ELOOP)
		return fd;
	seen = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (seen < 0)
		return -errno;
	if (fstat(seen, &st) == 0 && S_ISLNK(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == geteuid()))
		n = readlinkat(seen, "", to, sizeof(to) - 1);
	close(seen);
	if (n <= 0)
		return -ELOOP;
	to[n] = '\0';
	return open_seen(dir, to, 0, false);
}

/* The number, if the text is only digits; otherwise -1. */
static int number(const char *digits)
{
	int n = 0;

	if (!*digits)
		return -1;
	for (; *digits; digits++) {
		if (*digits < '0' || *digits > '9' || n > INT_MAX / 100)
			return -1;
		n = n * 10 + (*digits - '0');
	}
	return n;
}

int infile_descriptor(const char *path)
{
	static const char *const folders[] = {
	    "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};
	static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};

	for (int i = 0; i < 3; i++) {
		size_t len = strlen(folders[i]);

		if (strcmp(path, names[i]) == 0)
			return i;
		if (strncmp(path, folders[i], len) == 0)
			return number(path + len);
	}
	return -1;
}

int infile_open_text(const char *path)
{
	int fd = infile_descriptor(path);
	struct stat st;

	/*
	 * a file that is already open is opened again, so it is read from its
	 * beginning
	 */
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return open_seen(AT_FDCWD, path, 0, true);
	fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd < 0 ? -errno : fd;
}

/* ---- listing: the names in a directory, sorted, up to LISTING_MAX of them ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int listing_read(int dir, bool (*is_wanted)(const char *name), struct listing_names *ret)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct dirent *e;
	size_t room = 0;
	DIR *d;

	*ret = (struct listing_names){0};
	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		err = -errno;
		(void)close(fd);
		return err;
	}
	while (err == 0 && (e = readdir(d))) {
		if (is_wanted && !is_wanted(e->d_name))
			continue;
		if (ret->count == LISTING_MAX) {
			ret->refused++;
			continue;
		}
		err = room_make(&ret->names, &room, ret->count, sizeof(char *));
		if (err < 0)
			break;
		ret->names[ret->count] = strdup(e->d_name);
		if (!ret->names[ret->count])
			err = -ENOMEM;
		else
			ret->count++;
	}
	(void)closedir(d);
	if (ret->count > 1)
		qsort(ret->names, ret->count, sizeof(char *), by_name);
	return err;
}

void listing_release(struct listing_names *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->names[i]);
	free(f->names);
	*f = (struct listing_names){0};
}

bool listing_is_own(int dir, const char *name)
{
	struct stat own, of;

	return fstat(dir, &own) == 0 && fstatat(dir, name, &of, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(of.st_mode) && own.st_uid == of.st_uid;
}

/* ---- holes: does a file store the data that its tables claim, or holes? ---- */

enum { STRETCHES_MAX = 1 << 20 }; /* of 4 KiB, with holes between them: 8 GiB */

/* Does this range store `wanted` bytes or more? */
static bool stores(int fd, uint64_t base, uint64_t limit, uint64_t wanted)
{
	uint64_t end = base + limit, at = base, found = 0;

	for (int i = 0; i < STRETCHES_MAX && at < end && found < wanted; i++) {
		off_t data = lseek(fd, (off_t)at, SEEK_DATA), hole;

		if (data < 0)
			return errno != ENXIO; /* no more data, or no holes */
		if ((uint64_t)data >= end)
			break;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole <= data)
			return true;
		at = (uint64_t)hole < end ? (uint64_t)hole : end;
		found += at - (uint64_t)data;
	}
	return found >= wanted;
}

bool holes_allow(int fd, uint64_t base, uint64_t limit, uint64_t claimed)
{
	if (claimed <= HOLES_FREE || fd < 0)
		return true;
	return stores(fd, base, limit, (claimed - HOLES_FREE) / HOLES_FACTOR);
}

/* ---- lock_holder: which process holds an flock() on a file ---- */

/* "1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF"; "->" before who waits. */
static bool is_of(const char *line, const struct stat *st, pid_t *ret_pid)
{
	char file[64], *at;
	int words = 3; /* before the pid */

	line = strstr(line, ": FLOCK ");
	if (!line)
		return false;
	for (line += 2; words > 0; words--) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	*ret_pid = (pid_t)strtol(line, &at, 10);
	(void)snprintf(file, sizeof(file), " %02x:%02x:%llu ", major(st->st_dev), minor(st->st_dev),
	    (unsigned long long)st->st_ino);
	return strncmp(at, file, strlen(file)) == 0;
}

pid_t lock_holder_find(const struct stat *st)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256];
	pid_t pid = 0;
	bool found = false;

	if (!f)
		return 0;
	while (!found && fgets(line, sizeof(line), f))
		found = is_of(line, st, &pid);
	(void)fclose(f);
	return found && pid > 0 ? pid : 0;
}

/* ---- source: reads bytes of a file that may change, or of memory ---- */

void source_init(const struct stat *st, int fd, struct source *ret)
{
	*ret = (struct source){
	    .fd = fd,
	    .size = (uint64_t)st->st_size,
	    .device = st->st_dev,
	    .inode = st->st_ino,
	    .stored_bytes = (uint64_t)st->st_blocks * 512,
	    .mtime_s = st->st_mtime,
	    .uid = st->st_uid,
	};
}

static int source_take(int dir, const char *path, bool is_given, struct source *ret)
{
	struct stat st = {0};
	int fd;

	fd = is_given ? infile_open(AT_FDCWD, path) : infile_open_entry(dir, path);
	if (fd >= 0 && fstat(fd, &st) < 0) {
		(void)close(fd);
		fd = -EIO;
	}
	if (fd < 0)
		return fd;
	source_init(&st, fd, ret);
	return 0;
}

int source_open(int dir, const char *path, struct source *ret)
{
	return source_take(dir, path, dir == AT_FDCWD, ret);
}

int source_open_entry(const char *path, struct source *ret)
{
	return source_take(AT_FDCWD, path, false, ret);
}

void source_memory(const void *bytes, size_t len, struct source *ret)
{
	*ret = (struct source){.fd = -1, .bytes = bytes, .size = len};
}

void source_release(struct source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct source){.fd = -1};
}

int source_read(const struct source *s, uint64_t offset, void *buffer, size_t len)
{
	uint8_t *to = buffer;

	if (offset > s->size || len > s->size - offset)
		return -EBADMSG;
	if (s->fd < 0) {
		if (len > 0)
			memcpy(to, s->bytes + offset, len);
		return 0;
	}
	while (len > 0) {
		ssize_t n = pread(s->fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG; /* the file has become shorter */
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}
