/* chapters.c - a folder of chapters becomes one session. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/history.h"

#include "session/load/load_parts.h"
#include "session/load/session_moment.h"
#include "session/timeline/timeline.h"
#include "recording/file/chapter.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "kit/data/sorted.h"

enum {
	POINTS_MAX = 65536,       /* of one process */
	ALL_POINTS_MAX = 1 << 22, /* of all processes */
	MARKS_MAX = 65536,
	NAMES_MAX = 256 << 20, /* bytes, of all chapters whose names are kept */
	NAMED_MAX = 4,         /* files of others that are named one by one */
};

/* 285 years: a clock that was further off says nothing about a gap. */
#define LINE_MAX_US (UINT64_C(1) << 53)

struct chapter_file {
	const char *text; /* of the listing */
	struct chapter_name name;
};

/* What is known of the process with the same number in the session. */
struct origin {
	size_t chapter; /* the last one that has it */
	size_t figures; /* the one whose figures it has */
};

struct join {
	struct session *session;
	const char *folder;
	uid_t owner; /* of the folder */
	size_t others;
	struct chapter_file *files; /* by number */
	size_t file_count;
	size_t chapter; /* the one that is read; counted from 1 */
	size_t last;    /* the last one that had processes */
	struct origin *origins;
	size_t origin_room;
	struct dict index; /* of the session's processes */
	size_t points;
	size_t names_bytes;
	bool names_cut;                    /* some were too many */
	const struct process_names *names; /* the newest */
};

bool chapters_has(const char *name)
{
	struct chapter_name unused;

	return chapter_name_read(name, &unused);
}

bool chapters_are_in(const struct listing_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		if (chapters_has(names->names[i]))
			return true;
	return false;
}

/* ---- one process in two chapters ---- */

static bool same_process(const void *items, uint32_t item, const void *key)
{
	const struct process *x = ((struct process *const *)items)[item];
	const struct process *y = key;

	/* a time line has no owners: only end states do */
	return memcmp(x->header.uuid, y->header.uuid, 16) == 0 &&
	    (x->owner == y->owner || x->owner == 0 || y->owner == 0) &&
	    x->header.pid == y->header.pid &&
	    x->header.start_realtime_ns == y->header.start_realtime_ns;
}

static uint64_t hash_process(const struct process *p)
{
	return dict_hash(
	    dict_hash_bytes(p->header.uuid, 16), p->header.pid, p->header.start_realtime_ns);
}

/* Every second point goes, but for the last. */
static size_t thin(struct process_point *points, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i += 2)
		points[kept++] = points[i];
	if (count % 2 == 0)
		points[kept - 1] = points[count - 1];
	return kept;
}

/* The points of the earlier chapters come before those of `to`. */
static int join_points(struct process *to, struct process *from)
{
	size_t n = from->point_count, more = to->point_count;
	struct process_point *all;

	if (n == 0)
		return 0;
	all = reallocarray(from->points, n + more, sizeof(*all));
	if (!all)
		return -ENOMEM;
	from->points = NULL;
	from->point_count = 0;
	if (more > 0)
		memcpy(all + n, to->points, more * sizeof(*all));
	n += more;
	while (n > POINTS_MAX)
		n = thin(all, n);
	free(to->points);
	to->points = all;
	to->point_count = n;
	return 0;
}

/* Marks that the ring of the later chapter has no more, by their sequence. */
static int join_marks(struct process *to, const struct process *from)
{
	struct seg_mark *all;
	size_t n = 0;

	while (n < from->mark_count &&
	    (to->mark_count == 0 || from->marks[n].sequence < to->marks[0].sequence))
		n++;
	if (n == 0)
		return 0;
	if (n + to->mark_count > MARKS_MAX)
		n = to->mark_count < MARKS_MAX ? MARKS_MAX - to->mark_count : 0;
	all = calloc(n + to->mark_count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (n > 0)
		memcpy(all, from->marks, n * sizeof(*all));
	if (to->mark_count > 0)
		memcpy(all + n, to->marks, to->mark_count * sizeof(*all));
	free(to->marks);
	to->marks = all;
	to->mark_count += n;
	return 0;
}

/* Lets the one of two go that is not shown, and points that were thinned. */
static void forget(struct join *j, struct process *p, size_t points)
{
	j->session->work->held_bytes -= p->held_bytes;
	j->points -= points;
	process_free(p);
}

/*
 * `next` is the same process, later. Counters never go back; if they do, the
 * later chapter was cut off before it had all of them.
 */
static int join_process(struct join *j, size_t at, struct process *next)
{
	struct process **all = j->session->processes, *before = all[at];
	struct origin *o = &j->origins[at];
	size_t points = before->point_count + next->point_count;
	int err;

	o->chapter = j->chapter;
	if (next->totals.allocations < before->totals.allocations ||
	    next->totals.frees < before->totals.frees) {
		/* its points are later, and go behind */
		err = join_points(next, before);
		free(before->points);
		before->points = next->points;
		before->point_count = next->point_count;
		next->points = NULL;
		if (err == 0)
			err = process_join_rss(next, before);
		process_take_rss(before, next);
		forget(j, next, points - before->point_count);
		return err;
	}
	err = join_points(next, before);
	if (err == 0)
		err = join_marks(next, before);
	if (next->owner == 0) {
		next->owner = before->owner;
		next->view = before->view;
	}
	if (err == 0)
		err = process_join_rss(next, before);
	if (!next->aging) {
		next->aging = before->aging;
		before->aging = NULL;
	}
	if (!next->inventory) {
		next->inventory = before->inventory;
		before->inventory = NULL;
	}
	if (!next->verdicts) {
		next->verdicts = before->verdicts;
		before->verdicts = NULL;
	}
	all[at] = next;
	o->figures = j->chapter;
	forget(j, before, points - next->point_count);
	return err;
}

static int append_process(struct join *j, struct process *p)
{
	struct session *s = j->session;
	struct process **all = reallocarray(s->processes, s->count + 1, sizeof(struct process *));

	if (!all) {
		process_free(p);
		return -ENOMEM;
	}
	s->processes = all;
	all[s->count] = p;
	j->origins[s->count] = (struct origin){.chapter = j->chapter, .figures = j->chapter};
	s->count++;
	return 0;
}

/* All have half as many points, however old. The newest one is `p`. */
static void thin_all(struct join *j, struct process *p)
{
	struct session *s = j->session;

	j->points = 0;
	for (size_t i = 0; i <= s->count; i++) {
		struct process *x = i < s->count ? s->processes[i] : p;

		if (x->point_count > 2)
			x->point_count = thin(x->points, x->point_count);
		j->points += x->point_count;
	}
}

/* Takes p over, also on failure. */
static int take_process(struct join *j, struct process *p, uint64_t base_us)
{
	struct session *s = j->session;
	uint32_t at = (uint32_t)s->count;
	int err;

	for (size_t i = 0; i < p->point_count; i++)
		p->points[i].time_us += base_us;
	p->as_of_us += base_us;
	j->points += p->point_count;
	if (j->points > ALL_POINTS_MAX)
		thin_all(j, p);
	if (!p->names)
		p->names = j->names;
	err = room_make(&j->origins, &j->origin_room, s->count, sizeof(*j->origins));
	if (err == 0)
		err = dict_find(&j->index, hash_process(p), same_process, s->processes, p, at, &at);
	if (err < 0) {
		process_free(p);
		return err;
	}
	/* two in one chapter are no later state of each other */
	if (at < s->count && j->origins[at].chapter < j->chapter)
		return join_process(j, at, p);
	return append_process(j, p);
}

/* ---- one chapter ---- */

static bool has_note(const struct session *s, const char *note)
{
	for (size_t i = 0; i < s->note_count; i++)
		if (strcmp(s->notes[i], note) == 0)
			return true;
	return false;
}

/* What each chapter says again is said once. */
static int take_notes(struct session *s, const struct session *c)
{
	int err = 0;

	for (size_t i = 0; i < c->note_count && err == 0; i++)
		if (!has_note(s, c->notes[i]))
			err = session_note(s, "%s", c->notes[i]);
	s->work->notes += c->work->notes;
	return err;
}

static int take_marks(struct session *s, const struct session *c, uint64_t base_us)
{
	struct session_mark *all;
	size_t n = c->mark_count;

	if (n > MARKS_MAX - s->mark_count) {
		s->lost.marks += n - (MARKS_MAX - s->mark_count);
		n = MARKS_MAX - s->mark_count;
	}
	if (n == 0)
		return 0;
	all = reallocarray(s->marks, s->mark_count + n, sizeof(*all));
	if (!all)
		return -ENOMEM;
	s->marks = all;
	for (size_t i = 0; i < n; i++) {
		all[s->mark_count] = c->marks[i];
		all[s->mark_count++].time_us += base_us;
	}
	return 0;
}

/* Names that no process of the session uses are dropped, but for the newest. */
static void sweep_names(struct join *j)
{
	struct session *s = j->session;
	struct process_names **at = &s->names, *n;

	for (n = s->names; n; n = n->all)
		n->is_used = false;
	for (size_t i = 0; i <= s->count; i++) {
		const struct process_names *used = i < s->count ? s->processes[i]->names : j->names;

		/* the first of a list stands for all of them */
		for (n = (struct process_names *)(uintptr_t)used; n && !n->is_used; n = n->next)
			n->is_used = true;
	}
	j->names_bytes = 0;
	while ((n = *at)) {
		if (n->is_used) {
			j->names_bytes += n->len;
			at = &n->all;
			continue;
		}
		*at = n->all;
		free(n->bytes);
		free(n);
	}
}

/* Of far too many, those of later chapters are left to c, which frees them. */
static void take_names(struct join *j, struct session *c)
{
	struct session *s = j->session;
	struct process_names *last = c->names;
	size_t bytes = 0;

	if (!last)
		return;
	for (const struct process_names *n = last; n; n = n->all)
		bytes += n->len;
	if (bytes > NAMES_MAX - j->names_bytes) {
		j->names_cut = true;
		for (size_t i = 0; i < c->count; i++)
			c->processes[i]->names = NULL;
		return;
	}
	while (last->all)
		last = last->all;
	last->all = s->names;
	s->names = c->names;
	if (c->count > 0 && c->processes[0]->names)
		j->names = c->processes[0]->names;
	c->names = NULL;
}

/* Where the chapter begins in the time line, which never goes back. */
static uint64_t base_of(const struct session *s, const struct session *c)
{
	uint64_t gap_us = 0;

	if (c->start_ns > s->start_ns && s->start_ns > 0)
		gap_us = (c->start_ns - s->start_ns) / 1000;
	return gap_us > s->until_us && gap_us < LINE_MAX_US ? gap_us : s->until_us;
}

/* Moves everything from the session of a chapter to that of the folder. */
static int take_chapter(struct join *j, struct session *c, const char *path, bool is_part)
{
	struct session *s = j->session;
	bool is_first = j->last == 0;
	uint64_t base_us;
	int err = 0;

	if (c->count > 0 && is_first)
		s->start_ns = c->start_ns;
	base_us = is_first ? 0 : base_of(s, c);
	take_names(j, c);
	for (size_t i = 0; i < c->count; i++) {
		struct process *p = c->processes[i];

		c->processes[i] = NULL;
		if (err < 0)
			process_free(p);
		else
			err = take_process(j, p, base_us);
	}
	if (c->count > 0) {
		j->last = j->chapter;
		if (c->until_us < LINE_MAX_US)
			s->until_us = base_us + c->until_us;
		s->lacks_end = c->lacks_end;
	}
	c->count = 0;
	if (err == 0)
		err = take_marks(s, c, base_us);
	if (err == 0 && c->line && j->last == j->chapter) {
		err = timeline_join(&s->line, c->line, base_us, path, is_part);
		if (err == 0)
			c->line = NULL;
	}
	s->is_truncated |= c->is_truncated;
	s->lost.processes += c->lost.processes;
	s->lost.marks += c->lost.marks;
	s->lost.points += c->lost.points;
	s->leaks_asked |= c->leaks_asked;
	if (c->command_pid)
		s->command_pid = c->command_pid;
	sweep_names(j);
	return err;
}

/* A file of somebody else in the folder is not his chapter. 1: it is that. */
static int is_of_other(struct join *j, const char *path, const char *name)
{
	struct stat st;

	if (lstat(path, &st) < 0 || st.st_uid == j->owner || st.st_uid == 0)
		return 0;
	if (j->others++ >= NAMED_MAX)
		return 1;
	return session_note(j->session, "%s left out: it belongs to uid %u, the folder to uid %u",
	           name, (unsigned)st.st_uid, (unsigned)j->owner) < 0
	    ? -ENOMEM
	    : 1;
}

static int read_chapter(struct join *j, const struct chapter_file *f, const char *path)
{
	struct session *s = j->session, *c = session_new();
	struct fault why = {""};
	int err;

	if (!c)
		return -ENOMEM;
	c->work->is_chapter = true;
	c->work->held_bytes = s->work->held_bytes;
	err = load_into_session(c, path, f->text, false, &why);
	s->work->held_bytes = c->work->held_bytes;
	if (err == -ENOMEM)
		goto out;
	/* removed by the one who writes here: its processes go on */
	if (err < 0 && err != -ENODATA && err != -ENOENT) {
		s->is_truncated |= err != -EISDIR && err != -ELOOP;
		err = err == -EISDIR ? 0 : session_note(s, "%s left out: %s", f->text, why.text);
		goto out;
	}
	err = take_notes(s, c);
	if (err == 0)
		err = take_chapter(j, c, path, f->name.is_part);
out:
	session_free(c);
	return err;
}

/* ---- all chapters ---- */

BY(by_number, struct chapter_file, UP(name.number) ?: strcmp(x->text, y->text))

static int list_files(struct join *j, const struct listing_names *names)
{
	j->files = calloc(names->count + 1, sizeof(*j->files));
	if (!j->files)
		return -ENOMEM;
	for (size_t i = 0; i < names->count; i++) {
		struct chapter_file *f = &j->files[j->file_count];

		f->text = names->names[i];
		j->file_count += chapter_name_read(f->text, &f->name);
	}
	if (j->file_count > 1)
		qsort(j->files, j->file_count, sizeof(*j->files), by_number);
	return 0;
}

int chapters_sort(const struct listing_names *names, struct chapters_order *ret)
{
	struct join j = {.session = NULL};
	int err = list_files(&j, names);

	if (err == 0)
		ret->list = calloc(j.file_count + 1, sizeof(char *));
	if (err == 0 && !ret->list)
		err = -ENOMEM;
	for (size_t i = 0; i < j.file_count && err == 0; i++)
		ret->list[ret->count++] = j.files[i].text;
	free(j.files);
	return err;
}

/*
 * If a process ran at the end of a chapter and the next ones do not know it, it
 * has ended and nobody saw how.
 */
static int end_processes(struct join *j)
{
	struct session *s = j->session;
	int err = 0;

	for (size_t i = 0; j->origins && i < s->count && err == 0; i++) {
		struct process *p = s->processes[i];

		if (p->end == PROCESS_RUNNING && j->origins[i].chapter < j->last)
			p->end = PROCESS_UNKNOWN;
		if (!p->is_unfinished)
			continue;
		s->is_truncated = true;
		err = session_note(s,
		    "%s: the end of process %u (%s) is missing; its figures "
		    "are those of %.1f s after the start",
		    j->files[j->origins[i].figures - 1].text, p->header.pid,
		    text_base(p->header.exe), (double)p->as_of_us / 1e6);
	}
	return err;
}

static int read_all(struct join *j)
{
	int err = 0;

	for (size_t i = 0; i < j->file_count && err == 0; i++) {
		const struct chapter_file *f = &j->files[i];
		char *path;

		j->chapter = i + 1;
		if (asprintf(&path, "%s/%s", j->folder, f->text) < 0)
			return -ENOMEM;
		err = is_of_other(j, path, f->text);
		if (err == 0)
			err = read_chapter(j, f, path);
		free(path);
		err = err > 0 ? 0 : err;
	}
	if (err == 0 && j->others > NAMED_MAX)
		err = session_note(j->session,
		    "%zu more chapters left out: they belong to others than "
		    "the folder",
		    j->others - NAMED_MAX);
	if (err == 0 && j->names_cut)
		err = session_note(j->session, "too many names, some left out");
	if (err == 0)
		err = end_processes(j);
	return err;
}

int chapters_load(
    struct session *s, const char *folder, const struct listing_names *names, struct fault *where)
{
	struct join j = {.session = s, .folder = folder};
	struct stat st;
	int err;

	if (stat(folder, &st) < 0)
		return fault_set(where, -errno, "%s", strerror(errno));
	j.owner = st.st_uid;
	err = list_files(&j, names);
	if (err == 0)
		err = read_all(&j);
	if (err == 0)
		err = session_snapshots_of_recording(s, folder);
	s->is_truncated |= s->lacks_end;
	dict_release(&j.index);
	free(j.origins);
	free(j.files);
	return err < 0 ? fault_set(where, -ENOMEM, "out of memory") : 0;
}
