/* session_log.h - a session and the event logs of its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SESSION_LOG_H
#define SEEP_SESSION_LOG_H

#include "session/events/events.h"
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

#endif
