/* collect.c - brings the segments of a session together in one recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader/proc.h"
#include "reader/folder.h"
#include "reader/process.h"
#include "util/room.h"
#include "reader/segfile.h"
#include "report/program.h"

enum { LEVEL = 3 }; /* of compression */

/*
 * A uuid alone is what a process says of itself: one that takes another's
 * would keep that from being written.
 */
struct collect_key {
	uint8_t uuid[16];
	uint64_t device, inode;
	int64_t slot;
};

struct collect_file {
	char *dir;
	char *name;
	uid_t uid; /* its owner */
	uint64_t device, inode;
	bool mapped; /* by a living process: not to be deleted */
	bool failed; /* something in it could not be recorded: keep it */
	size_t open; /* rows not written yet */
};

struct collect_row {
	size_t file;
	int slot;
	pid_t pid;
	uint64_t pid_ns;
	uint64_t start_jiffies;
	uint64_t start_ns;
	uint64_t sequence;
	bool inert;
	uint32_t inert_reason, place_owner;
	uint8_t uuid[16];
	struct collect_key key;
	bool gone;       /* surely no process writes it any more */
	bool superseded; /* by a younger segment of the same process */
	bool ours;       /* has the command's pid and start */
	struct recording_segment end;
};

/* The collector's clock may be coarse: two ticks of the slowest kernel. */
#define CLOCK_COARSE_NS UINT64_C(20000000)

struct finder {
	struct collect *collect;
	const char *session;
};

static struct collect_key
key_of(const struct collect_file *f, int slot, const struct seg_header *h)
{
	struct collect_key k = {
	    .device = f->device, .inode = f->inode, .slot = slot};

	memcpy(k.uuid, h->uuid, sizeof(k.uuid));
	return k;
}

static int
add_row(struct collect *c, size_t file, int slot, const struct seg_header *h,
    bool gone)
{
	struct collect_row *more;

	more = reallocarray(c->rows, c->row_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->rows = more;
	more[c->row_count++] = (struct collect_row){
	    .file = file,
	    .slot = slot,
	    .pid = (pid_t)h->pid,
	    .pid_ns = h->pid_ns,
	    .start_jiffies = h->start_jiffies,
	    .start_ns = h->start_monotonic_ns,
	    .sequence = h->sequence,
	    .inert = h->state == SEG_INERT,
	    .inert_reason = h->inert_reason,
	    .place_owner = h->place_owner,
	    .gone = gone,
	    .key = key_of(&c->files[file], slot, h),
	    .end.end_kind = h->end_kind == SEG_END_EXITED
	        ? RECORDING_END_EXITED
	        : RECORDING_END_UNKNOWN,
	    .end.exit_status = -1,
	    .end.owner = (uint64_t)c->files[file].uid + 1,
	};
	memcpy(more[c->row_count - 1].uuid, h->uuid, sizeof(h->uuid));
	c->files[file].open++;
	return 0;
}

static int
by_key(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct collect_key));
}
_Static_assert(sizeof(struct collect_key) == 40, "no padding to compare");

static bool
is_listed(const struct collect_keys *k, const struct collect_key *key)
{
	return k->count > 0 &&
	    bsearch(key, k->list, k->count, sizeof(*key), by_key);
}

/* Keeps the list in order: looks are many, additions few. */
static int
add_key(struct collect_keys *k, const struct collect_key *key)
{
	size_t at = 0, end = k->count;

	if (room_make(&k->list, &k->room, k->count, sizeof(*key)) < 0)
		return -ENOMEM;
	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (by_key(&k->list[middle], key) < 0)
			at = middle + 1;
		else
			end = middle;
	}
	memmove(k->list + at + 1, k->list + at, (k->count - at) * sizeof(*key));
	k->list[at] = *key;
	k->count++;
	return 0;
}

enum { REFUSED = 1 }; /* of write_row() */

/* It is not looked at again, and its file stays. REFUSED, or -ENOMEM. */
static int
note_refused(struct collect *c, const struct collect_row *r)
{
	int err = add_key(&c->refused, &r->key);

	c->files[r->file].failed = true;
	return err < 0 ? err : REFUSED;
}

static int
add_file(struct collect *c, const char *dir, const char *name, uid_t uid,
    const struct source *source)
{
	struct collect_file *more;

	more = reallocarray(c->files, c->file_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->files = more;
	more += c->file_count;
	*more = (struct collect_file){
	    .dir = strdup(dir),
	    .name = strdup(name),
	    .uid = uid,
	    .device = source->device,
	    .inode = source->inode,
	};
	c->file_count++;
	return more->dir && more->name ? 0 : -ENOMEM;
}

/*
 * Does surely no process write this segment any more? A forked child may be in
 * a pid namespace of its own, where its pid is another than here: then the list
 * of processes has it, unless it was forked after the list was made.
 */
static bool
is_gone(struct collect *c, const struct seg_header *h, const struct source *s)
{
	if (proc_check_own(h, s) != PROC_NO)
		return false;
	return h->start_jiffies != 0 ||
	    (h->start_monotonic_ns + CLOCK_COARSE_NS < c->procs.begin_ns &&
	        !procs_may_map(&c->procs, s->device, s->inode, (pid_t)h->pid));
}

/* A process in a slot, or the one whose file it is. */
static int
find_in_slot(struct collect *c, const struct segfile *f, int slot)
{
	struct collect_file *file = &c->files[c->file_count - 1];
	struct collect_key key;
	struct seg_header h;

	if (segfile_header(f, slot, &h, NULL) < 0)
		return 0;
	key = key_of(file, slot, &h);
	if (is_listed(&c->merged, &key))
		return 0;
	if (is_listed(&c->refused, &key)) {
		file->failed = true;
		return 0;
	}
	return add_row(
	    c, c->file_count - 1, slot, &h, is_gone(c, &h, segfile_source(f)));
}

static int
find_visit(void *context, int dir_fd, const char *dir, const char *name)
{
	struct finder *q = context;
	struct collect *c = q->collect;
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	struct segfile *f;
	struct stat st;
	int err = 0;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !quota_file(c->quota, st.st_uid) ||
	    segfile_open(dir_fd, name, &f, NULL) < 0)
		return 0;
	if (segfile_header(f, SEGFILE_OWN, &h, NULL) < 0 ||
	    strcmp(h.session, q->session) != 0)
		goto out;
	err = add_file(c, dir, name, st.st_uid, segfile_source(f));
	segfile_taken(f, taken);
	for (int slot = SEGFILE_OWN; err == 0 && slot < segfile_slots(f);
	     slot++)
		if (slot < 0 || taken[slot])
			err = find_in_slot(c, f, slot);
out:
	segfile_close(f);
	return err;
}

static int
by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int
by_time(const void *left, const void *right)
{
	const struct collect_row *a = left, *b = right;
	int order = by_number(a->start_ns, b->start_ns);

	return order ? order : by_number(a->sequence, b->sequence);
}

static int
by_process(const void *left, const void *right)
{
	const struct collect_row *a = left, *b = right;
	int order = by_number((uint64_t)a->pid, (uint64_t)b->pid);

	if (order == 0)
		order = by_number(a->pid_ns, b->pid_ns);
	if (order == 0)
		order = by_number(a->start_jiffies, b->start_jiffies);
	return order ? order : by_time(a, b);
}

/* pid and start time survive exec; a start of 0 is one not known. */
static bool
same_process(const struct collect_row *r, pid_t pid, uint64_t start_jiffies)
{
	return r->pid == pid &&
	    (r->start_jiffies == start_jiffies || r->start_jiffies == 0 ||
	        start_jiffies == 0);
}

static void
end_of_command(struct collect_row *r, int status)
{
	if (WIFSIGNALED(status)) {
		r->end.end_kind = RECORDING_END_KILLED;
		r->end.signal = WTERMSIG(status);
	} else {
		r->end.end_kind = RECORDING_END_EXITED;
		r->end.exit_status = WEXITSTATUS(status);
	}
}

/*
 * Is `next` a later segment of the process of r, which has called exec? The
 * start time is known after an exec. A forked child that still maps its segment
 * has called none; it has a pid of its own namespace then, see is_gone().
 */
static bool
is_successor(const struct collect *c, const struct collect_row *r,
    const struct collect_row *next)
{
	const struct collect_file *f = &c->files[r->file];
	const struct procs_process *p;

	if (next->pid_ns != r->pid_ns || next->start_jiffies == 0 ||
	    next->start_ns < r->start_ns ||
	    !same_process(next, r->pid, r->start_jiffies))
		return false;
	if (r->start_jiffies != 0)
		return true;
	p = procs_writer(&c->procs, f->device, f->inode, r->pid, 0);
	return !p || p->start_jiffies == next->start_jiffies;
}

/* Rows come by process, each one's segments from the oldest to the newest. */
static void
find_end(struct collect *c, size_t i, const struct collect_child *child)
{
	struct collect_row *r = &c->rows[i];
	const struct collect_row *next = r + 1;
	const struct collect_file *f = &c->files[r->file];
	bool is_last = i + 1 == c->row_count || !is_successor(c, r, next);

	r->ours = same_process(r, child->pid, child->start_jiffies);
	r->superseded = !is_last;
	if (!is_last)
		r->end.end_kind = RECORDING_END_EXEC;
	else if (r->ours && child->running)
		r->end.end_kind = RECORDING_END_RUNNING;
	else if (r->ours)
		end_of_command(r, child->status);
	else if (!r->gone &&
	    procs_writer(
	        &c->procs, f->device, f->inode, r->pid, r->start_jiffies))
		r->end.end_kind = RECORDING_END_RUNNING;
	else if (r->end.end_kind == RECORDING_END_UNKNOWN && r->start_jiffies &&
	    procs_start_jiffies(r->pid) == r->start_jiffies)
		r->end.end_kind = RECORDING_END_EXEC; /* now without us */
}

/* What follows from a row for its file and for the command. */
static void
note_row(struct collect *c, const struct collect_row *r)
{
	/* where mappings are hidden, the row knows better */
	if (r->end.end_kind == RECORDING_END_RUNNING)
		c->files[r->file].mapped = true;
	if (!r->ours)
		return;
	c->arrived = true;
	c->declined = r->inert;
	c->inert_reason = r->inert_reason;
	c->place_owner = r->place_owner;
}

static void
keep_command_only(struct collect *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->row_count; i++)
		if (c->rows[i].ours)
			c->rows[kept++] = c->rows[i];
	c->row_count = kept;
}

/* What a look has found; figures and what was written stay. */
static void
forget(struct collect *c)
{
	for (size_t i = 0; i < c->file_count; i++) {
		free(c->files[i].dir);
		free(c->files[i].name);
	}
	free(c->files);
	free(c->rows);
	c->files = NULL;
	c->rows = NULL;
	c->file_count = 0;
	c->row_count = 0;
	procs_release(&c->procs);
}

int
collect_find(struct collect *c, const struct segment_dir *s,
    const struct collect_child *child, uint64_t since_jiffies)
{
	struct finder q = {.collect = c, .session = s->session};
	int err;

	forget(c);
	/*
	 * Who lives is asked before the segments are read: a process that
	 * ends in between counts as running and its segment stays.
	 */
	err = procs_init(&c->procs, since_jiffies, s->session);
	quota_look(c->quota);
	if (err == 0)
		err = segment_dir_walk(s, find_visit, &q);
	if (err < 0) {
		forget(c);
		return err;
	}
	for (size_t i = 0; i < c->file_count; i++)
		c->files[i].mapped = procs_maps(
		    &c->procs, c->files[i].device, c->files[i].inode);
	if (c->row_count)
		qsort(c->rows, c->row_count, sizeof(*c->rows), by_process);
	for (size_t i = 0; i < c->row_count; i++) {
		find_end(c, i, child);
		note_row(c, &c->rows[i]);
	}
	if (child->alone && !child->running)
		keep_command_only(c);
	c->alone = child->alone;
	c->command = child->pid;
	if (c->row_count)
		qsort(c->rows, c->row_count, sizeof(*c->rows), by_time);
	return 0;
}

static void
note_peak(struct collect *c, const struct seg_header *h, uint64_t bytes)
{
	if (c->programs > 1 && bytes <= c->peak_bytes)
		return;
	c->peak_bytes = bytes;
	c->peak_pid = (pid_t)h->pid;
	snprintf(c->peak_name, sizeof(c->peak_name), "%.63s", program_name(h));
}

static int
add_figures(
    struct collect *c, const struct collect_row *r, const struct segment *seg)
{
	struct process *p;
	int err;

	err = process_new(seg, &p);
	if (err < 0)
		return err;
	p->owner = r->end.owner;
	if (process_is_unseen(p)) {
		c->inert++;
		process_free(p);
		return 0;
	}
	if (r->end.end_kind == RECORDING_END_EXEC && process_ended_early(p)) {
		process_free(p);
		return 0; /* see session.c: it is counted, but not listed */
	}
	c->programs++;
	c->allocations += p->totals.allocations;
	c->allocated_bytes += p->totals.allocated_bytes;
	if (r->end.end_kind != RECORDING_END_EXEC) {
		c->processes++;
		c->live_blocks += p->totals.live_blocks;
		c->live_bytes += p->totals.live_bytes;
	}
	note_peak(c, &seg->header, p->totals.peak_bytes);
	if (c->written) {
		err = where_fill(&c->where, p);
		c->written(c->context, p);
	}
	process_free(p);
	return err;
}

/*
 * REFUSED: it cannot be read, or there is no room for it, which is no error of
 * the recording as a whole.
 */
static int
write_row(struct collect *c, const struct segfile *f,
    const struct collect_row *r, struct recording_writer *w)
{
	struct segment *seg;
	void *bytes = NULL;
	size_t len = 0;
	int err;

	err = segfile_read(f, r->slot, &seg, NULL);
	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		c->unreadable++;
		c->quota->refused[QUOTA_DAMAGED]++;
		return note_refused(c, r);
	}
	err = segment_compact(seg, &bytes, &len);
	if (err == 0 &&
	    !quota_take(c->quota, quota_user(c->quota, c->files[r->file].uid),
	        len, w)) {
		free(bytes);
		segment_free(seg);
		return note_refused(c, r);
	}
	if (err == 0)
		err = recording_append_packed(w, RECORDING_SEGMENT, &r->end,
		    sizeof(r->end), bytes, len, LEVEL);
	free(bytes);
	if (err == 0)
		err = add_key(&c->merged, &r->key);
	if (err == 0 && r->inert)
		c->inert++;
	else if (err == 0)
		err = add_figures(c, r, seg);
	segment_free(seg);
	return err;
}

static int
open_directory(const struct collect_file *f)
{
	return open(f->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Never of the living, never what could not be written. */
static void
remove_file(const struct collect_file *file)
{
	struct stat st;
	int dir_fd;

	if (file->mapped || file->failed)
		return;
	dir_fd = open_directory(file);
	if (dir_fd < 0)
		return;
	if (fstatat(dir_fd, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == file->device && st.st_ino == file->inode)
		segment_dir_remove(dir_fd, file->name);
	close(dir_fd);
	folder_remove_note(file->dir);
}

int
collect_write(struct collect *c, struct recording_writer *w)
{
	for (size_t i = 0; i < c->row_count; i++) {
		const struct collect_row *r = &c->rows[i];
		struct collect_file *file = &c->files[r->file];
		int dir_fd = open_directory(file);
		struct segfile *f = NULL;
		int err = 0;

		if (segfile_open(dir_fd, file->name, &f, NULL) < 0) {
			c->unreadable++;
			c->quota->refused[QUOTA_DAMAGED]++;
			file->failed = true;
		} else {
			err = write_row(c, f, r, w);
		}
		segfile_close(f);
		if (dir_fd >= 0)
			close(dir_fd);
		if (err < 0)
			return err;
	}
	return 0;
}

/*
 * The file is 0400: its owner may change that for a moment. Where we are not
 * the owner, it stays as it is: -EACCES.
 */
static int
open_writable(int dir_fd, const struct collect_file *file)
{
	int fd = openat(
	    dir_fd, file->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	char self[32];
	struct stat st;
	int writable = -1;

	if (fd < 0)
		return -errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) == 0 && st.st_dev == file->device &&
	    st.st_ino == file->inode && st.st_uid == geteuid()) {
		writable = open(self, O_WRONLY | O_CLOEXEC);
		if (writable < 0 && fchmod(fd, 0600) == 0) {
			writable = open(self, O_WRONLY | O_CLOEXEC);
			(void)fchmod(fd, 0400);
		}
	}
	close(fd);
	return writable < 0 ? -EACCES : writable;
}

/*
 * Empties the slot of a dead child and gives it back: first its pages, the
 * header among them, then the byte that keeps others out.
 */
static bool
free_slot(int dir_fd, const struct collect_file *file, const struct segfile *f,
    int slot)
{
	static const uint8_t no[sizeof(struct seg_early)];
	bool early = segfile_is_early(f, slot), done;
	uint64_t base, limit;
	size_t bytes;
	off_t at = (off_t)segfile_taken_at(f, slot, &bytes);
	int fd;

	if (!early && segfile_window(f, slot, &base, &limit) < 0)
		return false;
	fd = open_writable(dir_fd, file);
	if (fd < 0)
		return false;
	/* without holes it would not come back empty: then it stays taken */
	done = early ||
	    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	        (off_t)base, (off_t)limit) == 0;
	done = done && pwrite(fd, no, bytes, at) == (ssize_t)bytes;
	close(fd);
	return done;
}

static bool
is_dead(const struct collect_row *r)
{
	if (r->ours && !r->superseded)
		return false; /* its status comes with its end */
	return r->gone || r->superseded;
}

static int
merge_row(struct collect *c, const struct collect_row *r,
    struct recording_writer *w, const struct collect_hooks *hooks)
{
	struct collect_file *file = &c->files[r->file];
	int dir_fd = open_directory(file);
	struct segfile *f = NULL;
	int err = 0;

	if (segfile_open(dir_fd, file->name, &f, NULL) < 0)
		goto out; /* tried again, at the end at the latest */
	if (c->alone && !r->ours) {
		err = add_key(&c->merged, &r->key);
	} else {
		hooks->before(hooks->context, r->uuid);
		err = write_row(c, f, r, w);
		hooks->after(hooks->context, r->uuid, r->pid, &r->end);
	}
	if (err == 0) {
		file->open--;
		if (r->slot != SEGFILE_OWN)
			(void)free_slot(dir_fd, file, f, r->slot);
	}
out:
	segfile_close(f);
	if (dir_fd >= 0)
		close(dir_fd);
	return err < 0 ? err : 0;
}

int
collect_merge(struct collect *c, struct recording_writer *w,
    const struct collect_hooks *hooks)
{
	bool hidden = false;
	int err = 0;

	for (size_t i = 0; i < c->row_count && err == 0; i++)
		if (is_dead(&c->rows[i]))
			err = merge_row(c, &c->rows[i], w, hooks);
	if (err < 0)
		return err;
	/* who hides its mappings may be a child that has no segment yet */
	for (size_t i = 0; i < c->procs.count && !hidden; i++)
		hidden = c->procs.list[i].hidden &&
		    procs_may_descend(&c->procs.list[i], c->command);
	for (size_t i = 0; i < c->file_count && !hidden; i++)
		if (c->files[i].open == 0)
			remove_file(&c->files[i]);
	return 0;
}

/* Has this process the collector in it, as one of this session? */
static bool
is_traced(const struct collect *c, const struct procs_process *p)
{
	for (size_t i = 0; i < c->file_count; i++)
		if (procs_process_maps(
		        p, c->files[i].device, c->files[i].inode))
			return true;
	for (size_t i = 0; p->hidden && i < c->row_count; i++)
		if (c->rows[i].end.end_kind == RECORDING_END_RUNNING &&
		    c->rows[i].pid == p->ns_pid &&
		    c->rows[i].start_jiffies == p->start_jiffies)
			return true;
	return false;
}

void
collect_each_running(
    const struct collect *c, collect_running visit, void *context)
{
	for (size_t i = 0; i < c->procs.count; i++) {
		const struct procs_process *p = &c->procs.list[i];
		bool traced = is_traced(c, p);

		/* others are strangers whose mappings we may not see */
		if (traced || p->in_session)
			visit(context, p, traced);
	}
}

void
collect_remove(const struct collect *c)
{
	for (size_t i = 0; i < c->file_count; i++)
		remove_file(&c->files[i]);
}

void
collect_release(struct collect *c)
{
	forget(c);
	free(c->merged.list);
	free(c->refused.list);
	where_release(&c->where);
	memset(c, 0, sizeof(*c));
}
