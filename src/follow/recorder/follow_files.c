/* follow_files.c - the segments of a tree that are watched while it runs. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "segments/read/segfile.h"
#include "follow/recorder/follow.h"
#include "follow/recorder/follow_parts.h"
#include "segments/find/segment_dir.h"
#include "kit/data/room.h"

enum {
	HOLD_BYTES = 16 << 20, /* of one look, in memory */
	FILES_MAX = 100000,    /* known, before those of others are left out */
	FORGET_MIN = 64,       /* files that are gone, to be forgotten at once */
};

static void drop_watch(struct follow_file *x, size_t i)
{
	tail_free(x->watches[i].tail);
	x->watches[i] = x->watches[--x->watch_count];
}

static bool same_file(const void *items, uint32_t item, const void *key)
{
	const struct follow_file *x = (const struct follow_file *)items + item;
	const struct follow_file *y = key;

	return strcmp(x->name, y->name) == 0 && strcmp(x->dir, y->dir) == 0;
}

static uint64_t hash_file(const char *dir, const char *name)
{
	return dict_hash(dict_hash_text(dir), dict_hash_text(name), 7);
}

/* Is another program of this process being watched? */
static bool knows_pid(const struct follow *f, pid_t pid)
{
	for (size_t i = 0; i < f->file_count; i++)
		for (size_t k = 0; k < f->files[i].watch_count; k++)
			if (f->files[i].watches[k].pid == pid)
				return true;
	return false;
}

static void mark_arrival(struct follow *f, const struct seg_header *h, int slot)
{
	static const uint8_t none[16];
	enum codec_mark kind = CODEC_MARK_SPAWN;

	if (f->plan.run_ns && h->start_monotonic_ns < f->plan.start_ns)
		return; /* an earlier chapter has it */
	/* a start of 0: a forked child, whose pid may be that of a namespace */
	if (h->start_jiffies != 0 && knows_pid(f, (pid_t)h->pid))
		kind = CODEC_MARK_EXEC;
	else if (slot >= 0 || memcmp(h->parent_uuid, none, sizeof(none)))
		kind = CODEC_MARK_FORK;
	follow_mark(f, kind, (pid_t)h->pid, h->exe);
}

static int add_watch(struct follow *f, struct follow_file *x, int slot, const struct seg_header *h)
{
	struct follow_watch *more;

	more = reallocarray(x->watches, x->watch_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	x->watches = more;
	f->found_any = true;
	mark_arrival(f, h, slot);
	more += x->watch_count++;
	*more = (struct follow_watch){.slot = slot, .pid = (pid_t)h->pid, .fresh = true};
	memcpy(more->uuid, h->uuid, sizeof(more->uuid));
	return drain_add(f->plan.collect->drain, x->dir, x->name, h);
}

static bool is_watched(const struct follow_file *x, int slot)
{
	for (size_t i = 0; i < x->watch_count; i++)
		if (x->watches[i].slot == slot)
			return true;
	return false;
}

static int find_children(struct follow *f, struct follow_file *x, const struct segfile *seg)
{
	uint8_t taken[SEGFILE_SLOTS];
	size_t count = 0;
	int err = 0;

	segfile_taken(seg, taken);
	for (int i = 0; i < segfile_slots(seg) && err == 0; i++) {
		struct seg_header h;

		if (!taken[i])
			continue;
		count++;
		/* of a child in its first events the end state is enough */
		if (!f->plan.child.alone && !segfile_is_early(seg, i) && !is_watched(x, i) &&
		    segfile_header(seg, i, &h, NULL) == 0)
			err = add_watch(f, x, i, &h);
	}
	f->has_children |= count > 0;
	if (count > f->slots_taken)
		f->slots_taken = count;
	return err;
}

/*
 * A segment that cannot be read now is not followed any more, and its figures
 * are written when the process ends. The same holds for a segment that was
 * never read while its process ran: then `last` reads nothing.
 */
static int look_at_watch(struct follow *f, const struct follow_file *x, struct follow_watch *w,
    const struct segfile *seg, bool rows, bool last)
{
	size_t before = f->timeline.out.len;
	bool fresh = w->fresh;
	struct seg_header h;
	int err;

	if ((!w->tail && !fresh) || (fresh && last))
		return 0;
	if (fresh) {
		/*
		 * Numbers increase in the time line, so a process gets its
		 * number when its first items are written, not when it is
		 * found: those found before may be read after it.
		 */
		err = tail_new(
		    ++f->numbers, &quota_user(f->plan.collect->quota, x->uid)->room, &w->tail);
		if (err < 0)
			return err;
		w->fresh = false;
	}
	err = tail_look(w->tail, seg, w->slot, rows || fresh, &f->timeline.out, &h);
	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		f->timeline.out.len = before;
		tail_free(w->tail);
		w->tail = NULL;
		f->plan.collect->quota->unwatched += err == -EFBIG;
		return 0;
	}
	f->sites += tail_sites(w->tail);
	if (w->module_changes == tail_module_changes(w->tail))
		return 0;
	w->module_changes = tail_module_changes(w->tail);
	return where_look(&f->plan.collect->where, w->tail, &h, segfile_source(seg));
}

/* With --no-follow only the command's own segments count. */
static bool is_wanted(const struct follow *f, const struct seg_header *h)
{
	const struct collect_child *c = &f->plan.child;

	return !strcmp(h->session, f->plan.segment_dir->session) &&
	    (!c->alone ||
	        ((pid_t)h->pid == c->pid &&
	            (h->start_jiffies == c->start_jiffies || c->start_jiffies == 0 ||
	                h->start_jiffies == 0)));
}

static int get_to_know(struct follow *f, struct follow_file *x, const struct segfile *seg)
{
	struct seg_header h;

	if (x->is_known || segfile_header(seg, SEGFILE_OWN, &h, NULL) < 0)
		return 0;
	/* of a child in its first events the end state is enough */
	if (h.counts[SEG_EARLY_STACKS])
		return 0;
	x->is_known = true;
	f->learned++;
	x->is_ours = is_wanted(f, &h);
	/* A collector that declined to trace has no figures, only an end. */
	if (!x->is_ours || h.state == SEG_INERT)
		return 0;
	return add_watch(f, x, SEGFILE_OWN, &h);
}

static int look_at_file(struct follow *f, struct follow_file *x, bool rows, bool last)
{
	struct segfile *seg = NULL;
	int err;

	if ((x->is_known && !x->is_ours) || x->is_gone)
		return 0;
	err = segment_dir_open_file(x->dir, x->name, &seg);
	if (err == -ENODATA)
		return 0; /* being born: next time */
	if (err < 0) {
		while (x->watch_count > 0)
			drop_watch(x, 0);
		x->is_gone = true;
		return 0;
	}
	err = get_to_know(f, x, seg);
	f->present += x->is_ours;
	if (err == 0 && x->is_ours)
		err = find_children(f, x, seg);
	for (size_t i = 0; i < x->watch_count && err == 0; i++) {
		err = look_at_watch(f, x, &x->watches[i], seg, rows, last);
		if (err == 0 && f->timeline.out.len > HOLD_BYTES)
			err = follow_flush(f);
	}
	segfile_close(seg);
	return err;
}

static int find_visit(void *context, int dir_fd, const char *dir, const char *name)
{
	struct follow *f = context;
	struct follow_file key = {.dir = strdup(dir), .name = strdup(name)};
	struct stat st;
	uint32_t at;
	int err = -ENOMEM;

	if (!key.dir || !key.name)
		goto out;
	err = 0;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		goto out;
	key.uid = st.st_uid;
	/* names that come and go, of somebody else: their ends are enough */
	if (f->file_count >= FILES_MAX && key.uid != geteuid()) {
		f->unlisted++;
		goto out;
	}
	err = -ENOMEM;
	if (room_make(&f->files, &f->file_room, f->file_count, sizeof(*f->files)) < 0)
		goto out;
	err = dict_find(&f->file_index, hash_file(dir, name), same_file, f->files, &key,
	    (uint32_t)f->file_count, &at);
	if (err == 0 && at < f->file_count)
		f->files[at].seen = f->looks;
	if (err < 0 || at < f->file_count)
		goto out;
	key.seen = f->looks;
	f->files[f->file_count++] = key;
	return 0;
out:
	free(key.dir);
	free(key.name);
	return err;
}

static void free_file(struct follow_file *x)
{
	while (x->watch_count > 0)
		drop_watch(x, 0);
	free(x->watches);
	free(x->dir);
	free(x->name);
}

/* Nothing of it is left to be read, and no look will find it again. */
static bool is_over(const struct follow *f, const struct follow_file *x)
{
	return x->seen != f->looks && (x->is_gone || (x->is_known && !x->is_ours));
}

/*
 * A program that forks for weeks leaves no list that grows for weeks. The others
 * keep their order, which is that of the recording.
 */
static int forget_files(struct follow *f)
{
	size_t over = 0, kept = 0;

	for (size_t i = 0; i < f->file_count; i++)
		over += is_over(f, &f->files[i]);
	/* the index is made anew, so it must pay */
	if (over < FORGET_MIN || over < f->file_count / 2)
		return 0;
	dict_release(&f->file_index);
	f->file_index = (struct dict){0};
	for (size_t i = 0; i < f->file_count; i++) {
		if (is_over(f, &f->files[i]))
			free_file(&f->files[i]);
		else
			f->files[kept++] = f->files[i];
	}
	f->file_count = kept;
	for (size_t i = 0; i < kept; i++) {
		const struct follow_file *x = &f->files[i];
		uint32_t at;

		if (dict_find(&f->file_index, hash_file(x->dir, x->name), same_file, f->files, x,
		        (uint32_t)i, &at) < 0)
			return -ENOMEM;
	}
	return 0;
}

int follow_files_look(struct follow *f, bool rows, bool last)
{
	int err;

	f->sites = 0;
	f->slots_taken = 0;
	f->present = 0;
	f->learned = 0;
	f->unlisted = 0;
	f->looks++;
	timeline_writer_time(&f->timeline, f->now_ns);
	err = segment_dir_walk(f->plan.segment_dir, find_visit, f);
	quota_at_once(&f->plan.collect->quota->unlisted, f->unlisted);
	for (size_t i = 0; i < f->file_count && err == 0; i++)
		err = look_at_file(f, &f->files[i], rows, last);
	return err < 0 ? err : forget_files(f);
}

void follow_files_last_look(void *context, const uint8_t uuid[16])
{
	struct follow *f = context;

	for (size_t i = 0; i < f->file_count; i++) {
		struct follow_file *x = &f->files[i];

		for (size_t k = 0; k < x->watch_count; k++) {
			struct segfile *seg = NULL;

			if (memcmp(x->watches[k].uuid, uuid, 16) != 0)
				continue;
			if (segment_dir_open_file(x->dir, x->name, &seg) == 0) {
				/* -ENOMEM sticks in f->timeline.out */
				(void)look_at_watch(f, x, &x->watches[k], seg, true, true);
				segfile_close(seg);
			}
			drop_watch(x, k);
			return;
		}
	}
}

int follow_files_count_slots(struct follow *f)
{
	int err = 0;

	f->slots_taken = 0;
	for (size_t i = 0; i < f->file_count && err == 0; i++) {
		struct follow_file *x = &f->files[i];
		struct segfile *seg = NULL;

		if (!x->is_ours || x->is_gone || segment_dir_open_file(x->dir, x->name, &seg) < 0)
			continue;
		err = find_children(f, x, seg);
		segfile_close(seg);
	}
	return err;
}

void follow_files_release(struct follow *f)
{
	for (size_t i = 0; i < f->file_count; i++)
		free_file(&f->files[i]);
	dict_release(&f->file_index);
	free(f->files);
}
