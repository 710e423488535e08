/* push_state.h - how pushing goes, for who wants to show it: /metrics. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PUSH_STATE_H
#define SEEP_PUSH_STATE_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * Profiles are pushed by a process of its own, so this is in memory that both
 * share. Each number is one word, written by that process alone; a reader gets
 * each of them whole, but not all of one moment. All zero: nothing has happened
 * yet.
 */
struct push_state {
	_Atomic uint64_t last_success_ns; /* since 1970; 0: none yet */
	_Atomic uint64_t last_attempt_ns;
	_Atomic uint64_t pushes;     /* profiles that the server accepted */
	_Atomic uint64_t failures;   /* requests that were not accepted */
	_Atomic uint64_t sent_bytes; /* of accepted requests */
	/* of sums and stacks that are kept until a server accepts them */
	_Atomic uint64_t waiting_bytes;
	/* what went to "(other)" because there was no room for its stack */
	_Atomic uint64_t merged_stacks;
	/* processes that ended and could not be read any more: their last
	 * allocations are in no sum */
	_Atomic uint64_t dropped_processes;
	/*
	 * profiles whose answer never came: the server may have taken them, and
	 * may then count their sums twice
	 */
	_Atomic uint64_t uncertain;
	_Atomic uint64_t restarts; /* of the process that pushes */
	_Atomic uint32_t status;   /* of the last answer of HTTP; 0: none came */
	_Atomic uint32_t services; /* at the last reading */
};

#define PUSH_STATE_ADD(state, field, n) \
	atomic_fetch_add_explicit(&(state)->field, (n), memory_order_relaxed)
#define PUSH_STATE_SET(state, field, n) \
	atomic_store_explicit(&(state)->field, (n), memory_order_relaxed)
#define PUSH_STATE_GET(state, field) atomic_load_explicit(&(state)->field, memory_order_relaxed)

#endif
