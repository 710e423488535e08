/* refused.h - programs of a recording that had no room for a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REFUSED_H
#define SEEP_REFUSED_H

#include <stdbool.h>
#include <stddef.h>

#include "segments/find/segment_dir.h"
#include "recording/file/recording.h"

/*
 * Reads the lines that such programs left in SEG_REFUSED_NAME beside the
 * segments, and writes into the recording which programs are missing, and why:
 * the first few by name, then how many more. *ret_count is the number of
 * programs, *ret_more whether there may be others for whose lines there was no
 * room, *ret_why the reason of the last. Errors stay in the writer. If w is
 * NULL, it only counts.
 */
void refused_report(const struct segment_dir *s, struct recording_writer *w, size_t *ret_count,
    bool *ret_more, const char **ret_why);

/*
 * What the file in a directory says, whatever the session: how many programs,
 * and the last of them. Names are theirs, and not escaped.
 */
enum { REFUSED_NAME_BYTES = 64 };
struct refused_last {
	char name[REFUSED_NAME_BYTES];
	pid_t pid;
	const char *why;
	uint64_t at_ns;   /* when its line was written, since 1970 */
	bool is_more;     /* there may be others: the file is full */
	bool is_recorded; /* a recorder that lives will report some of them */
};
size_t refused_look(int dir_fd, struct refused_last *ret);

/*
 * Removes the file if all its lines are ours, because these have been reported.
 */
void refused_forget(const struct segment_dir *s);

#endif
