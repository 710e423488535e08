/* halt.h - a stop of all threads that does not wait for the process for ever. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HALT_H
#define SEEP_HALT_H

#include "host/memory/threads.h"

/*
 * PTRACE_SEIZE waits for a process that calls exec, and exec may wait for a file
 * system that never answers. Nothing but SIGKILL ends that wait. So a thread of
 * ours does it, and is left alone if it takes too long; when the wait ends
 * after all, it lets the process go at once.
 */
struct halt;

/*
 * Errors as of threads_halt(). The threads that are stopped, and their
 * registers, are halt_stop() until halt_end().
 */
int halt_begin(pid_t pid, struct halt **ret, struct fault *where);
const struct threads_stop *halt_stop(const struct halt *h);

/* They go on. Returns how long they were stopped, in ns. */
uint64_t halt_end(struct halt *h);

#endif
