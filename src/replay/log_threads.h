/* log_threads.h - the processes and threads of a log, and where their events end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOG_THREADS_H
#define SEEP_LOG_THREADS_H

#include "session/events/events.h"
#include "kit/data/dict.h"

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

#endif
