/* threads.h - the threads of a process: stack pointers, registers, a stop. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_THREADS_H
#define SEEP_THREADS_H

#include "base/std.h"
#include "kit/os/fault.h"

struct threads {
	uint64_t *pointers; /* stack pointers of those that do not run */
	size_t count, room;
	uint64_t *words; /* what is in registers, as far as it is known */
	size_t word_count, word_room;
	size_t running;   /* their stack pointers are not known */
	size_t not_asked; /* beyond a bound, or we may not */
};

/*
 * By /proc/PID/task/TID/syscall, which stops nobody: of a thread that waits in
 * the kernel it has the stack pointer and six registers. -ENOMEM, -ESRCH; where
 * we may not ask, threads count as running.
 */
int threads_read(pid_t pid, struct threads *ret);
void threads_release(struct threads *t);

/* One file of them; false: it runs, or the text makes no sense. */
bool threads_parse(
    const char *text, uint64_t *ret_pointer, uint64_t ret_words[6], size_t *ret_count);

/*
 * All threads stopped, with all their registers in `threads`. They go on at
 * threads_resume(), or when this process ends, however it does.
 */
struct threads_stopped {
	pid_t tid;
	int signal; /* that it was about to get, 0: none */
};

struct threads_stop {
	struct threads_stopped *stopped;
	size_t count, room;
	struct threads threads;
	uint64_t since_ns; /* CLOCK_MONOTONIC, of the first */
};

/*
 * -EPERM: we may not, or another one traces it (see `where`); -ESRCH; -ENOMEM;
 * -ETIMEDOUT: threads do not stop, or new ones come faster than they are.
 * After a failure nobody is stopped.
 */
int threads_halt(pid_t pid, struct threads_stop *ret, struct fault *where);

/* Returns how long they were stopped, in ns. */
uint64_t threads_resume(struct threads_stop *s);

/* ---- halt: a stop of all threads that does not wait for the process for ever ---- */

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
