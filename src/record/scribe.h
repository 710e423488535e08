/* scribe.h - gathers items of the time line and writes them as entries. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_SCRIBE_H
#define SEEP_RECORD_SCRIBE_H

#include <sys/types.h>

#include "trace/bundle.h"
#include "trace/line.h"

/* The caller sets writer and start_ns, all else is zero. */
struct scribe {
	struct bundle_writer *writer;
	uint64_t start_ns;      /* CLOCK_MONOTONIC: zero of the time line */
	struct line_out out;    /* items not written yet; others may add */
	uint64_t time_us;       /* the last one put */
	bool has_time;          /* since the last flush */
	uint64_t written_bytes; /* of entries, as stored */
};

/* Times never fall: an earlier one is the last once more. */
void scribe_time(struct scribe *s, uint64_t monotonic_ns);

/* Of a path the last part is the label, cut at 63 bytes. */
void scribe_mark(
    struct scribe *s, enum line_mark kind, pid_t pid, const char *label);

/*
 * Writes what was gathered, in entries of bounded size that each begin with a
 * time. -ENOMEM, or as of the writer.
 */
int scribe_flush(struct scribe *s);

/* Forgets what was gathered: the time line has ended. */
void scribe_drop(struct scribe *s);

void scribe_release(struct scribe *s);

#endif
