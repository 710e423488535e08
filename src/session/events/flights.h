/* flights.h - the flight recorders of an input, ring by ring. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FLIGHTS_H
#define SEEP_FLIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "session/events/flightring.h"
#include "kit/os/fault.h"

/*
 * One ring of the process that `head` names by its uuid. Rings of a process
 * come by the number of their thread, the one of several threads last. A result
 * other than 0 ends the reading.
 */
typedef int flights_each(void *context, const struct log_head *head, const struct flightring *ring);

struct flights_found {
	uint64_t processes; /* that have a flight recorder */
	uint64_t strange;   /* entries that make no sense, left out */
	bool is_damaged;    /* a part cannot be read */
};

/*
 * Those of `path` or `pid`, as eventlogs_read() takes them. 0, or the result of
 * `each`, or a negative errno.
 */
int flights_read(const char *path, pid_t pid, flights_each *each, void *context,
    struct flights_found *ret, struct fault *where);

/*
 * An entry of a recording (RECORDING_FLIGHT): a head of a pool, then rings,
 * each with its head. -EBADMSG: it is none; or as above.
 */
int flights_read_entry(
    const void *bytes, size_t len, flights_each *each, void *context, struct flights_found *ret);

#endif
