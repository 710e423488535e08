/* collect.c - the segments of a session: which there are, and whose processes have ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/collect.h"

#include "segments/find/proc.h"
#include "kit/data/room.h"
#include "segments/read/segfile.h"
#include "follow/recorder/collect_parts.h"

struct finder {
	struct collect *collect;
	const char *session;
};

static int add_row(struct collect *c, size_t file, const struct live_key *key,
    const struct seg_header *h, bool gone)
{
	struct collect_row *more;

	more = reallocarray(c->rows, c->row_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->rows = more;
	more[c->row_count++] = (struct collect_row){
	    .file = file,
	    .slot = (int)key->slot,
	    .pid = (pid_t)h->pid,
	    .pid_ns = h->pid_ns,
	    .start_jiffies = h->start_jiffies,
	    .start_ns = h->start_monotonic_ns,
	    .sequence = h->sequence,
	    .inert = h->state == SEG_INERT,
	    .inert_reason = h->inert_reason,
	    .place_owner = h->place_owner,
	    .gone = gone,
	    .key = *key,
	    .end.end_kind =
	        h->end_kind == SEG_END_EXITED ? RECORDING_END_EXITED : RECORDING_END_UNKNOWN,
	    .end.exit_status = -1,
	    .end.owner = (uint64_t)c->files[file].uid + 1,
	};
	c->files[file].open++;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct live_key));
}

static bool is_listed(const struct collect_keys *k, const struct live_key *key)
{
	return k->count > 0 && bsearch(key, k->list, k->count, sizeof(*key), by_key);
}

/* Keeps the list in order: looks are many, additions few. */
int collect_add_key(struct collect_keys *k, const struct live_key *key)
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

void collect_drop_key(struct collect_keys *k, const struct live_key *key)
{
	struct live_key *found =
	    k->count == 0 ? NULL : bsearch(key, k->list, k->count, sizeof(*key), by_key);

	if (!found)
		return;
	memmove(found, found + 1, (size_t)(k->list + k->count - (found + 1)) * sizeof(*key));
	k->count--;
}

void collect_drop_file(struct collect_keys *k, uint64_t device, uint64_t inode)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->count; i++)
		if (k->list[i].device != device || k->list[i].inode != inode)
			k->list[kept++] = k->list[i];
	k->count = kept;
}

static int add_file(
    struct collect *c, const char *dir, const char *name, uid_t uid, const struct source *source)
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

/* A process in a slot, or the one whose file it is. */
static int find_in_slot(struct collect *c, const struct segfile *f, int slot)
{
	struct collect_file *file = &c->files[c->file_count - 1];
	struct live_key key;
	struct seg_header h;

	if (segfile_header(f, slot, &h, NULL) < 0)
		return 0;
	key = segfile_key(f, slot, h.uuid);
	if (is_listed(&c->merged, &key))
		return 0;
	if (is_listed(&c->refused, &key)) {
		file->failed = true;
		return 0;
	}
	return add_row(c, c->file_count - 1, &key, &h,
	    procs_check(&c->procs, &h, segfile_source(f), true) == PROC_NO);
}

static int find_visit(void *context, int dir_fd, const char *dir, const char *name)
{
	struct finder *q = context;
	struct collect *c = q->collect;
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	struct segfile *f;
	struct stat st;
	int err = 0;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !quota_file(c->quota, st.st_uid) || segfile_open(dir_fd, name, &f, NULL) < 0)
		return 0;
	if (segfile_header(f, SEGFILE_OWN, &h, NULL) < 0 || strcmp(h.session, q->session) != 0)
		goto out;
	err = add_file(c, dir, name, st.st_uid, segfile_source(f));
	segfile_taken(f, taken);
	for (int slot = SEGFILE_OWN; err == 0 && slot < segfile_slots(f); slot++)
		if (slot < 0 || taken[slot])
			err = find_in_slot(c, f, slot);
out:
	segfile_close(f);
	return err;
}

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_time(const void *left, const void *right)
{
	const struct collect_row *a = left, *b = right;
	int order = by_number(a->start_ns, b->start_ns);

	return order ? order : by_number(a->sequence, b->sequence);
}

static int by_process(const void *left, const void *right)
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
static bool same_process(const struct collect_row *r, pid_t pid, uint64_t start_jiffies)
{
	return r->pid == pid &&
	    (r->start_jiffies == start_jiffies || r->start_jiffies == 0 || start_jiffies == 0);
}

static void end_of_command(struct collect_row *r, int status)
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
 * has called none; it has a pid of its own namespace then, see procs_check().
 */
static bool is_successor(
    const struct collect *c, const struct collect_row *r, const struct collect_row *next)
{
	const struct collect_file *f = &c->files[r->file];
	const struct procs_process *p;

	if (next->pid_ns != r->pid_ns || next->start_jiffies == 0 || next->start_ns < r->start_ns ||
	    !same_process(next, r->pid, r->start_jiffies))
		return false;
	if (r->start_jiffies != 0)
		return true;
	p = procs_writer(&c->procs, f->device, f->inode, r->pid, 0);
	return !p || p->start_jiffies == next->start_jiffies;
}

/*
 * Rows are sorted by process, the segments of a process from the oldest to the
 * newest.
 */
static void find_end(struct collect *c, size_t i, const struct collect_child *child)
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
	else if (!r->gone && procs_writer(&c->procs, f->device, f->inode, r->pid, r->start_jiffies))
		r->end.end_kind = RECORDING_END_RUNNING;
	else if (r->end.end_kind == RECORDING_END_UNKNOWN && r->start_jiffies &&
	    procs_start_jiffies(r->pid) == r->start_jiffies)
		r->end.end_kind = RECORDING_END_EXEC; /* now without us */
}

/* What follows from a row for its file and for the command. */
static void note_row(struct collect *c, const struct collect_row *r)
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

static void keep_command_only(struct collect *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->row_count; i++)
		if (c->rows[i].ours)
			c->rows[kept++] = c->rows[i];
	c->row_count = kept;
}

/* What a look has found; figures and what was written stay. */
static void forget(struct collect *c)
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

int collect_find(struct collect *c, const struct segment_dir *s, const struct collect_child *child,
    uint64_t since_jiffies)
{
	struct finder q = {.collect = c, .session = s->session};
	int err;

	forget(c);
	/*
	 * The running processes are listed before the segments are read. So a
	 * process that ends in between counts as running, and its segment
	 * stays.
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
		c->files[i].mapped = procs_maps(&c->procs, c->files[i].device, c->files[i].inode);
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

static bool is_traced(const struct collect *c, const struct procs_process *p)
{
	for (size_t i = 0; i < c->file_count; i++)
		if (procs_process_maps(p, c->files[i].device, c->files[i].inode))
			return true;
	for (size_t i = 0; p->hidden && i < c->row_count; i++)
		if (c->rows[i].end.end_kind == RECORDING_END_RUNNING &&
		    c->rows[i].pid == p->ns_pid && c->rows[i].start_jiffies == p->start_jiffies)
			return true;
	return false;
}

void collect_each_running(const struct collect *c, collect_running visit, void *context)
{
	for (size_t i = 0; i < c->procs.count; i++) {
		const struct procs_process *p = &c->procs.list[i];
		bool traced = is_traced(c, p);

		/* others are strangers whose mappings we may not see */
		if (traced || p->in_session)
			visit(context, p, traced);
	}
}

void collect_release(struct collect *c)
{
	forget(c);
	free(c->merged.list);
	free(c->refused.list);
	where_release(&c->where);
	memset(c, 0, sizeof(*c));
}
