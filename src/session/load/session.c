/* session.c - puts processes together to a session, within limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/session.h"

#include "segments/find/proc.h"
#include "host/proc/procfs.h"
#include "kit/os/clock.h"
#include "session/process/live_ages.h"
#include "session/process/family.h"
#include "segments/read/segfile.h"
#include "session/load/load_parts.h"
#include "session/timeline/timeline.h"

/*
 * What reading needs, and limits for it: a hostile directory may have hundreds
 * of thousands of slots that all claim to be of one running process.
 */
enum {
	LOOK_SECONDS = 10, /* at the memory of all processes together */
	NOTES_MAX = 1000,
	/* beside its rows */
	PROCESS_BYTES = sizeof(struct process) + 4096,
};
#define HELD_BYTES_MAX (UINT64_C(2) << 30)

static int no_memory(struct fault *where)
{
	return fault_set(where, -ENOMEM, "out of memory");
}

int session_note(struct session *s, const char *fmt, ...)
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

int session_add(struct session *s, struct process *p)
{
	struct process **all;

	all = reallocarray(s->processes, s->count + 1, sizeof(struct process *));
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

struct session *session_new(void)
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

/*
 * "N more THINGs were ...", if there are some that no note has mentioned yet.
 */
static int note_more(struct session *s, uint64_t count, uint64_t noted, const char *one,
    const char *many, const char *why)
{
	count -= noted;
	return count == 0 ? 0
	                  : session_note(s, "%llu more %s %s", (unsigned long long)count,
	                        count == 1 ? one : many, why);
}

int session_finish(struct session *s)
{
	struct session_work *w = s->work;
	const struct session_lost l = s->lost, noted = w->noted;
	int err;

	w->is_finishing = true;
	err = note_more(s, w->notes, 0, "note", "notes", "like these");
	if (err == 0)
		err = note_more(s, w->not_looked, 0, "running process", "running processes",
		    "whose live blocks were not looked at: 10 s are over");
	if (err == 0)
		err = note_more(s, l.processes, noted.processes, "process", "processes",
		    "not read: those before take 2 GiB");
	if (err == 0)
		err = note_more(s, l.files, noted.files, "file", "files",
		    "not opened: the directory has more than 65,536");
	if (err == 0)
		err = note_more(s, l.marks, noted.marks, "mark", "marks", "left out");
	if (err == 0)
		err = note_more(
		    s, l.points, noted.points, "point", "points", "of the time line left out");
	s->is_truncated |= l.processes || l.files || l.marks || l.points;
	w->notes = w->not_looked = 0;
	w->noted = l;
	w->is_finishing = false;
	return err;
}

size_t session_number(const struct session *s, const uint8_t uuid[16])
{
	size_t i = 0;

	while (i < s->count && memcmp(s->processes[i]->header.uuid, uuid, 16) != 0)
		i++;
	return i;
}

struct process *session_find(const struct session *s, const uint8_t uuid[16])
{
	size_t i = session_number(s, uuid);

	return i < s->count ? s->processes[i] : NULL;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		process_free(s->processes[i]);
	for (size_t i = 0; i < s->note_count; i++)
		free(s->notes[i]);
	timeline_free(s->line);
	if (s->work && !s->work->brief)
		proc_cache_free(s->work->cache);
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
	free(s->title);
	free(s->processes);
	free(s->notes);
	free(s->marks);
	free(s);
}

enum process_end session_end(const struct seg_header *h, const struct source *file, pid_t *ret_pid)
{
	return session_end_in(NULL, h, file, ret_pid);
}

enum process_end session_end_in(
    struct proc_cache *cache, const struct seg_header *h, const struct source *file, pid_t *ret_pid)
{
	pid_t pid = 0;

	*ret_pid = 0;
	if (h->end_kind == SEG_END_EXITED)
		return PROCESS_EXITED;
	switch (proc_check_in(cache, h, file, &pid)) {
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

/* The tick of a process that sleeps does not advance, although time passes. */
static void measure_running(struct process *p)
{
	uint64_t now_ns;

	if (p->running_pid == 0 || p->end != PROCESS_RUNNING)
		return;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (now_ns > p->header.start_monotonic_ns + p->duration_ns)
		p->duration_ns = now_ns - p->header.start_monotonic_ns;
}

static void find_end(struct session_work *w, struct process *p, const struct segfile *f, pid_t pid)
{
	if (p->header.end_kind == SEG_END_EXITED) {
		p->end = PROCESS_EXITED;
	} else if (p->is_snapshot) {
		p->end = PROCESS_RUNNING; /* at that moment */
	} else if (pid > 0) {
		p->end = PROCESS_RUNNING;
		p->running_pid = pid;
	} else if (pid == SESSION_ASK_PROC) {
		if (!w->cache)
			w->cache = proc_cache_new();
		p->end = session_end_in(w->cache, &p->header, segfile_source(f), &p->running_pid);
	}
}

/* Reads the blocks of a running process from its memory. */
static int look_at_blocks(struct session_work *w, struct process *p, const struct segment *seg,
    const struct segfile *f, int slot)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC);
	struct cross_check_words words = {{""}, {""}};
	int err;

	if (w->looked_ns > LOOK_SECONDS * UINT64_C(1000000000)) {
		w->not_looked++;
		return 0;
	}

	err = cross_check_running(seg, f, slot, p->running_pid, &p->live_map, &words);
	p->doubt = words.doubt;
	p->unread = words.unread;
	if (err == 0 && (p->live_map == CROSS_CHECK_YES || p->live_map == CROSS_CHECK_PARTLY))
		err = live_ages_read(p);
	w->looked_ns += clock_ns(CLOCK_MONOTONIC) - began;
	return err;
}

/* Bytes of its rows, and the other memory that a process takes. */
static uint64_t bytes_of(const struct segment *seg)
{
	uint64_t bytes = PROCESS_BYTES;

	for (size_t i = 0; i < seg->extent_count; i++)
		bytes += (uint64_t)seg->extents[i].count * seg->extents[i].row_bytes;
	return bytes;
}

int session_add_slot(
    struct session *s, const struct segfile *f, int slot, pid_t pid, struct fault *where)
{
	struct session_work *w = s->work;
	struct process *p = NULL;
	struct segment *seg;
	int err;

	if (w->held_bytes > HELD_BYTES_MAX) {
		s->lost.processes++;
		return 0;
	}
	err = w->brief ? segfile_read_ledger(f, slot, &seg, where)
	               : segfile_read(f, slot, &seg, where);
	if (err < 0)
		return err;
	w->held_bytes += bytes_of(seg);
	err = w->brief ? process_new_brief(seg, &p) : process_new(seg, &p);
	if (err == 0) {
		p->owner = source_owner(segfile_source(f));
		p->held_bytes = bytes_of(seg);
		find_end(w, p, f, pid);
	}
	if (err == 0 && !w->brief)
		err = relative_look(p);
	if (err == 0 && !w->brief && !w->no_blocks && p->running_pid > 0 &&
	    p->doubt.text[0] == '\0')
		err = look_at_blocks(w, p, seg, f, slot);
	segment_copy_free(seg);
	if (err < 0) {
		process_free(p);
		return no_memory(where);
	}
	measure_running(p);
	if (p->running_pid > 0 && !w->brief)
		p->rss_bytes = procfs_resident(p->running_pid);
	if (session_add(s, p) < 0)
		return no_memory(where);
	return 0;
}

int session_add_segfile(struct session *s, const struct segfile *f, const char *name, bool ask_proc,
    struct fault *where)
{
	struct session_brief *brief = s->work->brief;
	uint8_t taken[SEGFILE_SLOTS];
	struct fault why;
	int err;

	err = session_add_slot(
	    s, f, SEGFILE_OWN, ask_proc ? SESSION_ASK_PROC : SESSION_ASK_NOT, where);
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
		err =
		    session_add_slot(s, f, i, ask_proc ? SESSION_ASK_PROC : SESSION_ASK_NOT, &why);
		if (err == -ENOMEM)
			return no_memory(where);
		s->is_truncated |= err == -EBADMSG || err == -EFBIG;
		if (err < 0 && err != -ENODATA &&
		    session_note(s, "%s: forked child %d left out: %s", name, i, why.text) < 0)
			return no_memory(where);
	}
	return 0;
}
