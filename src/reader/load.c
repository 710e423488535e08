/* load.c - a recording becomes processes, points, marks and notes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/load_verdicts.h"
#include "reader/replay.h"
#include "util/room.h"
#include "reader/segfile.h"
#include "reader/session_parts.h"
#include "reader/timeline.h"
#include "trace/recording.h"

_Static_assert((int)PROCESS_RUNNING == (int)RECORDING_END_RUNNING &&
        (int)PROCESS_EXITED == (int)RECORDING_END_EXITED &&
        (int)PROCESS_KILLED == (int)RECORDING_END_KILLED &&
        (int)PROCESS_EXEC == (int)RECORDING_END_EXEC,
    "the recording's numbers are ours");

enum {
	POINTS_MAX = 65536,       /* of one process */
	ALL_POINTS_MAX = 1 << 22, /* looked at, of all processes */
	MARKS_MAX = 65536,
	UNPACKED_FACTOR = 32, /* of a recording's size */
	UNPACKED_FREE = 256 << 20,
};

static int
load_entry(struct session *s, const char *name, const uint8_t *bytes,
    size_t len, struct fault *where)
{
	struct recording_segment head;
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
	err = session_add_segfile(s, f, name, false, where);
	segfile_close(f);
	if (err < 0)
		return err == -EINVAL ? -EBADMSG : err;
	if (s->count == before)
		return 0; /* beyond the bounds of a session: counted there */
	p = s->processes[before];
	if (head.end_kind != RECORDING_END_UNKNOWN &&
	    head.end_kind <= RECORDING_END_EXEC)
		p->end = (enum process_end)head.end_kind;
	else if (p->end == PROCESS_UNKNOWN)
		p->end = PROCESS_GONE; /* it was over when it was recorded */
	p->exit_status = head.exit_status;
	p->signal = head.signal > 0 ? head.signal : 0;
	return 0;
}

/* The value of a line "key=value"; *ret_len is 0 where there is none. */
static const char *
codec_value(const char *text, size_t len, const char *key, int *ret_len)
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
	const char *pid, *exe, *reason, *refused;
	int pid_len, exe_len, reason_len, refused_len = 0;

	pid = codec_value(text, len, "pid", &pid_len);
	exe = codec_value(text, len, "exe", &exe_len);
	reason = codec_value(text, len, "reason", &reason_len);
	refused = codec_value(text, len, "refused", &refused_len);
	/* it would have been traced: the recording is not whole */
	s->is_truncated |= refused_len > 0;
	if (refused_len > 0 && pid_len == 1 && pid[0] == '0')
		return session_note(s,
		    "%.*s more processes were not traced: %.*s", refused_len,
		    refused, reason_len, reason);
	return session_note(s, "process %.*s (%.*s) was not traced: %.*s",
	    pid_len, pid, exe_len, exe, reason_len, reason);
}

/* A recording being read. */
struct reading {
	struct session *session;
	struct recording *bundle;
	const char *name;
	struct replay *replay; /* totals and marks */
	size_t first;  /* of the session's processes that is from here */
	size_t points; /* kept, of all processes */
	bool line_damaged;
	bool has_line;
	bool is_growing; /* its recorder is at work */
	bool is_whole;   /* its bytes are: what it lacks was left out */
	uint64_t max_rss_bytes;
	uint32_t command_pid;
	struct process_names *names; /* the session's */
	size_t names_bytes;
	struct load_verdicts verdicts;
	uint64_t segment_bytes; /* unpacked, of all processes */
	size_t left_out;        /* processes, for which that is too much */
};

/*
 * Processes are kept in memory, all of them: a small file that unpacks to very
 * much is not one of ours.
 */
static uint64_t
most_bytes(const struct reading *r)
{
	uint64_t max = recording_file_bytes(r->bundle);

	max = max < UINT64_MAX / UNPACKED_FACTOR ? max * UNPACKED_FACTOR : max;
	return max < UNPACKED_FREE ? UNPACKED_FREE : max;
}

static bool
has_room(struct reading *r, size_t len)
{
	if (len > most_bytes(r) - r->segment_bytes) {
		r->left_out++;
		return false;
	}
	r->segment_bytes += len;
	return true;
}

static int
note_left_out(struct reading *r)
{
	size_t n = r->verdicts.left_out;

	if (n > 0 &&
	    session_note(r->session,
	        "%s: %zu list%s of verdicts left out: damaged, or too long",
	        r->name, n, n == 1 ? "" : "s") < 0)
		return -ENOMEM;
	r->session->is_truncated |= n > 0 || r->left_out > 0;
	if (r->left_out == 0)
		return 0;
	return session_note(r->session,
	    "%s: %zu process%s left out: unpacked, it has far more than a "
	    "recording of its size",
	    r->name, r->left_out, r->left_out == 1 ? "" : "es");
}

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
	if (room_make(&c->points, &c->room, c->count, sizeof(*c->points)) < 0)
		return -ENOMEM;
	c->points[c->count++] = *point;
	return 0;
}

static int
on_totals(void *context, struct replay_process *p)
{
	struct reading *r = context;
	const struct codec_sum *t = &p->totals;
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
	if (++r->points > ALL_POINTS_MAX) {
		r->session->lost.points++; /* of thousands of processes */
		return 0;
	}
	return add_point(p->context, &point);
}

static int
on_mark(void *context, const struct replay_mark *mark)
{
	struct session *s = ((struct reading *)context)->session;
	struct session_mark *more;

	if (s->mark_count >= MARKS_MAX) {
		s->lost.marks++;
		return 0;
	}
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
	return session_note(r->session,
	    "%s: its time line is damaged after %.1f s", r->name,
	    (double)replay_time_us(r->replay) / 1e6);
}

static uint64_t
number_in(const char *text, size_t len, const char *key)
{
	char number[24];
	const char *value;
	int n;

	value = codec_value(text, len, key, &n);
	if (n == 0 || n >= (int)sizeof(number))
		return 0;
	memcpy(number, value, (size_t)n);
	number[n] = '\0';
	return strtoull(number, NULL, 10);
}

/* What the recorder had no room for, of the time line. */
static int
note_cut(struct session *s, const char *text, size_t len)
{
	uint64_t unwatched = number_in(text, len, "unwatched");
	uint64_t unplaced = number_in(text, len, "unplaced");
	int err = 0;

	if (unplaced)
		err = session_note(s,
		    "%llu module%s of a relative path %s not looked for: "
		    "functions there may have no names",
		    (unsigned long long)unplaced, unplaced == 1 ? "" : "s",
		    unplaced == 1 ? "was" : "were");
	if (err == 0 && unwatched)
		err = session_note(s,
		    "%llu process%s no time line: there was no memory to watch "
		    "more of them",
		    (unsigned long long)unwatched,
		    unwatched == 1 ? " has" : "es have");
	if (err == 0 && number_in(text, len, "line_cut")) {
		s->is_truncated = true;
		err = session_note(s,
		    "the time line ends before the command: the recording had "
		    "its full size (record --max-size)");
	}
	return err;
}

static int
load_about(struct reading *r, const char *text, size_t len)
{
	struct session *s = r->session;
	uint64_t start_ns = number_in(text, len, "start_ns");
	uint64_t killed = number_in(text, len, "oom_kills");

	if (start_ns)
		s->start_ns = start_ns;
	r->max_rss_bytes = number_in(text, len, "max_rss_bytes");
	r->command_pid = (uint32_t)number_in(text, len, "pid");
	s->command_pid = r->command_pid;
	s->leaks_asked |= number_in(text, len, "leaks") > 0;
	if (note_cut(s, text, len) < 0)
		return -ENOMEM;
	if (!killed)
		return 0;
	return session_note(s,
	    "the kernel's OOM killer ended %llu process%s in the memory cgroup "
	    "of the recording while it ran",
	    (unsigned long long)killed, killed == 1 ? "" : "es");
}

/* Kept as they are: only who wants names reads them. */
static int
load_names(struct reading *r, const void *bytes, size_t len)
{
	struct process_names *n;

	if (len > RECORDING_NAMES_MAX - r->names_bytes)
		/* addresses instead of names: no figure is missing */
		return session_note(
		    r->session, "%s: too many names, some left out", r->name);
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	n->bytes = malloc(len + 1);
	if (!n->bytes) {
		free(n);
		return -ENOMEM;
	}
	memcpy(n->bytes, bytes, len);
	n->len = len;
	n->next = r->names;
	n->all = r->session->names;
	r->session->names = n;
	r->names = n;
	r->names_bytes += len;
	return 0;
}

static int
load_any_entry(struct reading *r, uint32_t type, const void *bytes, size_t len)
{
	struct fault why = {""};
	int err = 0;

	switch (type) {
	case RECORDING_SEGMENT:
		if (!has_room(r, len))
			break;
		err = load_entry(r->session, r->name, bytes, len, &why);
		if (err < 0 && err != -ENOMEM) {
			r->session->is_truncated = true;
			err = session_note(r->session,
			    "%s: a process left out: %s", r->name, why.text);
		}
		break;
	case RECORDING_UNTRACED:
		err = note_untraced(r->session, bytes, len);
		break;
	case RECORDING_META:
		err = load_about(r, bytes, len);
		break;
	case RECORDING_LINE:
		err = load_line(r, bytes, len);
		break;
	case RECORDING_NAMES:
		err = load_names(r, bytes, len);
		break;
	case RECORDING_VERDICTS:
		err = load_verdicts_entry(
		    &r->verdicts, bytes, len, most_bytes(r));
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
		err = recording_next(r->bundle, &type, &bytes, &len);
		if (err == 1)
			err = load_any_entry(r, type, bytes, len);
		else if (err == 0)
			return 0;
		if (err == -ENOMEM)
			return err;
		if (err == 0)
			continue;
		s->is_truncated = true; /* what came before was sound */
		if (session_note(s,
		        "%s is damaged behind its process number %zu", r->name,
		        s->count - r->first) < 0)
			return -ENOMEM;
		r->line_damaged = true;
		if (!recording_resume(r->bundle))
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
	p->is_unfinished = !r->is_growing;
	p->temporary_ticks = 0; /* a time line has no ages */
	p->as_of_us = x->rows_us;
	p->end = r->is_growing ? PROCESS_RUNNING : PROCESS_UNKNOWN;
	if (x->header.end_kind == SEG_END_EXITED)
		p->end = PROCESS_EXITED;
	if (r->is_growing)
		return session_add(r->session, p) < 0 ? -ENOMEM : 0;
	err = session_note(r->session,
	    "%s: the end of process %u (%s) is missing; its figures are those "
	    "of %.1f s after the start",
	    r->name, x->header.pid, slash ? slash + 1 : x->header.exe,
	    (double)x->rows_us / 1e6);
	return session_add(r->session, p) < 0 ? -ENOMEM : err;
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
	recording_rewind(r->bundle);
	while ((err = recording_next(r->bundle, &type, &bytes, &len)) == 1) {
		if (type == RECORDING_LINE &&
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
	load_verdicts_release(&r->verdicts);
	recording_close(r->bundle);
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
	err = note_left_out(r);
	if (err < 0)
		return err;
	breaks_off = recording_truncated(r->bundle);
	s->until_us = replay_time_us(r->replay);
	r->is_growing = breaks_off && recording_is_growing(r->bundle);
	if (r->is_growing) {
		if (session_note(s,
		        "%s is being written; this is what it has after %.1f s",
		        r->name, (double)s->until_us / 1e6) < 0)
			return -ENOMEM;
		breaks_off = false;
	}
	s->is_truncated |= breaks_off;
	r->is_whole = !breaks_off && !r->line_damaged;
	if (breaks_off && r->has_line &&
	    session_note(s,
	        "%s breaks off: its end is missing; it is complete up to "
	        "%.1f s after the start",
	        r->name, (double)s->until_us / 1e6) < 0)
		return -ENOMEM;
	if (breaks_off && !r->has_line &&
	    session_note(s, "%s breaks off: its end is missing", r->name) < 0)
		return -ENOMEM;
	if (give_points(r)) {
		err = load_unfinished(r);
		if (err < 0)
			return err;
		(void)give_points(r);
	}
	load_verdicts_give(&r->verdicts, s, r->first);
	for (size_t i = r->first; i < s->count; i++) {
		struct process *p = s->processes[i];

		p->names = r->names;
		/* of all its children the most: told where it has none */
		if (p->header.pid == r->command_pid &&
		    s->count == r->first + 1) {
			p->rss_bytes = r->max_rss_bytes;
			p->rss_is_peak = true;
		}
	}
	return 0;
}

int
load_into_session(
    struct session *s, const char *path, const char *name, struct fault *where)
{
	struct reading r = {.session = s, .name = name, .first = s->count};
	const struct replay_hooks hooks = {
	    .context = &r, .totals = on_totals, .mark = on_mark};
	int err;

	err = recording_open(path, &r.bundle);
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
		return fault_set(where, -ENOMEM, "out of memory");
	if (s->count > r.first)
		return 0;
	if (s->is_truncated && !(r.is_whole && s->note_count))
		return fault_set(where, -EBADMSG, "%s",
		    "breaks off or is damaged before its first process");
	return fault_set(where, -ENODATA, "%s",
	    s->note_count ? s->notes[0] : "holds no process");
}
