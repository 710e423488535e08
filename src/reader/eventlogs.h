/* eventlogs.h - all event logs of an input, entry by entry. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_EVENTLOGS_H
#define SEEP_READER_EVENTLOGS_H

#include <stdbool.h>
#include <sys/types.h>

#include "trace/logcode.h"
#include "util/fault.h"

/* A result other than 0 ends the reading. */
typedef int eventlogs_each(void *context, const struct logcode *c);

/*
 * The logs of a recording, of a segment file with its slots, or of a directory
 * of segments. They are only looked at: nothing is taken out of a pool. Returns
 * the number of logs, of a recording that of its entries; or the result of
 * `each`, or a negative errno. *ret_damaged is set if a part cannot be read.
 */
int eventlogs_read(const char *path, eventlogs_each *each, void *context,
    bool *ret_damaged, struct fault *where);

/* The same for a running process. */
int eventlogs_read_pid(pid_t pid, eventlogs_each *each, void *context,
    bool *ret_damaged, struct fault *where);

#endif
