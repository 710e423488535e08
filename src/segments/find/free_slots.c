/* free_slots.c - gives back the slots of forked children that have ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/free_slots.h"

#include <sys/file.h>

#include "format/seg_log.h"
#include "kit/data/room.h"
#include "segments/find/proc.h"
#include "segments/find/segment_dir.h"
#include "segments/read/segfile.h"

/*
 * Our own files, and for root those of a user in that user's own directory, or
 * wherever the caller says so. What such a file says about itself can make us
 * write into this file alone.
 */
static bool may_write(int dir, const struct stat *st, bool as_root)
{
	struct stat folder;

	if (!S_ISREG(st->st_mode))
		return false;
	if (st->st_uid == geteuid() || geteuid() != 0)
		return st->st_uid == geteuid();
	return as_root ||
	    (fstat(dir, &folder) == 0 && folder.st_uid == st->st_uid && !(folder.st_mode & 022));
}

/*
 * The file is 0400: its owner may change that for a moment, root need not.
 * Where we are neither, it stays as it is: -EACCES. Takes `fd`. With `source`, it
 * must be that file.
 */
static int make_writable(int fd, int dir, const struct source *source, bool as_root)
{
	char self[32];
	struct stat st;
	int writable = -1;

	if (fd < 0)
		return fd;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) == 0 &&
	    (!source || (st.st_dev == source->device && st.st_ino == source->inode)) &&
	    may_write(dir, &st, as_root)) {
		writable = open(self, O_RDWR | O_CLOEXEC);
		if (writable < 0 && st.st_uid == geteuid() && fchmod(fd, 0600) == 0) {
			writable = open(self, O_RDWR | O_CLOEXEC);
			(void)fchmod(fd, 0400);
		}
	}
	close(fd);
	return writable < 0 ? -EACCES : writable;
}

static int open_writable(int dir, const char *name, const struct source *source, bool as_root)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	return make_writable(fd < 0 ? -errno : fd, dir, source, as_root);
}

static int lock_control(int dir, const char *name, bool as_root)
{
	char control[NAME_MAX + 8];
	struct stat st;
	int fd, err;

	snprintf(control, sizeof(control), "%s.ctl", name);
	fd = openat(dir, control, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) < 0 || !may_write(dir, &st, as_root) ? -EACCES : 0;
	if (err == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		err = -errno;
	if (err == 0)
		return fd;
	close(fd);
	return err;
}

static int begin(
    struct free_slots *s, int dir, const char *name, const struct segfile *f, bool as_root)
{
	s->lock = lock_control(dir, name, as_root);
	if (s->lock < 0)
		return s->lock;
	s->fd = open_writable(dir, name, segfile_source(f), as_root);
	s->log = make_writable(logfile_open(dir, name, "", O_RDONLY), dir, NULL, as_root);
	if (s->fd >= 0)
		return 0;
	if (s->log >= 0)
		close(s->log);
	close(s->lock);
	return s->fd;
}

int free_slots_begin(struct free_slots *s, int dir, const char *name, const struct segfile *f)
{
	return begin(s, dir, name, f, false);
}

int free_slots_begin_as_root(
    struct free_slots *s, int dir, const char *name, const struct segfile *f)
{
	return begin(s, dir, name, f, true);
}

void free_slots_end(struct free_slots *s)
{
	close(s->fd);
	if (s->log >= 0)
		close(s->log);
	close(s->lock); /* which unlocks it */
}

/* The state comes last: from then on the line is another child's. */
static bool free_line(int fd, off_t at)
{
	static const uint8_t no[sizeof(struct seg_early)];
	const size_t state = sizeof(((struct seg_early *)0)->state);

	return pwrite(fd, no, sizeof(no) - state, at + (off_t)state) ==
	    (ssize_t)(sizeof(no) - state) &&
	    pwrite(fd, no, state, at) == (ssize_t)state;
}

/*
 * First its pages, the header among them, then the byte that keeps others out.
 * Without holes it would not come back empty: then it stays taken.
 */
static bool free_pages(int fd, off_t at, uint64_t base, uint64_t limit)
{
	static const uint8_t no;

	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)base,
	           (off_t)limit) == 0 &&
	    pwrite(fd, &no, sizeof(no), at) == sizeof(no);
}

/* The pool of this slot goes, too; what cannot be read as one stays. */
static void free_pool(int fd, uint32_t pool)
{
	struct log_head first;
	uint64_t at, control;

	if (fd < 0 || pool == 0 || logfile_read(fd, 0, &first, sizeof(first)) < 0 ||
	    logfile_find_pool(fd, pool, &at, &control) < 0)
		return;
	(void)fallocate(
	    fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)first.child_bytes);
}

bool free_slots_give(
    const struct free_slots *s, const struct segfile *f, int slot, const uint8_t uuid[16])
{
	uint64_t base, limit;
	struct seg_header h;
	size_t bytes;
	off_t at;

	if (slot < 0 || segfile_header(f, slot, &h, NULL) < 0 ||
	    memcmp(h.uuid, uuid, sizeof(h.uuid)) != 0)
		return false;
	at = (off_t)segfile_taken_at(f, slot, &bytes);
	if (segfile_is_early(f, slot))
		return free_line(s->fd, at);
	/* the slot is not free before, so no new child has the pool yet */
	free_pool(s->log, (uint32_t)slot + 1);
	return segfile_window(f, slot, &base, &limit) == 0 && free_pages(s->fd, at, base, limit);
}

/* ---- all that have ended ---- */

/*
 * A look at /proc costs much, and has to come after the headers. So the files
 * are taken some at a time, with one look for all of them.
 */
enum { FILES_AT_ONCE = 64, CHILDREN_AT_ONCE = 4096 };

struct child {
	const struct segfile *file;
	const struct free_slots *slots;
	int slot;
	struct seg_header header;
};

struct batch {
	struct segfile *files[FILES_AT_ONCE];
	struct free_slots slots[FILES_AT_ONCE];
	size_t file_count;
	struct child *children;
	size_t count, room;
};

static int read_children(struct batch *b, const struct segfile *f)
{
	uint8_t taken[SEGFILE_SLOTS];

	segfile_taken(f, taken);
	for (int i = 0; i < segfile_slots(f); i++) {
		struct child *c;

		if (!taken[i])
			continue;
		if (room_make(&b->children, &b->room, b->count, sizeof(*b->children)) < 0)
			return -ENOMEM;
		c = &b->children[b->count];
		if (segfile_header(f, i, &c->header, NULL) < 0)
			continue;
		c->file = f;
		c->slots = &b->slots[b->file_count];
		c->slot = i;
		b->count++;
	}
	return 0;
}

/* Its slots, locked; nothing is held if it has none that can be freed. */
static int add_file(struct batch *b, int dir, const char *name)
{
	struct free_slots *s = &b->slots[b->file_count];
	size_t before = b->count;
	struct seg_header own;
	struct segfile *f;
	int err = 0;

	if (segfile_open(dir, name, &f, NULL) < 0)
		return 0;
	if (segfile_slots(f) == 0 || segfile_header(f, SEGFILE_OWN, &own, NULL) < 0 ||
	    segment_dir_is_recorded(dir, own.session) || free_slots_begin(s, dir, name, f) < 0) {
		segfile_close(f);
		return 0;
	}
	err = read_children(b, f);
	if (err < 0 || b->count == before) {
		free_slots_end(s);
		segfile_close(f);
		return err;
	}
	b->files[b->file_count++] = f;
	return 0;
}

/* Frees what can be, and lets go of the files. */
static size_t finish(struct batch *b)
{
	struct proc_cache *cache = b->count > 0 ? proc_cache_new() : NULL;
	size_t freed = 0;

	for (size_t i = 0; cache && i < b->count; i++) {
		const struct child *c = &b->children[i];
		enum proc_state state;
		pid_t pid;

		state = proc_check_in(cache, &c->header, segfile_source(c->file), &pid);
		if (state == PROC_NO || state == PROC_EXEC)
			freed += free_slots_give(c->slots, c->file, c->slot, c->header.uuid);
	}
	proc_cache_free(cache);
	for (size_t i = 0; i < b->file_count; i++) {
		free_slots_end(&b->slots[i]);
		segfile_close(b->files[i]);
	}
	b->file_count = 0;
	b->count = 0;
	return freed;
}

size_t free_slots_of_dead(int dir, char *const *names, size_t count)
{
	struct batch b = {0};
	size_t freed = 0;
	int err = 0;

	for (size_t i = 0; i < count && err == 0; i++) {
		err = add_file(&b, dir, names[i]);
		if (b.file_count == FILES_AT_ONCE || b.count >= CHILDREN_AT_ONCE)
			freed += finish(&b);
	}
	freed += finish(&b);
	free(b.children);
	return freed;
}

/* ---- in_use: does any process of this machine have a segment file mapped? ---- */

/*
 * A lease is given back at once. If somebody opens the file to write in
 * between, we are sent a signal, which must be one that does nothing.
 */
static enum in_use ask_for_lease(int fd)
{
	enum in_use answer;

	if (fcntl(fd, F_SETSIG, SIGURG) < 0)
		return IN_USE_UNKNOWN;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
		answer = IN_USE_NO;
	else
		answer = errno == EAGAIN ? IN_USE_YES : IN_USE_UNKNOWN;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return answer;
}

enum in_use in_use_check(int dir, const char *name, uint64_t device, uint64_t inode)
{
	enum in_use answer = IN_USE_UNKNOWN;
	struct stat st;
	int fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return IN_USE_UNKNOWN;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return IN_USE_UNKNOWN;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_dev != device || st.st_ino != inode)
		goto out;
	/*
	 * The file of a forked child may be taken by the next one, which must
	 * not wait for us. It is locked as long as it is mapped, so a lease is
	 * needed for the others only.
	 */
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		answer = errno == EWOULDBLOCK ? IN_USE_YES : IN_USE_UNKNOWN;
	else
		answer = ask_for_lease(fd);
out:
	(void)close(fd);
	return answer;
}
