/* compose.h - makes the script of a replay out of an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COMPOSE_H
#define SEEP_COMPOSE_H

#include "base/std.h"
#include "kit/data/dict.h"
#include "replay/script.h"
#include "session/events/events.h"
#include "session/process/process.h"

/* ---- log_threads: the processes and threads of a log, and where their events end ---- */

struct log_threads_thread {
	uint32_t number, tid;
	uint64_t last; /* number of its last event in the process, from 1 */
};

/* At most one thread for each event that was counted. */
struct log_threads_process {
	uint8_t uuid[16];
	uint32_t pid;
	uint64_t events; /* allocations, frees and reallocs */
	struct log_threads_thread *threads;
	size_t count, room;
	struct dict by_number;
};

struct log_threads {
	uint64_t events_max; /* of each process */
	struct log_threads_process *processes;
	size_t count, room;
};

/* Counts an event, for events_new(): `context` is a struct log_threads. -ENOMEM. */
int log_threads_count(void *context, const struct events_event *e);

/* Is it an allocation, a free or a realloc? */
bool log_threads_is_event(const struct events_event *e);

/* The thread of this number; NULL: it has no event. */
const struct log_threads_thread *log_threads_find(
    const struct log_threads_process *p, uint32_t number);

/* The number of the first thread of the process, by its tid if that is known. */
uint32_t log_threads_main(const struct log_threads_process *p);

/* The process of this pid (0: any) with the most events; NULL: there is none. */
const struct log_threads_process *log_threads_most(const struct log_threads *t, uint32_t pid);

void log_threads_release(struct log_threads *t);

/* ---- compose: makes the script of a replay out of an event log ---- */

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

/* ---- replay_slots: which slots of a script are free, and whose turn it is in each ---- */

enum { SLOTS_KEPT = 256 };

/* Slots that a carrier has freed, for its next allocations. */
struct slots_kept {
	uint32_t at[SLOTS_KEPT];
	uint32_t count;
};

struct slots {
	uint16_t *turns; /* by slot */
	size_t count, room;
	uint32_t *queue; /* freed by any carrier, the oldest first: a ring */
	size_t first, waiting, queue_room;
};

/*
 * A slot for a block: one that the carrier itself has freed, one that another
 * has freed long ago, or a new one. So hardly any allocation waits for a free
 * that it did not wait for in the program. -ENOMEM, also if there are too many.
 */
int replay_slots_take(struct slots *s, struct slots_kept *own, uint32_t *ret);

/* -ENOMEM */
int replay_slots_give(struct slots *s, struct slots_kept *own, uint32_t slot);

/* The count at which it is the next word's turn; the next call: one more. */
uint16_t replay_slots_turn(struct slots *s, uint32_t slot);

void replay_slots_release(struct slots *s);

#endif
