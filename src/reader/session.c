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
#include <time.h>

#include "reader/alive.h"
#include "reader/replay.h"
#include "reader/segfile.h"
#include "reader/timeline.h"
#include "trace/bundle.h"

_Static_assert((int)PROCESS_RUNNING == (int)BUNDLE_END_RUNNING &&
        (int)PROCESS_EXITED == (int)BUNDLE_END_EXITED &&
        (int)PROCESS_KILLED == (int)BUNDLE_END_KILLED &&
        (int)PROCESS_EXEC == (int)BUNDLE_END_EXEC,
    "the recording's numbers are ours");

enum {
	POINTS_MAX = 65536,       /* of one process */
	ALL_POINTS_MAX = 1 << 22, /* looked at, of all processes */
	MARKS_MAX = 65536,
};

static int
no_memory(struct fault *where)
{
	return fault_set(where, -ENOMEM, "out of memory");
}

static int add_note(struct session *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static int
add_note(struct session *s, const char *fmt, ...)
{
	char **notes, *text;
	va_list ap;
	int n;

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

/* Takes p over, also on failure. */
static int
add_process(struct session *s, struct process *p)
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
	return 0;
}

static struct session *
session_new(void)
{
	return calloc(1, sizeof(struct session));
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
	free(s->processes);
	free(s->notes);
	free(s->marks);
	free(s);
}

enum process_end
session_end(
    const struct seg_header *h, const struct source *file, pid_t *ret_pid)
{
	pid_t pid = 0;

	*ret_pid = 0;
	if (h->end_kind == SEG_END_EXITED)
		return PROCESS_EXITED;
	switch (alive_check(h, file, &pid)) {
	case ALIVE_YES:
		*ret_pid = pid;
		return PROCESS_RUNNING;
	case ALIVE_EXEC:
		return PROCESS_EXEC;
	case ALIVE_NO:
		return PROCESS_KILLED;
	case ALIVE_UNKNOWN:
		break;
	}
	return PROCESS_UNKNOWN;
}

/* The tick of a process that sleeps stands still; it runs on all the same. */
static void
measure_running(struct process *p)
{
	struct timespec now;
	uint64_t now_ns;

	if (p->alive_pid == 0 || p->end != PROCESS_RUNNING)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (now_ns > p->header.start_monotonic_ns + p->duration_ns)
		p->duration_ns = now_ns - p->header.start_monotonic_ns;
}

static int
load_slot(struct session *s, const struct segfile *f, int slot, bool ask_proc,
    struct fault *where)
{
	struct segment *seg;
	struct process *p;
	int err;

	err = segfile_read(f, slot, &seg, where);
	if (err < 0)
		return err;
	err = process_new(seg, &p);
	segment_free(seg);
	if (err < 0)
		return no_memory(where);
	if (p->header.end_kind == SEG_END_EXITED)
		p->end = PROCESS_EXITED;
	else if (p->is_snapshot)
		p->end = PROCESS_RUNNING; /* at that moment */
	else if (ask_proc)
		p->end =
		    session_end(&p->header, segfile_source(f), &p->alive_pid);
	measure_running(p);
	if (add_process(s, p) < 0)
		return no_memory(where);
	return 0;
}

/* A child's slot that is damaged does not hide the others. */
static int
load_segfile(struct session *s, const struct segfile *f, const char *name,
    bool ask_proc, struct fault *where)
{
	struct fault why;
	int err;

	err = load_slot(s, f, SEGFILE_OWN, ask_proc, where);
	if (err < 0)
		return err;
	for (int i = 0; i < segfile_slots(f); i++) {
		err = load_slot(s, f, i, ask_proc, &why);
		if (err == -ENOMEM)
			return no_memory(where);
		if (err < 0 && err != -ENODATA &&
		    add_note(s, "%s: forked child %d left out: %s", name, i,
		        why.text) < 0)
			return no_memory(where);
	}
	return 0;
}

/* ---- recordings ---- */

static int
load_entry(struct session *s, const char *name, const uint8_t *bytes,
    size_t len, struct fault *where)
{
	struct bundle_segment head;
	struct segfile *f;
	struct process *p;
	size_t before = s->count;
	int err;

	if (len < sizeof(head))
		return fault_set(where, -EBADMSG, "an entry of %zu bytes", len);
	memcpy(&head, bytes, sizeof(head));
	err = segfile_open_bytes(
	    bytes + sizeof(head), len - sizeof(head), &f, where);
	if (err < 0)
		return err == -EINVAL ? -EBADMSG : err;
	err = load_segfile(s, f, name, false, where);
	segfile_close(f);
	if (err < 0)
		return err == -EINVAL ? -EBADMSG : err;
	p = s->processes[before];
	if (head.end_kind != BUNDLE_END_UNKNOWN &&
	    head.end_kind <= BUNDLE_END_EXEC)
		p->end = (enum process_end)head.end_kind;
	p->exit_status = head.exit_status;
	p->signal = head.signal > 0 ? head.signal : 0;
	return 0;
}

/* The value of a line "key=value"; *ret_len is 0 where there is none. */
static const char *
line_value(const char *text, size_t len, const char *key, int *ret_len)
{
	size_t n = strlen(key);

	*ret_len = 0;
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len;

		if (line > n && memcmp(text, key, n) == 0 && text[n] == '=') {
			*ret_len =
			    line - n - 1 > 1000 ? 1000 : (int)(line - n - 1);
			return text + n + 1;
		}
		line += end ? 1 : 0;
		text += line;
		len -= line;
	}
	return "";
}

static int
note_untraced(struct session *s, const char *text, size_t len)
{
	const char *pid, *exe, *reason;
	int pid_len, exe_len, reason_len;

	pid = line_value(text, len, "pid", &pid_len);
	exe = line_value(text, len, "exe", &exe_len);
	reason = line_value(text, len, "reason", &reason_len);
	return add_note(s, "process %.*s (%.*s) was not traced: %.*s", pid_len,
	    pid, exe_len, exe, reason_len, reason);
}

/* A recording being read. */
struct reading {
	struct session *session;
	struct bundle *bundle;
	const char *name;
	struct replay *replay; /* totals and marks */
	size_t first;  /* of the session's processes that is from here */
	size_t points; /* kept, of all processes */
	bool line_damaged;
	bool has_line;
};

/* Points of a process whose place in the session is not known yet. */
struct course {
	struct process_point *points;
	size_t count, room;
	uint64_t stride, skipped; /* keep one in so many */
};

/* Many points give way to every second of them; the last is always kept. */
static int
add_point(struct course *c, const struct process_point *point)
{
	if (c->count > 1 && ++c->skipped < c->stride) {
		c->points[c->count - 1] = *point;
		return 0;
	}
	c->skipped = 0;
	if (c->count == POINTS_MAX) {
		for (size_t i = 0; i < c->count / 2; i++)
			c->points[i] = c->points[2 * i];
		c->count /= 2;
		c->stride = c->stride ? c->stride * 2 : 2;
	}
	if (c->count == c->room) {
		size_t room = c->room ? c->room * 2 : 16;
		struct process_point *more =
		    reallocarray(c->points, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->points = more;
		c->room = room;
	}
	c->points[c->count++] = *point;
	return 0;
}

static int
on_totals(void *context, struct replay_process *p)
{
	struct reading *r = context;
	const struct line_sum *t = &p->totals;
	const struct process_point point = {
	    .time_us = p->totals_us,
	    .live_bytes = t->allocated_bytes > t->freed_bytes
	        ? t->allocated_bytes - t->freed_bytes
	        : 0,
	    .live_blocks =
	        t->allocations > t->frees ? t->allocations - t->frees : 0,
	    .allocations = t->allocations,
	    .allocated_bytes = t->allocated_bytes,
	};

	if (!p->context)
		p->context = calloc(1, sizeof(struct course));
	if (!p->context)
		return -ENOMEM;
	if (++r->points > ALL_POINTS_MAX)
		return 0; /* of thousands of processes */
	return add_point(p->context, &point);
}

static int
on_mark(void *context, const struct replay_mark *mark)
{
	struct session *s = ((struct reading *)context)->session;
	struct session_mark *more;

	if (s->mark_count >= MARKS_MAX)
		return 0;
	if ((s->mark_count & (s->mark_count - 1)) == 0) {
		size_t room = s->mark_count ? s->mark_count * 2 : 1;

		more = reallocarray(s->marks, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->marks = more;
	}
	more = &s->marks[s->mark_count++];
	*more = (struct session_mark){
	    .time_us = mark->time_us, .kind = mark->kind, .pid = mark->pid};
	memcpy(more->label, mark->label, sizeof(more->label));
	return 0;
}
_Static_assert(sizeof(((struct session_mark *)0)->label) ==
        sizeof(((struct replay_mark *)0)->label),
    "a label is copied whole");

/* Once something of the time line is missing, differences mean nothing. */
static int
load_line(struct reading *r, const void *bytes, size_t len)
{
	int err;

	r->has_line = true;
	if (r->line_damaged)
		return 0;
	err = replay_entry(r->replay, bytes, len);
	if (err == -ENOMEM || err == 0)
		return err;
	r->line_damaged = true;
	r->session->is_truncated = true;
	return add_note(r->session, "%s: its time line is damaged after %.1f s",
	    r->name, (double)replay_time_us(r->replay) / 1e6);
}

static void
load_about(struct session *s, const char *text, size_t len)
{
	const char *value;
	char number[24];
	int n;

	value = line_value(text, len, "start_ns", &n);
	if (n == 0 || n >= (int)sizeof(number))
		return;
	memcpy(number, value, (size_t)n);
	number[n] = '\0';
	s->start_ns = strtoull(number, NULL, 10);
}

static int
load_any_entry(struct reading *r, uint32_t type, const void *bytes, size_t len)
{
	struct fault why = {""};
	int err = 0;

	switch (type) {
	case BUNDLE_SEGMENT:
		err = load_entry(r->session, r->name, bytes, len, &why);
		if (err < 0 && err != -ENOMEM)
			err = add_note(r->session, "%s: a process left out: %s",
			    r->name, why.text);
		break;
	case BUNDLE_UNTRACED:
		err = note_untraced(r->session, bytes, len);
		break;
	case BUNDLE_META:
		load_about(r->session, bytes, len);
		break;
	case BUNDLE_LINE:
		err = load_line(r, bytes, len);
		break;
	default:
		break; /* of a later version */
	}
	return err;
}

/* Up to the end, or to damage that cannot be passed: see is_truncated. */
static int
load_entries(struct reading *r)
{
	struct session *s = r->session;
	const void *bytes;
	uint32_t type;
	size_t len;
	int err;

	for (;;) {
		err = bundle_next(r->bundle, &type, &bytes, &len);
		if (err == 1)
			err = load_any_entry(r, type, bytes, len);
		else if (err == 0)
			return 0;
		if (err == -ENOMEM)
			return err;
		if (err == 0)
			continue;
		s->is_truncated = true; /* what came before was sound */
		if (add_note(s, "%s is damaged behind its process number %zu",
		        r->name, s->count - r->first) < 0)
			return -ENOMEM;
		r->line_damaged = true;
		if (!bundle_resume(r->bundle))
			return 0;
	}
}

static struct process *
process_of(const struct reading *r, const uint8_t uuid[16])
{
	for (size_t i = r->first; i < r->session->count; i++)
		if (memcmp(r->session->processes[i]->header.uuid, uuid, 16) ==
		    0)
			return r->session->processes[i];
	return NULL;
}

/*
 * Hands the points over to the session's processes; true: some process of the
 * time line has no end state.
 */
static bool
give_points(struct reading *r)
{
	bool missing = false;

	for (size_t i = 0; i < replay_count(r->replay); i++) {
		struct replay_process *x = replay_process(r->replay, i);
		struct course *c = x->context;
		struct process *p = process_of(r, x->header.uuid);

		if (!p && x->header.magic == SEG_MAGIC)
			missing = true;
		if (!p || !c || p->points)
			continue;
		p->points = c->points;
		p->point_count = c->count;
		c->points = NULL;
	}
	return missing;
}

/* What the time line knows of a process whose end state is missing. */
static int
add_unfinished(struct reading *r, const struct replay_process *x)
{
	const char *slash = strrchr(x->header.exe, '/');
	struct segment *seg;
	struct process *p;
	int err;

	err = replay_segment(x, &seg);
	if (err < 0)
		return err == -ENODATA ? 0 : err;
	err = process_new(seg, &p);
	segment_free(seg);
	if (err < 0)
		return err;
	p->is_unfinished = true;
	p->as_of_us = x->rows_us;
	p->end = PROCESS_UNKNOWN;
	if (x->header.end_kind == SEG_END_EXITED)
		p->end = PROCESS_EXITED;
	err = add_note(r->session,
	    "%s: the end of process %u (%s) is missing; its figures are those "
	    "of %.1f s after the start",
	    r->name, x->header.pid, slash ? slash + 1 : x->header.exe,
	    (double)x->rows_us / 1e6);
	return add_process(r->session, p) < 0 ? -ENOMEM : err;
}

/* The recorder was killed: the last differences are all there is. */
static int
load_unfinished(struct reading *r)
{
	const struct replay_hooks hooks = {
	    .rows = true, .until_us = replay_time_us(r->replay)};
	size_t known = r->session->count;
	struct replay *again;
	const void *bytes;
	uint32_t type;
	size_t len;
	int err;

	err = replay_new(&hooks, &again);
	if (err < 0)
		return err;
	bundle_rewind(r->bundle);
	while ((err = bundle_next(r->bundle, &type, &bytes, &len)) == 1) {
		if (type == BUNDLE_LINE &&
		    replay_entry(again, bytes, len) == -ENOMEM) {
			err = -ENOMEM;
			break;
		}
	}
	for (size_t i = 0; i < replay_count(again) && err != -ENOMEM; i++) {
		struct replay_process *x = replay_process(again, i);
		bool has_end = false;

		for (size_t k = r->first; k < known; k++)
			has_end |= memcmp(r->session->processes[k]->header.uuid,
			               x->header.uuid, 16) == 0;
		if (!has_end)
			err = add_unfinished(r, x);
	}
	replay_free(again);
	return err == -ENOMEM ? err : 0;
}

static void
reading_release(struct reading *r)
{
	for (size_t i = 0; r->replay && i < replay_count(r->replay); i++) {
		struct course *c = replay_process(r->replay, i)->context;

		if (c)
			free(c->points);
		free(c);
	}
	replay_free(r->replay);
	bundle_close(r->bundle);
}

static int
read_all(struct reading *r)
{
	struct session *s = r->session;
	bool breaks_off;
	int err;

	err = load_entries(r);
	if (err < 0)
		return err;
	breaks_off = bundle_truncated(r->bundle);
	s->is_truncated |= breaks_off;
	s->until_us = replay_time_us(r->replay);
	if (breaks_off && r->has_line &&
	    add_note(s,
	        "%s breaks off: its end is missing; it is complete up to "
	        "%.1f s after the start",
	        r->name, (double)s->until_us / 1e6) < 0)
		return -ENOMEM;
	if (breaks_off && !r->has_line &&
	    add_note(s, "%s breaks off: its end is missing", r->name) < 0)
		return -ENOMEM;
	if (give_points(r)) {
		err = load_unfinished(r);
		if (err < 0)
			return err;
		(void)give_points(r);
	}
	return 0;
}

static int
load_bundle(
    struct session *s, const char *path, const char *name, struct fault *where)
{
	struct reading r = {.session = s, .name = name, .first = s->count};
	const struct replay_hooks hooks = {
	    .context = &r, .totals = on_totals, .mark = on_mark};
	int err;

	err = bundle_open(path, &r.bundle);
	if (err == -EINVAL)
		return fault_set(
		    where, err, "neither a recording nor a segment of seep");
	if (err < 0)
		return fault_set(where, err, "%s",
		    err == -EBADMSG       ? "damaged at its start"
		        : err == -ENOTSUP ? "a recording of another version"
		                          : strerror(-err));
	err = replay_new(&hooks, &r.replay);
	if (err == 0)
		err = read_all(&r);
	/* one time line at a time: a directory of recordings has none */
	if (err == 0 && r.has_line && !s->line &&
	    timeline_new(r.bundle, s->until_us, &s->line) == 0)
		r.bundle = NULL;
	reading_release(&r);
	if (err < 0)
		return no_memory(where);
	if (s->count > r.first)
		return 0;
	if (s->is_truncated)
		return fault_set(where, -EBADMSG, "%s",
		    "breaks off or is damaged before its first process");
	return fault_set(where, -ENODATA, "%s",
	    s->note_count ? s->notes[0] : "holds no process");
}

/* ---- files and directories ---- */

static int
load_file(
    struct session *s, const char *path, const char *name, struct fault *where)
{
	struct segfile *f;
	int err;

	err = segfile_open(AT_FDCWD, path, &f, where);
	if (err == -EINVAL)
		return load_bundle(s, path, name, where);
	if (err < 0)
		return err;
	err = load_segfile(s, f, name, true, where);
	segfile_close(f);
	return err;
}

static int
load_directory(struct session *s, const char *path, struct fault *where)
{
	struct fault why = {""};
	struct dirent **names;
	int n, err = 0;

	n = scandir(path, &names, NULL, alphasort);
	if (n < 0)
		return fault_set(where, -errno, "%s", strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name, *dot = strrchr(name, '.');
		char *file;

		if (name[0] == '.' || (dot && strcmp(dot, ".ctl") == 0) ||
		    err == -ENOMEM)
			continue;
		if (asprintf(&file, "%s/%s", path, name) < 0) {
			err = -ENOMEM;
			continue;
		}
		err = load_file(s, file, name, &why);
		free(file);
		/* gone, or not there yet: no loss to speak of */
		if (err < 0 && err != -ENOMEM && err != -ENODATA &&
		    err != -ENOENT && err != -EISDIR)
			err = add_note(
			    s, "%s/%s left out: %s", path, name, why.text);
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	if (err == -ENOMEM)
		return no_memory(where);
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
mark_exec(struct session *s, const struct seg_header *later)
{
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];

		if ((p->end == PROCESS_KILLED || p->end == PROCESS_UNKNOWN) &&
		    alive_superseded(&p->header, later))
			p->end = PROCESS_EXEC;
	}
}

/* The later segment may lie beside the file we were given. */
static void
look_beside(struct session *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct seg_header h;
	struct segfile *f;
	struct dirent *e;
	char mark[32], *folder;
	DIR *dir;

	if (s->count == 0 || s->processes[0]->end != PROCESS_KILLED)
		return;
	folder =
	    slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	dir = folder ? opendir(folder) : NULL;
	free(folder);
	if (!dir)
		return;
	(void)snprintf(mark, sizeof(mark), "-%u-", s->processes[0]->header.pid);
	while ((e = readdir(dir))) {
		const char *dot = strrchr(e->d_name, '.');

		if (!strstr(e->d_name, mark) || !dot ||
		    strcmp(dot, ".seg") != 0 ||
		    segfile_open(dirfd(dir), e->d_name, &f, NULL) < 0)
			continue;
		if (segfile_header(f, SEGFILE_OWN, &h, NULL) == 0)
			mark_exec(s, &h);
		segfile_close(f);
	}
	(void)closedir(dir);
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

static void
put_in_order(struct session *s)
{
	for (size_t i = 0; i < s->count; i++)
		mark_exec(s, &s->processes[i]->header);
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
		err = load_file(s, path, slash ? slash + 1 : path, where);
		if (err == 0)
			look_beside(s, path);
	}
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

	err = alive_open(pid, &f, &slot, path, where);
	if (err < 0)
		return err;
	s = session_new();
	err = s ? load_slot(s, f, slot, false, where) : no_memory(where);
	segfile_close(f);
	if (err < 0) {
		session_free(s);
		return err;
	}
	if (s->processes[0]->end == PROCESS_UNKNOWN) {
		s->processes[0]->end = PROCESS_RUNNING;
		s->processes[0]->alive_pid = pid;
		measure_running(s->processes[0]);
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
	err = s ? load_segfile(s, f, "input", false, where) : no_memory(where);
	segfile_close(f);
	if (err < 0) {
		session_free(s);
		return err;
	}
	put_in_order(s);
	*ret = s;
	return 0;
}
