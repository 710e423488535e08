/* session.c - one or more processes, from whatever input. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/proc.h"
#include "reader/procfs.h"
#include "util/clock.h"
#include "reader/listing.h"
#include "reader/live_ages.h"
#include "reader/session_snapshots.h"
#include "reader/load.h"
#include "reader/relative.h"
#include "reader/segfile.h"
#include "reader/session_parts.h"
#include "reader/timeline.h"

/*
 * What reading needs, and bounds: a hostile directory may have hundreds of
 * thousands of slots, all of which say that they are of one running process.
 */
enum {
	BESIDE_NS = 500000000, /* at other segments of its directory */
	LOOK_SECONDS = 10,     /* at the memory of all processes together */
	NOTES_MAX = 1000,
	EXEC_NEAR = 256, /* segments of one pid that are compared */
	/* beside its rows */
	PROCESS_BYTES = sizeof(struct process) + 4096,
};
#define HELD_BYTES_MAX (UINT64_C(2) << 30)

struct session_work {
	struct proc_look *look;      /* its own, or that of the list */
	struct session_brief *brief; /* NULL: all is read */
	uint64_t held_bytes;
	uint64_t looked_ns;
	uint64_t not_looked; /* processes that there was no time for */
	uint64_t notes;      /* beyond NOTES_MAX */
	struct session_lost told;
	bool is_finishing; /* the last notes are always taken */
};

static int
no_memory(struct fault *where)
{
	return fault_set(where, -ENOMEM, "out of memory");
}

int
session_note(struct session *s, const char *fmt, ...)
{
	char **notes, *text;
	va_list ap;
	int n;

	if (s->note_count >= NOTES_MAX && !s->work->is_finishing) {
		s->work->notes++;
		return 0;
	}
	notes = reallocarray(s->notes, s->note_count + 1, sizeof(*notes));
	if (!notes)
		return -ENOMEM;
	s->notes = notes;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	s->notes[s->note_count++] = text;
	return 0;
}

int
session_add(struct session *s, struct process *p)
{
	struct process **all;

	all =
	    reallocarray(s->processes, s->count + 1, sizeof(struct process *));
	if (!all) {
		process_free(p);
		return -ENOMEM;
	}
	s->processes = all;
	s->processes[s->count++] = p;
	s->is_truncated |= p->is_cut;
	if (p->unread.text[0] &&
	    session_note(s,
	        "the memory of process %u was not read, so its figures are not "
	        "compared with its live blocks: %s",
	        p->header.pid, p->unread.text) < 0)
		return -ENOMEM;
	if (p->doubt.text[0] == '\0')
		return 0;
	return session_note(s,
	    "the figures of process %u do not agree with one another: %s; the "
	    "file is damaged, or seep has a fault",
	    p->header.pid, p->doubt.text);
}

static struct session *
session_new(void)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->work = calloc(1, sizeof(*s->work));
	if (s->work)
		return s;
	free(s);
	return NULL;
}

/* "N more THINGs were ...", if there are any that nobody has told of. */
static int
tell_more(struct session *s, uint64_t count, uint64_t told, const char *one,
    const char *many, const char *why)
{
	count -= told;
	return count == 0
	    ? 0
	    : session_note(s, "%llu more %s %s", (unsigned long long)count,
	          count == 1 ? one : many, why);
}

int
session_finish(struct session *s)
{
	struct session_work *w = s->work;
	const struct session_lost l = s->lost, told = w->told;
	int err;

	w->is_finishing = true;
	err = tell_more(s, w->notes, 0, "note", "notes", "like these");
	if (err == 0)
		err = tell_more(s, w->not_looked, 0, "running process",
		    "running processes",
		    "whose live blocks were not looked at: 10 s are over");
	if (err == 0)
		err = tell_more(s, l.processes, told.processes, "process",
		    "processes", "not read: those before take 2 GiB");
	if (err == 0)
		err = tell_more(s, l.files, told.files, "file", "files",
		    "not opened: the directory has more than 65,536");
	if (err == 0)
		err = tell_more(
		    s, l.marks, told.marks, "mark", "marks", "left out");
	if (err == 0)
		err = tell_more(s, l.points, told.points, "point", "points",
		    "of the time line left out");
	s->is_truncated |= l.processes || l.files || l.marks || l.points;
	w->notes = w->not_looked = 0;
	w->told = l;
	w->is_finishing = false;
	return err;
}

void
session_free(struct session *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		process_free(s->processes[i]);
	for (size_t i = 0; i < s->note_count; i++)
		free(s->notes[i]);
	timeline_free(s->line);
	if (s->work && !s->work->brief)
		proc_look_free(s->work->look);
	free(s->work);
	while (s->names) {
		struct process_names *next = s->names->all;

		free(s->names->bytes);
		free(s->names);
		s->names = next;
	}
	for (size_t i = 0; i < s->snapshot_count; i++)
		free(s->snapshots[i].path);
	free(s->snapshots);
	free(s->processes);
	free(s->notes);
	free(s->marks);
	free(s);
}

enum process_end
session_end(
    const struct seg_header *h, const struct source *file, pid_t *ret_pid)
{
	return session_end_in(NULL, h, file, ret_pid);
}

enum process_end
session_end_in(struct proc_look *look, const struct seg_header *h,
    const struct source *file, pid_t *ret_pid)
{
	pid_t pid = 0;

	*ret_pid = 0;
	if (h->end_kind == SEG_END_EXITED)
		return PROCESS_EXITED;
	switch (proc_check_in(look, h, file, &pid)) {
	case PROC_YES:
		*ret_pid = pid;
		return PROCESS_RUNNING;
	case PROC_EXEC:
		return PROCESS_EXEC;
	case PROC_NO:
		return PROCESS_GONE;
	case PROC_UNKNOWN:
		break;
	}
	return PROCESS_UNKNOWN;
}

/* The tick of a process that sleeps stands still; it runs on all the same. */
static void
measure_running(struct process *p)
{
	uint64_t now_ns;

	if (p->running_pid == 0 || p->end != PROCESS_RUNNING)
		return;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (now_ns > p->header.start_monotonic_ns + p->duration_ns)
		p->duration_ns = now_ns - p->header.start_monotonic_ns;
}

enum { ASK_NOT = -1, ASK_PROC = 0 }; /* or: it runs, with this pid */

static void
find_end(struct session_work *w, struct process *p, const struct segfile *f,
    pid_t pid)
{
	if (p->header.end_kind == SEG_END_EXITED) {
		p->end = PROCESS_EXITED;
	} else if (p->is_snapshot) {
		p->end = PROCESS_RUNNING; /* at that moment */
	} else if (pid > 0) {
		p->end = PROCESS_RUNNING;
		p->running_pid = pid;
	} else if (pid == ASK_PROC) {
		if (!w->look)
			w->look = proc_look_new();
		p->end = session_end_in(
		    w->look, &p->header, segfile_source(f), &p->running_pid);
	}
}

/* The blocks of a process that runs, in its memory. */
static int
look_at_blocks(struct session_work *w, struct process *p,
    const struct segment *seg, const struct segfile *f, int slot)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC);
	struct agree_words words = {{""}, {""}};
	int err;

	if (w->looked_ns > LOOK_SECONDS * UINT64_C(1000000000)) {
		w->not_looked++;
		return 0;
	}

	err = cross_check_running(
	    seg, f, slot, p->running_pid, &p->live_map, &words);
	p->doubt = words.doubt;
	p->unread = words.unread;
	if (err == 0 &&
	    (p->live_map == CROSS_CHECK_YES ||
	        p->live_map == CROSS_CHECK_PARTLY))
		err = live_ages_read(p);
	w->looked_ns += clock_ns(CLOCK_MONOTONIC) - began;
	return err;
}

/* Bytes of its rows, and what a process takes beside them. */
static uint64_t
bytes_of(const struct segment *seg)
{
	uint64_t bytes = PROCESS_BYTES;

	for (size_t i = 0; i < seg->extent_count; i++)
		bytes +=
		    (uint64_t)seg->extents[i].count * seg->extents[i].row_bytes;
	return bytes;
}

static int
load_slot(struct session *s, const struct segfile *f, int slot, pid_t pid,
    struct fault *where)
{
	struct session_work *w = s->work;
	struct process *p = NULL;
	struct segment *seg;
	int err;

	if (w->held_bytes > HELD_BYTES_MAX) {
		s->lost.processes++;
		return 0;
	}
	err = segfile_read(f, slot, &seg, where);
	if (err < 0)
		return err;
	w->held_bytes += bytes_of(seg);
	err = process_new(seg, &p);
	if (err == 0) {
		p->owner = source_owner(segfile_source(f));
		find_end(w, p, f, pid);
	}
	if (err == 0 && !w->brief)
		err = relative_look(p);
	if (err == 0 && !w->brief && p->running_pid > 0 &&
	    p->doubt.text[0] == '\0')
		err = look_at_blocks(w, p, seg, f, slot);
	segment_free(seg);
	if (err < 0) {
		process_free(p);
		return no_memory(where);
	}
	measure_running(p);
	if (p->running_pid > 0)
		p->rss_bytes = procfs_resident(p->running_pid);
	if (session_add(s, p) < 0)
		return no_memory(where);
	return 0;
}

int
session_add_segfile(struct session *s, const struct segfile *f,
    const char *name, bool ask_proc, struct fault *where)
{
	struct session_brief *brief = s->work->brief;
	uint8_t taken[SEGFILE_SLOTS];
	struct fault why;
	int err;

	err =
	    load_slot(s, f, SEGFILE_OWN, ask_proc ? ASK_PROC : ASK_NOT, where);
	if (err < 0)
		return err;
	segfile_taken(f, taken);
	for (int i = 0; i < segfile_slots(f); i++) {
		if (!taken[i])
			continue;
		if (brief && clock_ns(CLOCK_MONOTONIC) > brief->until_ns) {
			brief->unread++;
			continue;
		}
		err = load_slot(s, f, i, ask_proc ? ASK_PROC : ASK_NOT, &why);
		if (err == -ENOMEM)
			return no_memory(where);
		s->is_truncated |= err == -EBADMSG || err == -EFBIG;
		if (err < 0 && err != -ENODATA &&
		    session_note(s, "%s: forked child %d left out: %s", name, i,
		        why.text) < 0)
			return no_memory(where);
	}
	return 0;
}

/* ---- files and directories ---- */

static int
load_recording(
    struct session *s, const char *path, const char *name, struct fault *where)
{
	int err = load_into_session(s, path, name, where);

	if (err == 0 && session_snapshots_of_recording(s, path) < 0)
		return no_memory(where);
	return err;
}

/* `alone`: it is the INPUT itself, not one of a directory. */
static int
load_file(struct session *s, const char *path, const char *name, bool alone,
    struct fault *where)
{
	struct seg_header h;
	struct segfile *f;
	int err;

	err = segfile_open(AT_FDCWD, path, &f, where);
	if (err == -EINVAL)
		return load_recording(s, path, name, where);
	if (err < 0)
		return err;
	if (!alone && segfile_header(f, SEGFILE_OWN, &h, NULL) == 0 &&
	    h.snapshot_reason != SEG_SNAPSHOT_NONE)
		err = session_snapshots_add(s, path, &h);
	else
		err = session_add_segfile(s, f, name, true, where);
	segfile_close(f);
	return err;
}

static bool
is_input(const char *name)
{
	const char *dot = strrchr(name, '.');

	return name[0] != '.' && !(dot && strcmp(dot, ".ctl") == 0);
}

static int
load_directory(struct session *s, const char *path, struct fault *where)
{
	struct fault why = {""};
	struct listing_names folder = {0};
	int dir, err;

	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = dir < 0 ? -errno : listing_read(dir, is_input, &folder);
	if (dir >= 0)
		(void)close(dir);
	s->lost.files += folder.refused;
	if (err < 0) {
		listing_release(&folder);
		return fault_set(where, err, "%s", strerror(-err));
	}
	for (size_t i = 0; i < folder.count && err != -ENOMEM; i++) {
		const char *name = folder.names[i];
		char *file;

		if (asprintf(&file, "%s/%s", path, name) < 0) {
			err = -ENOMEM;
			continue;
		}
		err = load_file(s, file, name, false, &why);
		free(file);
		s->is_truncated |= err == -EBADMSG || err == -EFBIG;
		/* gone, or not there yet: no loss to speak of */
		if (err < 0 && err != -ENOMEM && err != -ENODATA &&
		    err != -ENOENT && err != -EISDIR)
			err = session_note(
			    s, "%s/%s left out: %s", path, name, why.text);
	}
	listing_release(&folder);
	if (err == -ENOMEM)
		return no_memory(where);
	err = session_snapshots_finish(s, where);
	if (err < 0)
		return err;
	if (s->count > 0)
		return 0;
	if (s->note_count > 0)
		return fault_set(
		    where, -EBADMSG, "nothing readable in it; %s", s->notes[0]);
	return fault_set(where, -ENODATA, "there is no segment in it");
}

/*
 * A dead process that has a later segment did not die there: it called exec.
 */
static void
mark_exec(
    struct process *const *list, size_t count, const struct seg_header *later)
{
	for (size_t i = 0; i < count; i++) {
		struct process *p = list[i];

		if ((p->end == PROCESS_GONE || p->end == PROCESS_UNKNOWN) &&
		    proc_superseded(&p->header, later))
			p->end = PROCESS_EXEC;
	}
}

/* The later segment may lie beside the file we were given. */
static void
look_beside_in(struct session *s, int beside)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + BESIDE_NS;
	struct seg_header h;
	struct segfile *f;
	struct dirent *e;
	char mark[32];
	DIR *dir;
	int fd;

	if (s->count == 0 || s->processes[0]->end != PROCESS_GONE)
		return;
	fd = openat(beside, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	(void)snprintf(mark, sizeof(mark), "-%u-", s->processes[0]->header.pid);
	while ((e = readdir(dir)) && clock_ns(CLOCK_MONOTONIC) < until_ns) {
		const char *dot = strrchr(e->d_name, '.');

		if (!strstr(e->d_name, mark) || !dot ||
		    strcmp(dot, ".seg") != 0 ||
		    segfile_open(dirfd(dir), e->d_name, &f, NULL) < 0)
			continue;
		if (segfile_header(f, SEGFILE_OWN, &h, NULL) == 0)
			mark_exec(s->processes, s->count, &h);
		segfile_close(f);
	}
	(void)closedir(dir);
}

static void
look_beside(struct session *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder =
	    slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	if (fd < 0)
		return;
	look_beside_in(s, fd);
	(void)close(fd);
}

static int
by_start(const void *a, const void *b)
{
	const struct process *x = *(struct process *const *)a;
	const struct process *y = *(struct process *const *)b;

	if (x->header.start_realtime_ns != y->header.start_realtime_ns)
		return x->header.start_realtime_ns < y->header.start_realtime_ns
		    ? -1
		    : 1;
	if (x->header.pid != y->header.pid)
		return x->header.pid < y->header.pid ? -1 : 1;
	return (x->header.sequence > y->header.sequence) -
	    (x->header.sequence < y->header.sequence);
}

/*
 * Every command that a shell starts begins as a forked child with a few events.
 * What it had is gone with its exec: it is counted, and takes no line.
 */
static void
set_early_exec_aside(struct session *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];

		if (p->end != PROCESS_EXEC || !process_ended_early(p)) {
			s->processes[kept++] = p;
			continue;
		}
		s->early_exec.processes++;
		s->early_exec.allocations += p->totals.allocations;
		s->early_exec.allocated_bytes += p->totals.allocated_bytes;
		process_free(p);
	}
	s->count = kept;
}

/* By pid, then by start. */
static int
by_pid(const void *a, const void *b)
{
	const struct process *x = *(struct process *const *)a;
	const struct process *y = *(struct process *const *)b;

	if (x->header.pid != y->header.pid)
		return x->header.pid < y->header.pid ? -1 : 1;
	return (x->header.start_monotonic_ns > y->header.start_monotonic_ns) -
	    (x->header.start_monotonic_ns < y->header.start_monotonic_ns);
}

/*
 * Only one of the same pid can have called exec: these stand together. A pid
 * has a few segments; a hostile directory may have hundreds of thousands, of
 * which each is compared with the nearest.
 */
static void
mark_all_exec(struct session *s)
{
	struct process **list = s->processes;

	if (s->count > 1)
		qsort(list, s->count, sizeof(struct process *), by_pid);
	for (size_t i = 0, end; i < s->count; i = end) {
		for (end = i + 1; end < s->count &&
		     list[end]->header.pid == list[i]->header.pid;
		     end++)
			;
		for (size_t k = i; k < end; k++) {
			size_t first = k - i > EXEC_NEAR ? k - EXEC_NEAR : i;
			size_t last = end - k > EXEC_NEAR ? k + EXEC_NEAR : end;

			mark_exec(list + first, last - first, &list[k]->header);
		}
	}
}

static void
put_in_order(struct session *s)
{
	mark_all_exec(s);
	set_early_exec_aside(s);
	if (s->count > 1)
		qsort(
		    s->processes, s->count, sizeof(struct process *), by_start);
}

int
session_load(const char *path, struct session **ret, struct fault *where)
{
	const char *slash = strrchr(path, '/');
	struct session *s;
	struct stat st;
	int err;

	if (stat(path, &st) < 0)
		return fault_set(where, -errno, "%s", strerror(errno));
	s = session_new();
	if (!s)
		return no_memory(where);
	if (S_ISDIR(st.st_mode)) {
		err = load_directory(s, path, where);
	} else {
		err = load_file(s, path, slash ? slash + 1 : path, true, where);
		if (err == 0)
			err = session_snapshots_finish(s, where);
		if (err == 0)
			look_beside(s, path);
	}
	if (err == 0)
		err = session_finish(s);
	if (err < 0) {
		session_free(s);
		return err;
	}
	put_in_order(s);
	*ret = s;
	return 0;
}

int
session_load_brief(int dir, const char *name, struct session_brief *brief,
    struct session **ret, struct fault *where)
{
	struct segfile *f;
	struct session *s;
	int err;

	brief->unread = 0;
	err = segfile_open(dir, name, &f, where);
	if (err < 0)
		return err;
	s = session_new();
	err = s ? 0 : no_memory(where);
	if (err == 0) {
		s->work->brief = brief;
		s->work->look = brief->look;
		err = session_add_segfile(s, f, name, true, where);
	}
	if (err == 0)
		look_beside_in(s, dir);
	segfile_close(f);
	if (err < 0) {
		session_free(s);
		return err;
	}
	put_in_order(s);
	*ret = s;
	return 0;
}

int
session_load_pid(pid_t pid, struct session **ret, struct fault *where)
{
	struct segfile *f;
	struct session *s;
	char path[4096];
	int slot, err;

	err = proc_open(pid, &f, &slot, path, where);
	if (err < 0)
		return err;
	s = session_new();
	err = s ? load_slot(s, f, slot, pid, where) : no_memory(where);
	segfile_close(f);
	if (err < 0) {
		session_free(s);
		return err;
	}
	*ret = s;
	return 0;
}

/* The youngest segment of this pid in one file; SEGFILE_NONE: it has none. */
enum { SEGFILE_NONE = -2 };

static int
find_pid(const struct segfile *f, pid_t pid, uint64_t *ret_start_ns)
{
	uint8_t taken[SEGFILE_SLOTS];
	int found = SEGFILE_NONE;
	struct seg_header h;

	segfile_taken(f, taken);
	for (int i = SEGFILE_OWN; i < segfile_slots(f); i++) {
		if ((i >= 0 && !taken[i]) ||
		    segfile_header(f, i, &h, NULL) < 0 || (pid_t)h.pid != pid ||
		    h.start_realtime_ns < *ret_start_ns)
			continue;
		*ret_start_ns = h.start_realtime_ns;
		found = i;
	}
	return found;
}

int
session_load_dead(
    const char *directory, pid_t pid, struct session **ret, struct fault *where)
{
	struct segfile *best = NULL, *f;
	DIR *dir = opendir(directory);
	int slot = SEGFILE_NONE, here, err;
	uint64_t start_ns = 0;
	struct session *s;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		const char *dot = strrchr(e->d_name, '.');

		if (!dot || strcmp(dot, ".seg") != 0 ||
		    segfile_open(dirfd(dir), e->d_name, &f, NULL) < 0)
			continue;
		here = find_pid(f, pid, &start_ns);
		if (here != SEGFILE_NONE) {
			segfile_close(best);
			best = f;
			slot = here;
		} else {
			segfile_close(f);
		}
	}
	if (dir)
		(void)closedir(dir);
	if (!best)
		return fault_set(where, -ESRCH, "no such process");
	s = session_new();
	err = s ? load_slot(s, best, slot, ASK_PROC, where) : no_memory(where);
	segfile_close(best);
	if (err < 0) {
		session_free(s);
		return err;
	}
	*ret = s;
	return 0;
}

int
session_load_bytes(
    const void *bytes, size_t len, struct session **ret, struct fault *where)
{
	struct segfile *f;
	struct session *s;
	int err;

	err = segfile_open_bytes(bytes, len, &f, where);
	if (err < 0)
		return err;
	s = session_new();
	err = s ? session_add_segfile(s, f, "input", false, where)
	        : no_memory(where);
	segfile_close(f);
	if (err < 0) {
		session_free(s);
		return err;
	}
	put_in_order(s);
	*ret = s;
	return 0;
}
