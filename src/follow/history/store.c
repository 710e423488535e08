/* store.c - the directory of a history, which one watch writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/store.h"

#include <sys/file.h>

#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "kit/os/outfile.h"
#include "kit/words/text.h"
#include "names/find/places.h"
#include "recording/file/chapter.h"
#include "session/load/history.h"

#define S UINT64_C(1000000000)

enum { SNAPSHOTS = 8 }; /* they have one of so many parts of the size */

static int problem(const struct store *s, int err, struct fault *where)
{
	return fault_set(where, err, "%s: %s", s->path, strerror(-err));
}

/* With the parents of the default; those of a path that was given exist. */
static int make_directory(const char *path, bool with_parents)
{
	char part[PATH_MAX];

	(void)snprintf(part, sizeof(part), "%s", path);
	for (char *p = part + 1; with_parents && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* The mode that a directory of ours has. */
static int set_mode(const struct store *s, int fd)
{
	if (s->plan.has_group && (fchown(fd, (uid_t)-1, s->plan.group) < 0 || fchmod(fd, 0750) < 0))
		return -errno;
	return 0;
}

int store_share(const struct store *s, int fd)
{
	if (s->plan.has_group && (fchown(fd, (uid_t)-1, s->plan.group) < 0 || fchmod(fd, 0640) < 0))
		return -errno;
	return 0;
}

/* Is it ours, and can nobody else write it? */
static int check_owner(const struct store *s, struct fault *where)
{
	struct stat st;

	if (fstat(s->fd, &st) < 0)
		return problem(s, -errno, where);
	if (st.st_uid != geteuid())
		return fault_set(
		    where, -EPERM, "%s belongs to uid %u", s->path, (unsigned)st.st_uid);
	if (st.st_mode & 022)
		return fault_set(where, -EPERM,
		    "%s can be written by others (mode %04o): chmod go-w it", s->path,
		    (unsigned)(st.st_mode & 07777));
	return 0;
}

static int lock(struct store *s, struct fault *where)
{
	char pid[16] = "";

	s->lock_fd = openat(s->fd, CHAPTER_NAME_LOCK_FILE,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (s->lock_fd < 0)
		return problem(s, -errno, where);
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		int err = errno;

		if (err == ENOLCK || err == EOPNOTSUPP || err == ENOSYS)
			return fault_set(where, -err,
			    "%s: the file system has no locks (%s), so two "
			    "could write the history: name a place on a local "
			    "disk with --history",
			    s->path, strerror(err));
		if (err != EWOULDBLOCK)
			return problem(s, -err, where);
		if (pread(s->lock_fd, pid, sizeof(pid) - 1, 0) < 0)
			pid[0] = '\0';
		return fault_set(where, -EBUSY, "%s: another seep watch%s%.*s writes this history",
		    s->path, pid[0] ? ", process " : "", (int)strspn(pid, "0123456789"), pid);
	}
	/* for the message of the next one; a full disk is no reason to stop */
	(void)snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(s->lock_fd, 0) == 0 && pwrite(s->lock_fd, pid, strlen(pid), 0) < 0)
		return 0;
	return 0;
}

static bool is_empty(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	bool empty = d != NULL;
	struct dirent *e;

	while (empty && (e = readdir(d)))
		empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    strcmp(e->d_name, CHAPTER_NAME_LOCK_FILE) == 0;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return empty;
}

/* Written under another name first, so that it is never seen in part. */
static int write_version(const struct store *s)
{
	static const char text[] = CHAPTER_NAME_VERSION;
	int fd = openat(
	    s->fd, ".version.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, text, sizeof(text) - 1);
	if (err == 0)
		err = store_share(s, fd);
	if (err == 0 && fsync(fd) < 0 && errno != EINVAL)
		err = -errno;
	close(fd);
	if (err == 0 && renameat(s->fd, ".version.new", s->fd, CHAPTER_NAME_VERSION_FILE) < 0)
		err = -errno;
	if (err < 0)
		(void)unlinkat(s->fd, ".version.new", 0);
	return err;
}

static int check_version(const struct store *s, struct fault *where)
{
	static const char text[] = CHAPTER_NAME_VERSION;
	char now[sizeof(text) + 1] = "";
	int fd = openat(
	    s->fd, CHAPTER_NAME_VERSION_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;
	int err;

	if (fd >= 0) {
		n = read(fd, now, sizeof(now));
		close(fd);
		if (n == (ssize_t)sizeof(text) - 1 && memcmp(now, text, sizeof(text) - 1) == 0)
			return 0;
		return fault_set(
		    where, -ENOTSUP, "%s: a history of another version of seep", s->path);
	}
	if (errno != ENOENT)
		return problem(s, -errno, where);
	if (!is_empty(s->fd))
		return fault_set(where, -ENOTEMPTY,
		    "%s: it has files, but it is no history of seep watch", s->path);
	err = write_version(s);
	return err < 0 ? problem(s, err, where) : 0;
}

int store_open(struct store *s, const struct store_plan *plan, struct fault *where)
{
	char fallback[HISTORY_PATH_BYTES], *real;
	const char *path = plan->path;
	int err;

	*s = (struct store){.plan = *plan, .fd = -1, .lock_fd = -1};
	if (!path && !history_default(0, fallback))
		return fault_set(where, -ENOENT,
		    "there is no home for the history: name a place with "
		    "--history");
	(void)snprintf(s->path, sizeof(s->path), "%s", path ? path : fallback);
	err = make_directory(s->path, !path);
	if (err < 0)
		return problem(s, err, where);
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0)
		return problem(s, -errno, where);
	real = realpath(s->path, NULL);
	if (real)
		(void)snprintf(s->path, sizeof(s->path), "%s", real);
	free(real);
	err = check_owner(s, where);
	if (err == 0)
		err = lock(s, where);
	if (err == 0)
		err = check_version(s, where);
	if (err == 0 && set_mode(s, s->fd) < 0)
		err = fault_set(
		    where, -errno, "%s cannot be given to the group: %s", s->path, strerror(errno));
	if (err < 0)
		store_release(s);
	return err;
}

void store_release(struct store *s)
{
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	if (s->fd >= 0)
		close(s->fd);
	s->lock_fd = -1;
	s->fd = -1;
}

int store_folder(const struct store *s, const char *name, char path[PATH_MAX])
{
	struct stat st;
	int fd, n, err = 0;

	n = snprintf(path, PATH_MAX, "%s/%s", s->path, name);
	if (n < 0 || n >= PATH_MAX)
		return -ENAMETOOLONG;
	if (mkdirat(s->fd, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(s->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -EPERM : -errno;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022))
		err = -EPERM;
	if (err == 0)
		err = set_mode(s, fd);
	close(fd);
	return err;
}

void store_each(const struct store *s, void (*each)(void *context, const char *name), void *context)
{
	int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d))) {
		struct stat st;

		if (e->d_name[0] != '.' &&
		    fstatat(s->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode) && st.st_uid == geteuid())
			each(context, e->d_name);
	}
	closedir(d);
}

/* A chapter ends where the next one begins. */
static bool is_old(
    const struct chapter_entry *all, size_t i, size_t count, uint64_t now_ns, uint64_t keep_ns)
{
	return i + 1 < count && now_ns > keep_ns &&
	    all[i + 1].name.start_s < (int64_t)((now_ns - keep_ns) / S);
}

struct snapshot {
	char name[NAME_MAX + 1];
	uint64_t bytes;
};

BY(by_name, struct snapshot, strcmp(x->name, y->name))

/*
 * Snapshots of rules: at most an eighth of the size, the oldest goes first.
 * Returns what is left of them, in bytes.
 */
static uint64_t thin_snapshots(const struct store *s, const char *folder)
{
	struct snapshot *all = NULL;
	size_t count = 0, room = 0;
	uint64_t sum = 0;
	struct dirent *e;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	while (d && (e = readdir(d))) {
		struct stat st;

		if (!text_ends_with(e->d_name, ".seep-snap") ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    room_make(&all, &room, count, sizeof(*all)) < 0)
			continue;
		(void)snprintf(all[count].name, sizeof(all[count].name), "%s", e->d_name);
		all[count].bytes = (uint64_t)st.st_blocks * 512;
		sum += all[count++].bytes;
	}
	if (count > 1)
		qsort(all, count, sizeof(*all), by_name);
	for (size_t i = 0; i < count && sum > s->plan.size_bytes / SNAPSHOTS; i++)
		if (unlinkat(fd, all[i].name, 0) == 0)
			sum -= all[i].bytes;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	free(all);
	return sum;
}

void store_thin(const struct store *s, const char *folder, uint64_t now_ns, uint64_t more)
{
	char path[PATH_MAX], file[PATH_MAX + CHAPTER_NAME_BYTES];
	struct chapter_entry *all;
	uint64_t sum = more;
	size_t count;

	if (store_folder(s, folder, path) < 0 || chapter_list(path, &all, &count) < 0)
		return;
	(void)snprintf(file, sizeof(file), "%s/snapshots", path);
	sum += thin_snapshots(s, file);
	for (size_t i = 0; i < count; i++)
		sum += all[i].bytes;
	for (size_t i = 0; i < count; i++) {
		if (all[i].name.is_part)
			continue;
		if (sum <= s->plan.size_bytes && !is_old(all, i, count, now_ns, s->plan.keep_ns))
			break;
		(void)snprintf(file, sizeof(file), "%s/%s", path, all[i].text);
		if (unlink(file) == 0)
			sum -= all[i].bytes;
	}
	free(all);
}

/* ---- kept_roots: the root directories of containers, kept for names ---- */

enum {
	ROOTS_MAX = 16,     /* of one service */
	ROOTS_ALL_MAX = 512 /* descriptors are scarce */
};

struct kept_root {
	uint64_t view;
	int fd;
	size_t living;
};

static size_t open_roots; /* of all services */

static void close_at(struct kept_roots *r, size_t i)
{
	close(r->list[i].fd);
	r->list[i] = r->list[--r->count];
	open_roots--;
}

void kept_roots_release(struct kept_roots *r)
{
	while (r->count > 0)
		close_at(r, 0);
	free(r->list);
	*r = (struct kept_roots){0};
}

static struct kept_root *find(const struct kept_roots *r, uint64_t view)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->list[i].view == view)
			return &r->list[i];
	return NULL;
}

/* A service that only has some mounts of its own sees our files. */
static bool is_our_root(int fd)
{
	struct stat theirs, ours;

	return fstat(fd, &theirs) < 0 || stat("/", &ours) < 0 ||
	    (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino);
}

uint64_t kept_roots_enter(struct kept_roots *r, pid_t pid)
{
	uint64_t view = fs_view_of(pid);
	struct kept_root *known = view ? find(r, view) : NULL;
	char path[32];
	int fd;

	if (known) {
		known->living++;
		return view;
	}
	if (!view || r->count >= ROOTS_MAX || open_roots >= ROOTS_ALL_MAX ||
	    room_make(&r->list, &r->room, r->count, sizeof(*r->list)) < 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (is_our_root(fd)) {
		close(fd);
		return 0;
	}
	r->list[r->count++] = (struct kept_root){.view = view, .fd = fd, .living = 1};
	open_roots++;
	return view;
}

void kept_roots_leave(struct kept_roots *r, uint64_t view)
{
	struct kept_root *known = view ? find(r, view) : NULL;

	if (known && known->living > 0)
		known->living--;
}

void kept_roots_drop(struct kept_roots *r)
{
	for (size_t i = 0; i < r->count;)
		if (r->list[i].living == 0)
			close_at(r, i);
		else
			i++;
}

struct process_root kept_roots_find(const struct kept_roots *r, uint64_t view)
{
	const struct kept_root *known = view ? find(r, view) : r->count == 1 ? &r->list[0] : NULL;

	return known ? (struct process_root){.view = known->view, .fd = known->fd}
	             : (struct process_root){0};
}
