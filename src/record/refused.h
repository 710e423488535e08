/* refused.h - programs of a recording that found no place for a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_REFUSED_H
#define SEEP_RECORD_REFUSED_H

#include <stdbool.h>
#include <stddef.h>

#include "record/segment_dir.h"
#include "trace/recording.h"

/*
 * Reads what they have left in SEG_REFUSED_NAME beside the segments, and writes
 * into the recording who is missing, and why: the first few by name, then how
 * many more. *ret_count is the number of programs, *ret_more whether there may
 * be others, for whose lines there was no room, *ret_why the reason of the last.
 * Errors stick in the writer. w may be NULL: then it only counts.
 */
void refused_tell(const struct segment_dir *s, struct recording_writer *w,
    size_t *ret_count, bool *ret_more, const char **ret_why);

/* Our lines have been told: the file goes if it has no others. */
void refused_forget(const struct segment_dir *s);

#endif
