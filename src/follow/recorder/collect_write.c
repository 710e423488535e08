/* collect_write.c - segments that were found go into the recording. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "follow/recorder/collect_parts.h"
#include "host/proc/folder.h"
#include "session/process/process.h"
#include "segments/read/segfile.h"
#include "segments/find/free_slots.h"
#include "follow/recorder/follow.h"
#include "names/find/program.h"

enum {
	LEVEL = 3,   /* of compression */
	REFUSED = 1, /* of write_row() */
};

/*
 * Marks the segment, which is not read again and whose file stays. REFUSED, or
 * -ENOMEM.
 */
static int note_refused(struct collect *c, const struct collect_row *r)
{
	int err = collect_add_key(&c->refused, &r->key);

	c->files[r->file].failed = true;
	return err < 0 ? err : REFUSED;
}

static void note_peak(struct collect *c, const struct seg_header *h, uint64_t bytes)
{
	if (c->programs > 1 && bytes <= c->peak_bytes)
		return;
	c->peak_bytes = bytes;
	c->peak_pid = (pid_t)h->pid;
	snprintf(c->peak_name, sizeof(c->peak_name), "%.63s", program_name(h));
}

static void count_figures(struct collect *c, const struct collect_row *r, const struct process *p)
{
	c->programs++;
	c->allocations += p->totals.allocations;
	c->allocated_bytes += p->totals.allocated_bytes;
	if (r->end.end_kind != RECORDING_END_EXEC) {
		c->processes++;
		c->live_blocks += p->totals.live_blocks;
		c->live_bytes += p->totals.live_bytes;
	}
	note_peak(c, &p->header, p->totals.peak_bytes);
}

static int add_figures(struct collect *c, const struct collect_row *r, const struct segment *seg)
{
	struct process *p;
	int err;

	err = process_new(seg, &p);
	if (err < 0)
		return err;
	p->owner = r->end.owner;
	if (process_is_unseen(p)) {
		c->inert += !c->is_turning;
		process_free(p);
		return 0;
	}
	if (r->end.end_kind == RECORDING_END_EXEC && process_ended_early(p)) {
		process_free(p);
		return 0; /* see session.c: it is counted, but not listed */
	}
	if (!c->is_turning)
		count_figures(c, r, p);
	if (c->written) {
		err = where_fill(&c->where, p);
		c->written(c->context, p);
	}
	process_free(p);
	return err;
}

/* Whose last events are written, and where. */
struct flying {
	struct collect *collect;
	const struct collect_row *row;
	struct recording_writer *writer;
};

static bool may_take(void *context, uint64_t bytes)
{
	const struct flying *f = context;
	struct quota *q = f->collect->quota;

	return quota_take(q, quota_user(q, f->collect->files[f->row->file].uid), bytes, f->writer);
}

/* Of a process that is over, or at the end of the recording. */
static int write_flight(struct collect *c, const struct collect_row *r, const struct seg_header *h,
    struct recording_writer *w)
{
	struct flying f = {c, r, w};

	if (c->is_turning)
		return 0;
	return flight_keep(c->files[r->file].dir, c->files[r->file].name, h, may_take, &f, w);
}

/* With a drain, that one counts. */
static void count_log(struct collect *c, const struct seg_header *h)
{
	struct collect_logs *l = &c->logs;

	if (c->is_turning)
		return;
	if (h->counts[SEG_SETTINGS_IGNORED] > l->ignored)
		l->ignored = h->counts[SEG_SETTINGS_IGNORED];
	if (c->drain)
		return;
	l->unread += h->log_state == SEG_LOG_ON;
	if (h->log_state != SEG_LOG_ON && h->log_state != SEG_LOG_LAST &&
	    (h->log_lack != SEG_LOG_LACK_NONE || h->log_state != SEG_LOG_NONE) && l->without++ == 0)
		l->lack = *h;
}

/*
 * REFUSED: it cannot be read, or there is no room for it, which is no error of
 * the recording as a whole.
 */
static int write_row(struct collect *c, const struct segfile *f, const struct collect_row *r,
    struct recording_writer *w)
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
	count_log(c, &seg->header);
	err = drain_last(c->drain, c->files[r->file].dir, c->files[r->file].name, &seg->header,
	    !c->is_turning, w);
	if (err == 0)
		err = segment_copy_compact(seg, &bytes, &len);
	if (err == 0 &&
	    !quota_take(c->quota, quota_user(c->quota, c->files[r->file].uid), len, w)) {
		free(bytes);
		segment_copy_free(seg);
		return note_refused(c, r);
	}
	if (err == 0)
		err = recording_append_packed(
		    w, RECORDING_SEGMENT, &r->end, sizeof(r->end), bytes, len, LEVEL);
	free(bytes);
	if (err == 0)
		err = write_flight(c, r, &seg->header, w);
	if (err == 0 && !c->is_turning)
		err = collect_add_key(&c->merged, &r->key);
	if (err == 0 && r->inert)
		c->inert += !c->is_turning;
	else if (err == 0)
		err = add_figures(c, r, seg);
	segment_copy_free(seg);
	return err;
}

/*
 * Never of the living, never what could not be written. True: it is gone, and
 * its keys are not needed any more.
 */
static bool remove_file(const struct collect_file *file)
{
	struct stat st;
	bool is_gone;
	int dir_fd;

	if (file->mapped || file->failed)
		return false;
	dir_fd = segment_dir_reopen(file->dir);
	if (dir_fd < 0)
		return false;
	(void)segment_dir_remove(dir_fd, file->name, file->device, file->inode);
	is_gone = fstatat(dir_fd, file->name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
	close(dir_fd);
	folder_remove_note(file->dir);
	return is_gone;
}

int collect_write(struct collect *c, struct recording_writer *w)
{
	for (size_t i = 0; i < c->row_count; i++) {
		const struct collect_row *r = &c->rows[i];
		struct collect_file *file = &c->files[r->file];
		int dir_fd = segment_dir_reopen(file->dir);
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

int collect_write_running(struct collect *c, struct recording_writer *w)
{
	int err;

	c->is_turning = true;
	err = collect_write(c, w);
	c->is_turning = false;
	return err;
}

/*
 * Nobody else frees slots of a session whose recorder lives. True: the slot is
 * free.
 */
static bool free_slot(int dir_fd, const struct collect_file *file, const struct segfile *f,
    const struct collect_row *r)
{
	struct free_slots s;
	bool is_free;

	if (free_slots_begin(&s, dir_fd, file->name, f) < 0)
		return false;
	is_free = free_slots_give(&s, f, r->slot, r->key.uuid);
	free_slots_end(&s);
	return is_free;
}

static bool is_dead(const struct collect_row *r)
{
	if (r->ours && !r->superseded)
		return false; /* its status comes with its end */
	return r->gone || r->superseded;
}

static int merge_row(struct collect *c, const struct collect_row *r, struct recording_writer *w,
    const struct collect_hooks *hooks)
{
	struct collect_file *file = &c->files[r->file];
	int dir_fd = segment_dir_reopen(file->dir);
	struct segfile *f = NULL;
	int err = 0;

	if (segfile_open(dir_fd, file->name, &f, NULL) < 0)
		goto out; /* tried again, at the end at the latest */
	if (c->alone && !r->ours) {
		err = collect_add_key(&c->merged, &r->key);
	} else {
		hooks->before(hooks->context, r->key.uuid);
		err = write_row(c, f, r, w);
		hooks->after(hooks->context, r->key.uuid, r->pid, &r->end);
	}
	if (err == 0) {
		file->open--;
		if (r->slot != SEGFILE_OWN && free_slot(dir_fd, file, f, r))
			collect_drop_key(&c->merged, &r->key);
	}
out:
	segfile_close(f);
	if (dir_fd >= 0)
		close(dir_fd);
	return err < 0 ? err : 0;
}

int collect_merge(struct collect *c, struct recording_writer *w, const struct collect_hooks *hooks)
{
	bool hidden = false;
	int err = 0;

	for (size_t i = 0; i < c->row_count && err == 0; i++)
		if (is_dead(&c->rows[i]))
			err = merge_row(c, &c->rows[i], w, hooks);
	if (err < 0)
		return err;
	/*
	 * A process that hides its mappings may be a child that has no segment
	 * yet.
	 */
	for (size_t i = 0; i < c->procs.count && !hidden; i++)
		hidden =
		    c->procs.list[i].hidden && procs_may_descend(&c->procs.list[i], c->command);
	for (size_t i = 0; i < c->file_count && !hidden; i++)
		if (c->files[i].open == 0 && remove_file(&c->files[i]))
			collect_drop_file(&c->merged, c->files[i].device, c->files[i].inode);
	return 0;
}

/* Has this process the collector in it, as one of this session? */
void collect_remove(const struct collect *c)
{
	for (size_t i = 0; i < c->file_count; i++)
		(void)remove_file(&c->files[i]);
}
