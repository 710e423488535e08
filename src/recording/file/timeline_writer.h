/* timeline_writer.h - gathers items of the time line and writes them as entries. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TIMELINE_WRITER_H
#define SEEP_TIMELINE_WRITER_H

#include <sys/types.h>

#include "recording/file/recording.h"
#include "recording/file/codec.h"

/* The caller sets writer and start_ns; everything else is zero. */
struct timeline_writer {
	struct recording_writer *writer;
	uint64_t start_ns;      /* CLOCK_MONOTONIC: zero of the time line */
	struct codec_out out;   /* items not written yet; others may add */
	uint64_t time_us;       /* the last one put */
	bool has_time;          /* since the last flush */
	uint64_t written_bytes; /* of entries, as stored */
};

/* Times never decrease: an earlier time is replaced by the last one. */
void timeline_writer_time(struct timeline_writer *s, uint64_t monotonic_ns);

/* If the label is a path, its last part is written; at most 63 bytes. */
void timeline_writer_mark(
    struct timeline_writer *s, enum codec_mark kind, pid_t pid, const char *label);

/*
 * Writes the gathered items, in entries of bounded size that each begin with a
 * time. -ENOMEM, or as of the writer.
 */
int timeline_writer_flush(struct timeline_writer *s);

/* Drops the gathered items, because the time line has ended. */
void timeline_writer_drop(struct timeline_writer *s);

void timeline_writer_release(struct timeline_writer *s);

#endif
