/* logread.h - reads the event log of a process out of its pool. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGREAD_H
#define SEEP_LOGREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "recording/log/logcode.h"

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
 * process `is_over`, nothing is still being stored. Appends to ret, up to about half of LOGCODE_WORDS_MAX. Nothing is
 * appended: there is nothing new. Negative errno: it cannot be read.
 */
int logread_take(struct logread *r, bool is_over, struct logcode *ret);

/* The file is shorter than its pool, so something may be missing. */
bool logread_is_cut(const struct logread *r);

/* What logread_take() gave is safe: the chunks go back to the process. */
void logread_done(struct logread *r);

#endif
