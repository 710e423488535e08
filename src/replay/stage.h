/* stage.h - the performer: its memory, its work, its answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_STAGE_H
#define SEEP_STAGE_H

#include "base/std.h"

#include <pthread.h>
#include <stdatomic.h>

#include "replay/script.h"

/*
 * The performer calls the allocator for the operations of the script alone. All
 * that it needs itself comes from mmap() and is touched at the start, so that
 * it is a constant in the resident memory.
 */
struct stage;

struct stage_carrier {
	struct stage *stage;
	pthread_t thread;
	bool is_started; /* and not joined */
	uint64_t at;     /* where its words begin in the script, in words */
	uint32_t window; /* UINT32_MAX: in none */
	char *stack;
	uint64_t words[SCRIPT_CHUNK_WORDS];
};

struct stage_window {
	uint32_t threads;      /* that have words in it */
	_Atomic uint32_t left; /* that have left it */
};

struct stage {
	int script; /* descriptor */
	struct script_head head;
	_Atomic uint64_t *slots; /* turn 16 bits, address 48 */
	struct stage_window *windows;
	struct stage_carrier *carriers;
	size_t stack_bytes;
	_Atomic uint32_t open_window; /* all windows before it were left */
	_Atomic uint32_t waiting;     /* threads that wait for a window */
	_Atomic uint64_t refused;     /* allocations that returned NULL */
	uint64_t start_ns;            /* CLOCK_MONOTONIC */
};

/* -errno; -EBADMSG: this is no script. */
int stage_build(struct stage *s, int script);

/* All of it from the script, at this byte. -errno, -EBADMSG. */
int stage_read(const struct stage *s, void *to, size_t bytes, uint64_t at);

/* ---- perform: performs the words of a script, thread by thread ---- */

/*
 * Performs all of it: the main thread's words here, those of others in threads
 * that they start, and joins them. If something fails, the process ends by
 * result_failed().
 */
void perform_all(struct stage *s);

/* ---- result: reports to the command, and ends the performer ---- */

/* Where results go: a descriptor. */
void result_to(int fd);

_Noreturn void result_send(struct script_result *r);

/* For a negative errno; any thread may call it. */
_Noreturn void result_failed(int err);

#endif
