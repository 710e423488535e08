/* load.c - reads a recording: processes, points, marks and notes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/load_parts.h"

#include "base/std.h"
#include "segments/read/segfile.h"
#include "session/timeline/timeline.h"

enum {
	UNPACKED_FACTOR = 32, /* of a recording's size */
	UNPACKED_FREE = 256 << 20,
};

static int load_entry(
    struct session *s, const char *name, const uint8_t *bytes, size_t len, struct fault *where)
{
	struct recording_segment head;
	struct segfile *f;
	size_t before = s->count;
	int err;

	if (len < sizeof(head))
		return fault_set(where, -EBADMSG, "an entry of %zu bytes", len);
	memcpy(&head, bytes, sizeof(head));
	err = segfile_open_bytes(bytes + sizeof(head), len - sizeof(head), &f, where);
	if (err < 0)
		return err == -EINVAL ? -EBADMSG : err;
	err = session_add_segfile(s, f, name, false, where);
	segfile_close(f);
	if (err < 0)
		return err == -EINVAL ? -EBADMSG : err;
	if (s->count == before)
		return 0; /* the session counts what exceeds its limits */
	process_set_recorded(s->processes[before], &head);
	return 0;
}

/*
 * All processes are kept in memory, so a small file that unpacks to very much
 * is refused. It cannot be one of ours.
 */
static uint64_t most_bytes(const struct load *r)
{
	uint64_t max = recording_file_bytes(r->recording);

	max = max < UINT64_MAX / UNPACKED_FACTOR ? max * UNPACKED_FACTOR : max;
	return max < UNPACKED_FREE ? UNPACKED_FREE : max;
}

static bool has_room(struct load *r, size_t len)
{
	if (len > most_bytes(r) - r->segment_bytes) {
		r->left_out++;
		return false;
	}
	r->segment_bytes += len;
	return true;
}

static int note_left_out(struct load *r)
{
	size_t n = r->beside.left_out[BESIDE_VERDICTS];
	size_t readings = r->beside.left_out[BESIDE_RSS];

	if (n > 0 &&
	    session_note(r->session, "%s: %zu list%s of verdicts left out: damaged, or too long",
	        r->name, n, n == 1 ? "" : "s") < 0)
		return -ENOMEM;
	if (readings > 0 &&
	    session_note(r->session,
	        "%s: %zu reading%s of resident pages left out: damaged, or too "
	        "long",
	        r->name, readings, readings == 1 ? "" : "s") < 0)
		return -ENOMEM;
	r->session->is_truncated |= n > 0 || r->left_out > 0 || readings > 0;
	if (r->left_out == 0)
		return 0;
	return session_note(r->session,
	    "%s: %zu process%s left out: unpacked, it has far more than a "
	    "recording of its size",
	    r->name, r->left_out, r->left_out == 1 ? "" : "es");
}

/* Names are kept as they are and parsed only if somebody asks for names. */
static int load_names(struct load *r, const void *bytes, size_t len)
{
	struct process_names *n;

	if (len > RECORDING_NAMES_MAX - r->names_bytes)
		/*
		 * Reports will show addresses instead of names; no figure is
		 * missing.
		 */
		return session_note(r->session, "%s: too many names, some left out", r->name);
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

static int load_any_entry(struct load *r, uint32_t type, const void *bytes, size_t len)
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
			err = session_note(
			    r->session, "%s: a process left out: %s", r->name, why.text);
		}
		break;
	case RECORDING_UNTRACED:
		err = load_untraced(r->session, bytes, len);
		break;
	case RECORDING_META:
		err = load_about(r, bytes, len);
		break;
	case RECORDING_LINE:
		err = load_timeline(r, bytes, len);
		break;
	case RECORDING_NAMES:
		err = load_names(r, bytes, len);
		break;
	default: /* entries of a later version of seep are skipped */
		err = load_beside_entry(&r->beside, type, bytes, len, most_bytes(r));
	}
	return err;
}

/*
 * Reads to the end, or to damage that cannot be skipped; then is_truncated is
 * set.
 */
static int load_entries(struct load *r)
{
	struct session *s = r->session;
	const void *bytes;
	uint32_t type;
	size_t len;
	int err;

	for (;;) {
		err = recording_next(r->recording, &type, &bytes, &len);
		if (err == 1)
			err = load_any_entry(r, type, bytes, len);
		else if (err == 0)
			return 0;
		if (err == -ENOMEM)
			return err;
		if (err == 0)
			continue;
		s->is_truncated = true; /* all entries before it are valid */
		if (session_note(s, "%s is damaged behind its process number %zu", r->name,
		        s->count - r->first) < 0)
			return -ENOMEM;
		r->timeline_damaged = true;
		if (!recording_resume(r->recording))
			return 0;
	}
}

static int read_all(struct load *r)
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
	breaks_off = recording_truncated(r->recording);
	s->until_us = playback_time_us(r->replay);
	r->is_growing = breaks_off && recording_is_growing(r->recording);
	if (r->is_growing) {
		if (session_note(s, "%s is being written; this is what it has after %.1f s",
		        r->name, (double)s->until_us / 1e6) < 0)
			return -ENOMEM;
		breaks_off = false;
	}
	s->lacks_end = breaks_off;
	r->is_whole = !breaks_off && !r->timeline_damaged;
	if (breaks_off && r->has_timeline &&
	    session_note(s,
	        "%s is cut off: its end is missing; it is complete up to "
	        "%.1f s after the start",
	        r->name, (double)s->until_us / 1e6) < 0)
		return -ENOMEM;
	if (breaks_off && !r->has_timeline &&
	    session_note(s, "%s is cut off: its end is missing", r->name) < 0)
		return -ENOMEM;
	err = load_timeline_points(r);
	if (err > 0) {
		err = load_timeline_unfinished(r);
		if (err == 0)
			err = load_timeline_points(r);
	}
	if (err < 0)
		return err;
	err = load_beside_give(&r->beside, s, r->first);
	if (err < 0)
		return err;
	for (size_t i = r->first; i < s->count; i++) {
		struct process *p = s->processes[i];

		p->names = r->names;
		/*
		 * The figure is the largest of all its children, so it is used
		 * only if the process has none of its own.
		 */
		if (p->header.pid == r->command_pid && s->count == r->first + 1) {
			p->rss_bytes = r->max_rss_bytes;
			p->rss_is_peak = true;
		}
	}
	return 0;
}

int load_into_session(
    struct session *s, const char *path, const char *name, bool is_given, struct fault *where)
{
	struct load r = {.session = s, .name = name, .first = s->count};
	int err;

	s->lacks_end = false;
	err = is_given ? recording_open(path, &r.recording)
	               : recording_open_entry(path, &r.recording);
	if (err == -EINVAL)
		return fault_set(where, err, "neither a recording nor a segment of seep");
	if (err < 0)
		return fault_set(where, err, "%s",
		    err == -EBADMSG       ? "its start makes no sense, or most of it is a hole"
		        : err == -ENOTSUP ? "a recording of another version"
		                          : strerror(-err));
	/* events can be most of the file, and session_log.h reads them */
	recording_without(r.recording, RECORDING_LOG);
	recording_without(r.recording, RECORDING_LOG_INDEX);
	err = load_timeline_begin(&r);
	if (err == 0)
		err = read_all(&r);
	/*
	 * A session has one time line, so a directory of recordings has none.
	 */
	if (err == 0 && r.has_timeline && !s->line &&
	    timeline_new(r.recording, s->until_us, &s->line) == 0)
		r.recording = NULL;
	load_timeline_release(&r);
	load_beside_release(&r.beside);
	recording_close(r.recording);
	if (err < 0)
		return fault_set(where, -ENOMEM, "out of memory");
	if (s->count > r.first)
		return 0;
	if ((s->is_truncated || s->lacks_end) && !(r.is_whole && s->note_count))
		return fault_set(
		    where, -EBADMSG, "%s", "is cut off or damaged before its first process");
	return fault_set(where, -ENODATA, "%s", s->note_count ? s->notes[0] : "holds no process");
}
