/* segment_dir.c - the directory for the segments of one recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/segment_dir.h"

#include <sys/file.h>
#include <sys/random.h>
#include <sys/vfs.h>

#include "host/proc/folder.h"
#include "segments/find/free_slots.h"
#include "segments/read/segfile.h"
#include "format/medium.h"
#include "kit/words/text.h"

#define SHM FOLDER_SHM

enum {
	LOCK_TRIES = 8,
	MISSING_MAX = 64, /* names in a row that no child has */
	ROOM_MIN = MEDIUM_ROOM_MIN * MEDIUM_FREE_SHARE,
};

static int __attribute__((format(printf, 3, 4)))
problem(struct segment_dir_problem *why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return err;
}

/*
 * The collector accepts only these file systems: a store must neither stall, as
 * on a network, nor need new space, as with copy-on-write.
 */
static bool is_fit(uint32_t type)
{
	return medium_of_type(type) != 0;
}

static int check_file_system(const struct segment_dir *s, struct segment_dir_problem *why)
{
	struct statfs fs;
	uint64_t room;

	if (fstatfs(s->fd, &fs) < 0)
		return problem(why, -errno, "%s: %s", s->path, strerror(errno));
	if (!is_fit((uint32_t)fs.f_type))
		return problem(why, -EINVAL,
		    "%s is on a file system (type %#x) that may stall the program "
		    "to be traced: set SEEP_DIR to a directory on tmpfs",
		    s->path, (unsigned)fs.f_type);
	room = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	if (room < ROOM_MIN)
		return problem(why, -ENOSPC,
		    "%s has no room for segments (%llu KiB free, %d needed): make "
		    "room (seep ls --prune), or set SEEP_DIR to another tmpfs",
		    s->path, (unsigned long long)room >> 10, ROOM_MIN >> 10);
	return 0;
}

static int taken(const struct segment_dir *s, uid_t owner, struct segment_dir_problem *why)
{
	return problem(why, -EPERM,
	    "%s, where segments go, belongs to uid %u: have it removed by its "
	    "owner or by root, or set SEEP_DIR to a directory of your own",
	    s->path, (unsigned)owner);
}

/* Anybody can write to /dev/shm, so an entry under our name may be a trap. */
static int check_directory(struct segment_dir *s, struct segment_dir_problem *why)
{
	struct stat st;

	if (fstat(s->fd, &st) < 0)
		return problem(why, -errno, "%s: %s", s->path, strerror(errno));
	if (st.st_uid != geteuid())
		return taken(s, st.st_uid, why);
	if (st.st_mode & 022)
		return problem(why, -EPERM,
		    "%s can be written by others (mode %04o): chmod 0700 it, or "
		    "set SEEP_DIR to a directory of your own",
		    s->path, (unsigned)(st.st_mode & 07777));
	return check_file_system(s, why);
}

static int open_directory(struct segment_dir *s, struct segment_dir_problem *why)
{
	const char *env = getenv("SEEP_DIR");
	uid_t owner;
	char *real;
	int err;

	if (!env || !env[0]) {
		folder_default(geteuid(), s->path);
		env = s->path;
	} else {
		snprintf(s->path, sizeof(s->path), "%s", env);
	}
	if (mkdir(env, 0700) < 0 && errno != EEXIST)
		return problem(why, -errno,
		    "cannot make the directory %s for the segments: %s; set "
		    "SEEP_DIR to a directory on tmpfs that you may write",
		    env, strerror(errno));
	/* the owner, even if we cannot open it or it is no directory */
	if (folder_look(env, geteuid(), &owner) == FOLDER_TAKEN)
		return taken(s, owner, why);
	s->fd = open(env, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->fd < 0)
		return problem(why, -errno,
		    "%s cannot be used for the segments: %s; remove it, or set "
		    "SEEP_DIR to a directory of your own",
		    env, errno == ELOOP || errno == ENOTDIR ? "not a directory" : strerror(errno));
	err = check_directory(s, why);
	if (err < 0)
		return err;
	/*
	 * absolute, because the program may change its directory before its
	 * children start
	 */
	real = realpath(s->path, NULL);
	if (!real)
		return problem(why, -errno, "%s: %s", s->path, strerror(errno));
	snprintf(s->path, sizeof(s->path), "%s", real);
	free(real);
	return 0;
}

static int choose_session(struct segment_dir *s)
{
	unsigned char r[(SEGMENT_DIR_SESSION_BYTES - 1) / 2];

	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return -EIO;
	for (size_t i = 0; i < sizeof(r); i++)
		snprintf(s->session + 2 * i, 3, "%02x", r[i]);
	return 0;
}

static void lock_name(const char *session, char *to, size_t bytes)
{
	snprintf(to, bytes, "rec-%.*s.ctl", SEGMENT_DIR_SESSION_BYTES - 1, session);
}

static int lock_session(struct segment_dir *s)
{
	char name[64];
	struct stat st;

	for (int i = 0; i < LOCK_TRIES; i++) {
		int err = choose_session(s);

		if (err < 0)
			return err;
		lock_name(s->session, name, sizeof(name));
		s->lock_fd =
		    openat(s->fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (s->lock_fd < 0)
			return -errno;
		if (flock(s->lock_fd, LOCK_EX) < 0)
			return -errno;
		/*
		 * a sweep may have removed it as a dead one before we locked it
		 */
		if (fstat(s->lock_fd, &st) == 0 && st.st_nlink > 0)
			return 0;
		close(s->lock_fd);
		s->lock_fd = -1;
	}
	return -EBUSY;
}

int segment_dir_init(struct segment_dir *s, struct segment_dir_problem *why)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->lock_fd = -1;
	err = open_directory(s, why);
	if (err < 0)
		goto out;
	err = lock_session(s);
	if (err < 0) {
		problem(why, err, "cannot write in %s: %s", s->path, strerror(-err));
		goto out;
	}
	return 0;
out:
	segment_dir_release(s);
	return err;
}

void segment_dir_release(struct segment_dir *s)
{
	char name[64];

	if (s->lock_fd >= 0) {
		lock_name(s->session, name, sizeof(name));
		(void)unlinkat(s->fd, name, 0);
		close(s->lock_fd);
	}
	if (s->fd >= 0)
		close(s->fd);
	s->lock_fd = -1;
	s->fd = -1;
}

/* Nobody maps it, and nothing was ever written to it. */
static bool is_unused(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	uint64_t magic = 1;
	struct stat st;
	bool unused;

	if (fd < 0)
		return false;
	unused = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) && magic == 0;
	close(fd);
	return unused;
}

/* Removes the files of forked children of NAME.seg that had no event. */
static void remove_unused(int dir_fd, const char *name)
{
	char child[NAME_MAX + 32];
	struct seg_header h;
	struct segfile *f;
	int missing = 0;

	if (segfile_open(dir_fd, name, &f, NULL) < 0)
		return;
	if (segfile_header(f, SEGFILE_OWN, &h, NULL) < 0)
		h.child_files = 0;
	segfile_close(f);
	for (uint64_t n = h.child_files; n && missing < MISSING_MAX; n++) {
		snprintf(child, sizeof(child), "%.*s-%llu.seg",
		    (int)(strlen(name) - strlen(".seg")), name, (unsigned long long)(n - 1));
		if (faccessat(dir_fd, child, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
			missing++;
		} else if (is_unused(dir_fd, child)) {
			(void)unlinkat(dir_fd, child, 0);
			segfile_remove_beside(dir_fd, child);
		}
	}
}

bool segment_dir_remove(int dir_fd, const char *name, uint64_t device, uint64_t inode)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != device ||
	    st.st_ino != inode)
		return false;
	if (text_ends_with(name, ".seg"))
		remove_unused(dir_fd, name);
	(void)unlinkat(dir_fd, name, 0);
	segfile_remove_beside(dir_fd, name);
	return true;
}

static int walk_directory(
    int dir_fd, const char *dir, const char *end, segment_dir_visit visit, void *context)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int result = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (result == 0 && (e = readdir(d))) {
		struct stat st;

		if (e->d_name[0] == '.' || !text_ends_with(e->d_name, end) ||
		    fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		result = visit(context, dir_fd, dir, e->d_name);
	}
	closedir(d);
	return result;
}

static int walk_all(
    const struct segment_dir *s, const char *end, segment_dir_visit visit, void *context)
{
	struct stat own, st;
	struct dirent *e;
	int result;
	DIR *d;

	result = walk_directory(s->fd, s->path, end, visit, context);
	if (result != 0 || fstat(s->fd, &own) < 0)
		return result;
	d = opendir(SHM);
	if (!d)
		return 0;
	while (result == 0 && (e = readdir(d))) {
		char path[sizeof(SHM) + NAME_MAX + 2];
		int fd;

		if (strncmp(e->d_name, "seep-", 5))
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		snprintf(path, sizeof(path), SHM "/%s", e->d_name);
		if (fstat(fd, &st) == 0 && (st.st_dev != own.st_dev || st.st_ino != own.st_ino))
			result = walk_directory(fd, path, end, visit, context);
		close(fd);
	}
	closedir(d);
	return result;
}

int segment_dir_walk(const struct segment_dir *s, segment_dir_visit visit, void *context)
{
	return walk_all(s, ".seg", visit, context);
}

int segment_dir_walk_snapshots(const struct segment_dir *s, segment_dir_visit visit, void *context)
{
	return walk_all(s, ".seep-snap", visit, context);
}

struct search {
	const char *session;
	pid_t pid;
	struct seg_header best;
	bool found;
};

static int search_visit(void *context, int dir_fd, const char *dir, const char *name)
{
	struct search *q = context;
	struct seg_header h;
	struct segfile *f;

	(void)dir;
	if (segfile_open(dir_fd, name, &f, NULL) < 0)
		return 0;
	if (segfile_header(f, SEGFILE_OWN, &h, NULL) == 0 && (pid_t)h.pid == q->pid &&
	    !strcmp(h.session, q->session) &&
	    (!q->found || h.start_monotonic_ns >= q->best.start_monotonic_ns)) {
		q->best = h;
		q->found = true;
	}
	segfile_close(f);
	return 0;
}

int segment_dir_find(const struct segment_dir *s, pid_t pid, struct seg_header *ret)
{
	struct search q = {.session = s->session, .pid = pid};

	(void)segment_dir_walk(s, search_visit, &q);
	if (q.found)
		*ret = q.best;
	return q.found;
}

enum recorder { RECORDER_NONE, RECORDER_DEAD, RECORDER_LIVES };

/* A session that a recorder has chosen; other texts are a user's own. */
static bool is_of_recorder(const char *session)
{
	return strspn(session, "0123456789abcdef") == SEGMENT_DIR_SESSION_BYTES - 1 &&
	    session[SEGMENT_DIR_SESSION_BYTES - 1] == '\0';
}

/* The recorder of a session lives as long as its lock is held. */
static enum recorder find_recorder(int dir_fd, const char *session)
{
	char name[64];
	bool lives;
	int fd;

	lock_name(session, name, sizeof(name));
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) /* in doubt it lives */
		return errno == ENOENT ? RECORDER_NONE : RECORDER_LIVES;
	lives = flock(fd, LOCK_SH | LOCK_NB) < 0;
	close(fd);
	return lives ? RECORDER_LIVES : RECORDER_DEAD;
}

bool segment_dir_is_recorded(int dir_fd, const char *session)
{
	enum recorder r;
	struct dirent *e;
	DIR *d;

	if (!is_of_recorder(session))
		return false;
	r = find_recorder(dir_fd, session);
	d = r == RECORDER_NONE ? opendir(SHM) : NULL;
	while (d && r == RECORDER_NONE && (e = readdir(d))) {
		int fd;

		if (strncmp(e->d_name, "seep-", 5) != 0)
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue; /* not ours to look at, or no directory */
		if (find_recorder(fd, session) == RECORDER_LIVES)
			r = RECORDER_LIVES;
		close(fd);
	}
	if (d)
		closedir(d);
	return r == RECORDER_LIVES;
}

struct sweep {
	const struct segment_dir *segment_dir;
	size_t unread;
};

static bool has_anything(const struct segfile *f, const struct seg_header *own)
{
	uint8_t taken[SEGFILE_SLOTS];
	bool any = own->state != SEG_INERT;

	segfile_taken(f, taken);
	for (int i = 0; i < segfile_slots(f); i++)
		any |= taken[i] != 0;
	return any;
}

static int sweep_visit(void *context, int dir_fd, const char *dir, const char *name)
{
	struct sweep *w = context;
	struct seg_header h;
	struct segfile *f;
	struct stat st;

	(void)dir;
	if (dir_fd != w->segment_dir->fd)
		return 0; /* directories of other users are swept by them */
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid != geteuid() ||
	    segfile_open(dir_fd, name, &f, NULL) < 0)
		return 0;
	if (segfile_header(f, SEGFILE_OWN, &h, NULL) == 0 && is_of_recorder(h.session) &&
	    !segment_dir_is_recorded(dir_fd, h.session) &&
	    in_use_check(dir_fd, name, st.st_dev, st.st_ino) == IN_USE_NO) {
		if (has_anything(f, &h))
			w->unread++;
		else
			(void)segment_dir_remove(dir_fd, name, st.st_dev, st.st_ino);
	}
	segfile_close(f);
	return 0;
}

/* Removes the lock of a killed recorder. */
static void sweep_lock(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)unlinkat(dir_fd, name, 0);
	close(fd);
}

static void sweep_locks(const struct segment_dir *s)
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
		char session[NAME_MAX + 1];

		if (strncmp(e->d_name, "rec-", 4) != 0 || !text_ends_with(e->d_name, ".ctl"))
			continue;
		snprintf(session, sizeof(session), "%s", e->d_name + 4);
		session[strlen(session) - 4] = '\0';
		if (is_of_recorder(session))
			sweep_lock(s->fd, e->d_name);
	}
	closedir(d);
}

size_t segment_dir_sweep(const struct segment_dir *s)
{
	struct sweep w = {.segment_dir = s};

	sweep_locks(s);
	(void)segment_dir_walk(s, sweep_visit, &w);
	return w.unread;
}

int segment_dir_reopen(const char *dir)
{
	return open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int segment_dir_open_file(const char *dir, const char *name, struct segfile **ret)
{
	int fd = segment_dir_reopen(dir);
	int err;

	if (fd < 0)
		return -errno;
	err = segfile_open(fd, name, ret, NULL);
	close(fd);
	return err;
}
