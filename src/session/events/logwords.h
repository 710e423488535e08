/* logwords.h - the events in the words of a log, one after the other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGWORDS_H
#define SEEP_LOGWORDS_H

#include "session/events/events.h"

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

#endif
