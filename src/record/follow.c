/* follow.c - the process tree while it runs: its time line, its dead. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/dict.h"
#include "util/room.h"
#include "reader/segfile.h"
#include "record/tail.h"
#include "record/inspect.h"
#include "record/meta.h"
#include "record/timeline_writer.h"

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

enum {
	FLUSH_BYTES = 1 << 20,
	HOLD_BYTES = 16 << 20, /* of one look, in memory */
	FLUSH_MS = 1000,       /* what a kill of ours may cost the time line */
	LOAD = 80,             /* rest so many times as long as a look took */
	FAMILY_MS = 2000,      /* between looks at who is dead */
	FAMILY_FAST_MS = 200,  /* the same, when slots run out */
	FAMILY_LOAD = 200,
	SLOTS_MANY = SEG_SLOTS / 4,
	FILES_MAX = 100000, /* known, before those of others are left out */
	SUSPECTS_MAX = 10000,
	FILES_MANY = 200,   /* of processes: most of them are dead by then */
	SLOTS_MS = 1000,    /* between looks at how many are taken */
	UNTRACED_MS = 1000, /* a collector has arrived by then */
};

/* One segment being watched. */
struct watch {
	int slot;
	uint8_t uuid[16];
	pid_t pid;
	struct tail *tail; /* NULL: cannot be read, or has no room: its end */
	                   /* state will do */
	bool fresh;        /* not looked at yet */
	uint64_t module_changes; /* seen by where_look() */
};

struct file {
	char *dir, *name;
	uid_t uid;     /* its owner */
	bool is_known; /* its header could be read */
	bool is_ours;  /* carries our session, and is wanted */
	bool is_gone;
	struct watch *watches;
	size_t watch_count;
};

/* A process without the collector, seen once or more. */
struct suspect {
	pid_t pid;
	uint64_t start_jiffies;
	uint64_t first_ns;
	bool told;
};

struct follow {
	struct follow_plan plan;
	struct file *files;
	size_t file_count, file_room;
	struct dict file_index;
	struct suspect *suspects;
	size_t suspect_count;
	struct timeline_writer scribe;
	uint64_t now_ns; /* of this look */
	uint64_t next_look_ns, next_family_ns, next_slots_ns, last_flush_ns;
	uint64_t last_family_ns;
	uint64_t numbers;   /* of processes, given out */
	uint64_t sites;     /* of all that are watched */
	size_t slots_taken; /* in the fullest file */
	size_t present;     /* files of ours that are there */
	bool has_children;  /* some slot was taken */
	size_t unlisted;    /* files too many to be known, in this look */
	size_t untold;      /* processes too many to be listed, likewise */
	size_t learned;     /* files met for the first time, in this look */
};

uint64_t
follow_interval(uint64_t elapsed_ns)
{
	if (elapsed_ns < 100 * S)
		return 100 * MS;
	return elapsed_ns < 3600 * S ? S : 10 * S;
}

uint64_t
follow_allowance(uint64_t elapsed_ns, uint64_t sites)
{
	return (4 << 20) + elapsed_ns / MS * (3072 + sites / 10) / 1000;
}

static void
put_mark(struct follow *f, enum codec_mark kind, pid_t pid, const char *label)
{
	timeline_writer_time(&f->scribe, f->now_ns);
	timeline_writer_mark(&f->scribe, kind, pid, label);
}

static int
flush(struct follow *f)
{
	int err;

	if (!quota_line(f->plan.collect->quota, f->plan.writer))
		scribe_drop(&f->scribe);
	err = timeline_writer_flush(&f->scribe);
	f->last_flush_ns = f->now_ns;
	/* from now on there is something worth a name; tried again at the end */
	if (err == 0 && f->numbers > 0)
		(void)recording_publish(f->plan.writer);
	return err;
}

/* ---- files and segments ---- */

static void
drop_watch(struct file *x, size_t i)
{
	tail_free(x->watches[i].tail);
	x->watches[i] = x->watches[--x->watch_count];
}

static bool
same_file(const void *items, uint32_t item, const void *key)
{
	const struct file *x = (const struct file *)items + item;
	const struct file *y = key;

	return strcmp(x->name, y->name) == 0 && strcmp(x->dir, y->dir) == 0;
}

static uint64_t
hash_file(const char *dir, const char *name)
{
	return dict_hash(dict_hash_text(dir), dict_hash_text(name), 7);
}

/* Is another program of this process being watched? */
static bool
knows_pid(const struct follow *f, pid_t pid)
{
	for (size_t i = 0; i < f->file_count; i++)
		for (size_t k = 0; k < f->files[i].watch_count; k++)
			if (f->files[i].watches[k].pid == pid)
				return true;
	return false;
}

static void
mark_arrival(struct follow *f, const struct seg_header *h, int slot)
{
	static const uint8_t none[16];
	enum codec_mark kind = CODEC_MARK_SPAWN;

	/* a start of 0: a forked child, whose pid may be that of a namespace */
	if (h->start_jiffies != 0 && knows_pid(f, (pid_t)h->pid))
		kind = CODEC_MARK_EXEC;
	else if (slot >= 0 || memcmp(h->parent_uuid, none, sizeof(none)))
		kind = CODEC_MARK_FORK;
	put_mark(f, kind, (pid_t)h->pid, h->exe);
}

static int
add_watch(
    struct follow *f, struct file *x, int slot, const struct seg_header *h)
{
	struct watch *more;
	int err;

	more = reallocarray(x->watches, x->watch_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	x->watches = more;
	mark_arrival(f, h, slot);
	more += x->watch_count;
	*more =
	    (struct watch){.slot = slot, .pid = (pid_t)h->pid, .fresh = true};
	memcpy(more->uuid, h->uuid, sizeof(more->uuid));
	err = tail_new(f->numbers + 1,
	    &quota_user(f->plan.collect->quota, x->uid)->room, &more->tail);
	if (err < 0)
		return err;
	f->numbers++;
	x->watch_count++;
	return 0;
}

static bool
is_watched(const struct file *x, int slot)
{
	for (size_t i = 0; i < x->watch_count; i++)
		if (x->watches[i].slot == slot)
			return true;
	return false;
}

static int
find_children(struct follow *f, struct file *x, const struct segfile *seg)
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
		if (!f->plan.child.alone && !segfile_is_early(seg, i) &&
		    !is_watched(x, i) && segfile_header(seg, i, &h, NULL) == 0)
			err = add_watch(f, x, i, &h);
	}
	f->has_children |= count > 0;
	if (count > f->slots_taken)
		f->slots_taken = count;
	return err;
}

/*
 * A segment that cannot be read now is not watched any more; what it holds
 * comes with its end. So it does for one that was never looked at while its
 * process lived: then `last` looks at nothing.
 */
static int
look_at_watch(struct follow *f, struct watch *w, const struct segfile *seg,
    bool rows, bool last)
{
	size_t before = f->scribe.out.len;
	struct seg_header h;
	int err;

	if (!w->tail || (w->fresh && last))
		return 0;
	err = tail_look(
	    w->tail, seg, w->slot, rows || w->fresh, &f->scribe.out, &h);
	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		f->scribe.out.len = before;
		tail_free(w->tail);
		w->tail = NULL;
		f->plan.collect->quota->unwatched += err == -EFBIG;
		return 0;
	}
	w->fresh = false;
	f->sites += tail_sites(w->tail);
	if (w->module_changes == tail_module_changes(w->tail))
		return 0;
	w->module_changes = tail_module_changes(w->tail);
	return where_look(
	    &f->plan.collect->where, w->tail, &h, segfile_source(seg));
}

static int
open_file(const struct file *x, struct segfile **ret)
{
	int dir_fd =
	    open(x->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int err;

	if (dir_fd < 0)
		return -errno;
	err = segfile_open(dir_fd, x->name, ret, NULL);
	close(dir_fd);
	return err;
}

/* With --no-follow only the command's own segments count. */
static bool
is_wanted(const struct follow *f, const struct seg_header *h)
{
	const struct collect_child *c = &f->plan.child;

	return !strcmp(h->session, f->plan.spool->session) &&
	    (!c->alone ||
	        ((pid_t)h->pid == c->pid &&
	            (h->start_jiffies == c->start_jiffies ||
	                c->start_jiffies == 0 || h->start_jiffies == 0)));
}

static int
get_to_know(struct follow *f, struct file *x, const struct segfile *seg)
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
	/* who declined has no figures, only an end */
	if (!x->is_ours || h.state == SEG_INERT)
		return 0;
	return add_watch(f, x, SEGFILE_OWN, &h);
}

static int
look_at_file(struct follow *f, struct file *x, bool rows, bool last)
{
	struct segfile *seg = NULL;
	int err;

	if ((x->is_known && !x->is_ours) || x->is_gone)
		return 0;
	err = open_file(x, &seg);
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
		err = look_at_watch(f, &x->watches[i], seg, rows, last);
		if (err == 0 && f->scribe.out.len > HOLD_BYTES)
			err = flush(f);
	}
	segfile_close(seg);
	return err;
}

static int
find_visit(void *context, int dir_fd, const char *dir, const char *name)
{
	struct follow *f = context;
	struct file key = {.dir = strdup(dir), .name = strdup(name)};
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
	if (room_make(
	        &f->files, &f->file_room, f->file_count, sizeof(*f->files)) < 0)
		goto out;
	err = dict_find(&f->file_index, hash_file(dir, name), same_file,
	    f->files, &key, (uint32_t)f->file_count, &at);
	if (err < 0 || at < f->file_count)
		goto out;
	f->files[f->file_count++] = key;
	return 0;
out:
	free(key.dir);
	free(key.name);
	return err;
}

/* ---- the dead, and who is not traced ---- */

static void
before_merge(void *context, const uint8_t uuid[16])
{
	struct follow *f = context;

	for (size_t i = 0; i < f->file_count; i++) {
		struct file *x = &f->files[i];

		for (size_t k = 0; k < x->watch_count; k++) {
			struct segfile *seg = NULL;

			if (memcmp(x->watches[k].uuid, uuid, 16) != 0)
				continue;
			if (open_file(x, &seg) == 0) {
				/* -ENOMEM sticks in f->scribe.out */
				(void)look_at_watch(
				    f, &x->watches[k], seg, true, true);
				segfile_close(seg);
			}
			drop_watch(x, k);
			return;
		}
	}
}

static void
after_merge(void *context, const uint8_t uuid[16], pid_t pid,
    const struct recording_segment *end)
{
	(void)uuid;
	if (end->end_kind != RECORDING_END_EXEC)
		put_mark(context, CODEC_MARK_EXIT, pid, "");
}

static struct suspect *
suspect_of(struct follow *f, const struct procs_process *p)
{
	struct suspect *more;

	for (size_t i = 0; i < f->suspect_count; i++)
		if (f->suspects[i].pid == p->pid &&
		    f->suspects[i].start_jiffies == p->start_jiffies)
			return &f->suspects[i];
	if (f->suspect_count >= SUSPECTS_MAX) {
		f->untold++;
		return NULL;
	}
	more = reallocarray(f->suspects, f->suspect_count + 1, sizeof(*more));
	if (!more)
		return NULL;
	f->suspects = more;
	more += f->suspect_count++;
	*more = (struct suspect){.pid = p->pid,
	    .start_jiffies = p->start_jiffies,
	    .first_ns = f->now_ns};
	return more;
}

/* Seen twice without the collector, some time apart: it will not come. */
static void
note_untraced(void *context, const struct procs_process *p, bool traced)
{
	struct follow *f = context;
	struct suspect *s;
	struct inspect in;

	if (traced || p->pid == f->plan.child.pid || f->plan.child.alone)
		return;
	s = suspect_of(f, p);
	if (!s || s->told || f->now_ns - s->first_ns < UNTRACED_MS * MS)
		return;
	s->told = true;
	inspect_pid(p->pid, &in);
	(void)meta_write_untraced(f->plan.writer, p->pid, in.program,
	    in.kind != INSPECT_FINE ? in.message : META_NO_REASON);
}

bool
follow_is_empty(const struct follow *f)
{
	return f->numbers == 0;
}

bool
follow_told(const struct follow *f, pid_t pid, uint64_t start_jiffies)
{
	for (size_t i = 0; i < f->suspect_count; i++)
		if (f->suspects[i].pid == pid &&
		    f->suspects[i].start_jiffies == start_jiffies)
			return f->suspects[i].told;
	return false;
}

/* Costs more than a look at the figures, so it comes less often. */
static int
look_at_family(struct follow *f)
{
	const struct collect_hooks hooks = {
	    .context = f, .before = before_merge, .after = after_merge};
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t rest_ns;
	int err;

	err = collect_find(f->plan.collect, f->plan.spool, &f->plan.child,
	    f->plan.since_jiffies);
	if (err == 0)
		err = collect_merge(f->plan.collect, f->plan.writer, &hooks);
	f->untold = 0;
	if (err == 0)
		collect_each_running(f->plan.collect, note_untraced, f);
	quota_at_once(
	    &f->plan.collect->quota->refused[QUOTA_UNTOLD], f->untold);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	rest_ns = cpu_ns * FAMILY_LOAD;
	if (rest_ns < FAMILY_MS * MS)
		rest_ns = FAMILY_MS * MS;
	f->last_family_ns = clock_ns(CLOCK_MONOTONIC);
	f->next_family_ns = f->last_family_ns + rest_ns;
	return err;
}

/*
 * Who forks much must not run out of slots before we come again, nor the
 * directory of files.
 */
static bool
family_is_due(const struct follow *f)
{
	if (f->slots_taken >= SLOTS_MANY || f->present >= FILES_MANY)
		return f->now_ns >= f->last_family_ns + FAMILY_FAST_MS * MS;
	return f->now_ns >= f->next_family_ns;
}

/* ---- looks ---- */

/* Rows of sites cost; totals are told at every look. */
static bool
rows_are_due(const struct follow *f)
{
	return f->scribe.written_bytes <
	    follow_allowance(f->now_ns - f->plan.start_ns, f->sites);
}

static int
look_at_all(struct follow *f, bool rows, bool last)
{
	int err;

	f->sites = 0;
	f->slots_taken = 0;
	f->present = 0;
	f->learned = 0;
	f->unlisted = 0;
	timeline_writer_time(&f->scribe, f->now_ns);
	err = segment_dir_walk(f->plan.spool, find_visit, f);
	quota_at_once(&f->plan.collect->quota->unlisted, f->unlisted);
	for (size_t i = 0; i < f->file_count && err == 0; i++)
		err = look_at_file(f, &f->files[i], rows, last);
	return err;
}

/* Between looks that are far apart: have the slots filled up? */
static int
look_at_slots(struct follow *f)
{
	int err = 0;

	if (f->now_ns < f->next_slots_ns || !f->has_children)
		return 0;
	f->next_slots_ns = f->now_ns + SLOTS_MS * MS;
	f->slots_taken = 0;
	for (size_t i = 0; i < f->file_count && err == 0; i++) {
		struct file *x = &f->files[i];
		struct segfile *seg = NULL;

		if (!x->is_ours || x->is_gone || open_file(x, &seg) < 0)
			continue;
		err = find_children(f, x, seg);
		segfile_close(seg);
	}
	if (err == 0 && f->slots_taken >= SLOTS_MANY)
		err = look_at_family(f);
	return err;
}

int
follow_look(struct follow *f)
{
	uint64_t interval = f->plan.interval_ns, cpu_ns, rest_ns;
	int err;

	f->now_ns = clock_ns(CLOCK_MONOTONIC);
	if (f->now_ns < f->next_look_ns)
		return look_at_slots(f);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	err = look_at_all(f, rows_are_due(f), false);
	if (err == 0 &&
	    (f->scribe.out.len > FLUSH_BYTES ||
	        f->now_ns - f->last_flush_ns >= FLUSH_MS * MS))
		err = flush(f);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	if (err == 0 && family_is_due(f))
		err = look_at_family(f);
	if (!interval)
		interval = follow_interval(f->now_ns - f->plan.start_ns);
	rest_ns = cpu_ns * LOAD;
	/* what a first meeting cost, of other runs' files, too, is paid once */
	if (f->learned > 0 && rest_ns > 2 * interval)
		rest_ns = 2 * interval;
	f->next_look_ns += interval;
	if (f->next_look_ns < f->now_ns + rest_ns)
		f->next_look_ns = f->now_ns + rest_ns;
	if (f->next_look_ns <= f->now_ns)
		f->next_look_ns = f->now_ns + interval;
	f->next_slots_ns = f->now_ns + SLOTS_MS * MS;
	return err;
}

int
follow_wait_ms(const struct follow *f)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t next = f->next_look_ns;

	if (f->has_children && f->next_slots_ns < next)
		next = f->next_slots_ns;
	return now >= next ? 0 : (int)((next - now) / MS) + 1;
}

int
follow_finish(struct follow *f)
{
	int err;

	f->now_ns = clock_ns(CLOCK_MONOTONIC);
	timeline_writer_time(&f->scribe, f->now_ns);
	put_mark(f, CODEC_MARK_END, f->plan.child.pid, "");
	err = look_at_all(f, true, true);
	return err < 0 ? err : flush(f);
}

int
follow_new(const struct follow_plan *plan, struct follow **ret)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->plan = *plan;
	f->scribe.writer = plan->writer;
	f->scribe.start_ns = plan->start_ns;
	f->next_look_ns = plan->start_ns +
	    (plan->interval_ns && plan->interval_ns < 100 * MS
	            ? plan->interval_ns
	            : 100 * MS);
	f->next_family_ns = plan->start_ns + UNTRACED_MS * MS;
	timeline_writer_time(&f->scribe, plan->start_ns);
	put_mark(f, CODEC_MARK_START, plan->child.pid, "");
	*ret = f;
	return 0;
}

void
follow_free(struct follow *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->file_count; i++) {
		struct file *x = &f->files[i];

		while (x->watch_count > 0)
			drop_watch(x, 0);
		free(x->watches);
		free(x->dir);
		free(x->name);
	}
	dict_release(&f->file_index);
	timeline_writer_release(&f->scribe);
	free(f->files);
	free(f->suspects);
	free(f);
}
