/* load_parts.h - what the files of load.h share: a recording being read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOAD_PARTS_H
#define SEEP_LOAD_PARTS_H

#include "session/load/load_beside.h"
#include "session/timeline/replay.h"
#include "session/load/session_parts.h"
#include "recording/file/recording.h"

struct load {
	struct session *session;
	struct recording *recording;
	const char *name;
	struct replay *replay; /* for totals and marks */
	size_t first;          /* of the session's processes that is from here */
	size_t points;         /* points kept, of all processes */
	bool timeline_damaged;
	bool has_timeline;
	bool is_growing; /* its recorder is still running */
	bool is_whole;   /* its bytes are: what it lacks was left out */
	uint64_t max_rss_bytes;
	uint32_t command_pid;
	struct process_names *names; /* the session's */
	size_t names_bytes;
	struct load_beside beside;
	uint64_t segment_bytes; /* bytes, unpacked, of all processes */
	size_t left_out;        /* processes left out because of that limit */
};

/* ---- the entries that are lines of text ---- */

/* A process that was not traced becomes a note. -ENOMEM. */
int load_untraced(struct session *s, const char *text, size_t len);

/* What the recording says of itself. -ENOMEM. */
int load_about(struct load *r, const char *text, size_t len);

/* ---- the time line ---- */

/* Makes r->replay; load_timeline_release() frees it. -ENOMEM. */
int load_timeline_begin(struct load *r);
void load_timeline_release(struct load *r);

/* Reads one entry of it: points and marks. Damage becomes a note. -ENOMEM. */
int load_timeline(struct load *r, const void *bytes, size_t len);

/*
 * Moves the points to the session's processes. 1: some process of the time line
 * has no end state; 0: all have one; -ENOMEM.
 */
int load_timeline_points(struct load *r);

/*
 * Adds processes that have no end state, as the last rows of the time line
 * describe them: the recorder is running, or was killed. -ENOMEM.
 */
int load_timeline_unfinished(struct load *r);

#endif
