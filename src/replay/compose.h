/* compose.h - makes the script of a replay out of an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COMPOSE_H
#define SEEP_COMPOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "session/events/events.h"
#include "session/process/process.h"
#include "replay/script.h"
#include "replay/log_threads.h"

struct compose_options {
	const struct log_threads_process *threads; /* whose events */
	const struct process *process;             /* its sites; NULL: all are malloc's */
	uint64_t events_max;
	/* a block beyond this, with 64 bytes for each block, is left out */
	uint64_t live_max;
	bool with_time; /* every event at its time */
};

/* What is in the script, and what is not. */
struct compose_facts {
	uint64_t allocations, frees, reallocs;
	uint64_t threads, at_once; /* of the log; carriers of the script */
	uint64_t sharing;          /* threads without a carrier of their own */
	uint64_t peak_bytes, peak_blocks, end_bytes, end_blocks; /* live */
	uint64_t ticks;       /* from the first event to the last one */
	uint64_t pause_ticks; /* the longest time without an event */
	uint64_t too_large;   /* allocations beyond live_max */
	uint64_t unknown;     /* frees of blocks that the log does not have */
	uint64_t inherited;   /* frees of blocks of the parent */
	uint64_t alignments;  /* allocations whose alignment is a guess */
	uint64_t lost;        /* events that are not in the log */
	uint64_t script_bytes;
};

/* Logs are untrusted; memory is bounded by their words. */
struct compose;

int compose_new(const struct compose_options *o, struct compose **ret);
void compose_free(struct compose *c); /* closes the file of the script, too */

/* For events_new(): `context` is a struct compose. -ENOMEM; -errno of writing. */
int compose_event(void *context, const struct events_event *e);

/*
 * Completes the script. *ret_fd is valid until compose_free(). -ENODATA: it has
 * no operation. -errno of writing.
 */
int compose_finish(struct compose *c, struct compose_facts *ret, int *ret_fd);

#endif
