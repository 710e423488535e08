/* session_log.h - a session and the event logs of its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SESSION_LOG_H
#define SEEP_SESSION_LOG_H

#include "base/std.h"
#include "kit/os/fault.h"
#include "recording/log/logcode.h"
#include "session/events/events.h"
#include "session/events/flightread.h"
#include "session/load/session.h"

/*
 * Times of all logs begin with the start of the first process, as in seep dump.
 * CLOCK_MONOTONIC.
 */
uint64_t session_log_base_ns(const struct session *s);

/* From then to the last that is known of any process. */
uint64_t session_log_until_ms(const struct session *s);

/* That start, since 1970; 0: not known. */
uint64_t session_log_start_ns(const struct session *s);

/* The number of a site by its id in the log. False: the process has none. */
bool session_log_site(const struct process *p, uint32_t id, size_t *ret_number);

/* What does not fit. */
struct session_log_doubts {
	size_t without_log;   /* processes that are left out */
	uint32_t without_pid; /* one of them */
	/* of a log that its process, which runs no more, does not have */
	uint64_t sites;
	/* processes of which a log has more events than were counted */
	size_t exceeding;
	uint32_t exceeding_pid;
};

/* Fills process.log of all processes: how much their logs lack. `e` has read all. */
void session_log_losses(struct session *s, const struct events *e);

/*
 * Sets all processes back to what lived at_ms after session_log_base_ns().
 * `e` has read the logs with events_cut() at this time, and has counted sites.
 * Processes that began later go, and so do those without a log. One that had
 * ended is as it was at its end. What only the end has goes: see
 * session_moment_set_back(). Ages and sizes are those of the blocks that lived.
 * `is_of_pools`: the logs are not from a recording, so somebody else may have taken
 * events out of them, also earlier ones. -ENOMEM.
 */
int session_log_set_back(struct session *s, const struct events *e, uint64_t at_ms,
    bool is_of_pools, struct session_log_doubts *ret);

/* ---- eventlogs: all event logs of an input, entry by entry ---- */

/* A result other than 0 ends the reading. */
typedef int eventlogs_each(void *context, const struct logcode *c);

/* Entries of a recording that have an index need not be read. */
enum eventlogs_way {
	EVENTLOGS_READ,
	EVENTLOGS_SKIP, /* `skip` gets its index instead */
	EVENTLOGS_DROP, /* nothing of it is wanted */
};

struct eventlogs_wish {
	eventlogs_each *each;
	/* both NULL: everything is read */
	enum eventlogs_way (*choose)(void *context, const struct logindex *x);
	int (*skip)(void *context, const struct logindex *x);
	void *context;
};

struct eventlogs_result {
	bool is_damaged;                 /* a part cannot be read */
	bool is_index_wrong;             /* an index differs from its entry: is_damaged */
	bool is_of_pools;                /* somebody else may have read parts before */
	uint64_t read, skipped, dropped; /* entries */
};

/*
 * The logs of a recording, of a segment file with its slots, or of a directory
 * of segments (pid 0); of a running process (path NULL); or of the last process
 * that had this pid, which has ended and whose segment is in the directory
 * `path`. They are only looked at: nothing is taken out of a pool. Returns the
 * number of logs, of a recording that of its entries; or the result of `each`,
 * or a negative errno.
 */
int eventlogs_read(const char *path, pid_t pid, const struct eventlogs_wish *wish,
    struct eventlogs_result *ret, struct fault *where);

/* ---- flights: the flight recorders of an input, ring by ring ---- */

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
