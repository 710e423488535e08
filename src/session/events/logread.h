/* logread.h - reads the event log of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGREAD_H
#define SEEP_LOGREAD_H

#include "base/std.h"
#include "recording/log/logcode.h"
#include "session/events/events.h"

/*
 * The log file is untrusted. Whatever is in it, at most its chunks are in
 * memory, and reading ends.
 */
struct logread;

/*
 * Opens the pool `pool` of the log file beside the segment `name`, which must
 * belong to the process with this uuid. A reader that `drains` holds a lock and
 * returns the chunks that it has read: -EBUSY if there is another one. -ENOENT:
 * there is no log; -ESTALE: it belongs to another process; -EBADMSG: damaged;
 * -ENOTSUP: another version.
 */
int logread_open(int dir, const char *name, uint32_t pool, const uint8_t uuid[16], bool drains,
    struct logread **ret);
void logread_close(struct logread *r); /* NULL is fine */

/*
 * What is new since the last call. Every free comes after its allocation. If the
 * process `is_over`, nothing is still being stored. Appends to ret, up to about half of
 * LOGCODE_WORDS_MAX. Nothing is appended: there is nothing new. Negative errno: it cannot be
 * read.
 */
int logread_take(struct logread *r, bool is_over, struct logcode *ret);

/* The file is shorter than its pool, so something may be missing. */
bool logread_is_cut(const struct logread *r);

/* What logread_take() gave is safe: the chunks go back to the process. */
void logread_done(struct logread *r);

/* ---- logwords: the events in the words of a log, one after the other ---- */

/*
 * An event as its words have it: a free has the name of its block and no site.
 * A result other than 0 ends the reading.
 */
typedef int logwords_each(void *context, struct events_event *e);

/*
 * All events of an entry, in their order. Words that make no sense are skipped
 * and added to *strange. Returns the result of `each`.
 */
int logwords_read(const struct logcode *c, logwords_each *each, void *context, uint64_t *strange);

/* ---- logindex_build: makes the index of an entry of an event log ---- */

/*
 * The head, without `bytes` and `crc`, and the bytes behind it, for free().
 * 1: there is an index; 0: it would not be much smaller than the entry, or words of
 * the entry contradict each other; -ENOMEM.
 */
int logindex_build(
    const struct logcode *c, struct logindex_head *ret, unsigned char **ret_bytes, size_t *ret_len);

#endif
