/* push.h - pushes profiles of all traced processes to a server, by service. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PUSH_H
#define SEEP_PUSH_H

#include "base/std.h"

#include <stdatomic.h>

#include "follow/engine/guest.h"
#include "follow/push/message.h"
#include "kit/os/fault.h"
#include "names/find/names.h"

/* ---- push_order: what a user has said about pushing, not yet checked ---- */

struct push_order {
	const char *url;
	const char *token_file, *tenant; /* NULL: none */
	const char *const *labels;       /* NAME=VALUE */
	size_t label_count;
	uint64_t every_ns;              /* 0: once */
	const char *const *directories; /* as in struct engine_plan */
	const pid_t *pids;
	size_t pid_count;
	struct names_options naming;
	const char *version; /* of seep */
	/* A line for the user, without its end; safe to print. */
	void (*say)(void *context, const char *text);
	void *context;
};

/* ---- push_state: how pushing goes, for who wants to show it: /metrics ---- */

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

/* ---- push: pushes profiles of all traced processes to a server, by service ---- */

/* How a request gets to the server. One is open at a time. */
struct push_transport {
	void *context;
	/*
	 * Begins to send; the bytes stay valid until done() or cancel().
	 * Negative errno, with words: for a token that cannot be read.
	 */
	int (*begin)(void *context, const uint8_t *bytes, size_t len, struct fault *where);
	/* Is there an answer, or will there never be one? Does not wait. */
	bool (*done)(void *context, struct answer *ret);
	void (*cancel)(void *context);
	/* Like poll(), and also until something happens here. */
	void (*wait)(void *context, struct pollfd *fds, size_t count, int most_ms);
};

/*
 * Somebody who removes segments tells whose they are, in shared memory: keys,
 * then `offered` rises. When all of them are read, `read` is what `offered` was.
 * Whatever the keys are, only segments that are there are read.
 */
struct push_offer {
	_Atomic uint64_t offered, read;
	_Atomic uint64_t steps; /* processes that were read: it goes on */
	_Atomic uint32_t count;
	struct live_key keys[GATHER_KEYS];
};

struct push_plan {
	/* NULL at the end; NULL itself: SEEP_DIR, or all that we may see */
	const char *const *directories;
	const pid_t *pids; /* only these; NULL: all */
	size_t pid_count;
	uint64_t every_ns;  /* 0: one push, then the end */
	const char *server; /* for messages; safe to print */
	const struct message_labels *labels;
	struct names_options naming;
	struct push_transport transport;
	struct push_state *state; /* kept up to date */
	/* NULL: nobody removes segments; else ask_fd is readable at an offer */
	struct push_offer *offer;
	int ask_fd;
	/* A line for the user, without its end; safe to print. */
	void (*say)(void *context, const char *text);
	void *context;
};

/*
 * With every_ns: until SIGTERM, SIGINT or SIGHUP, which are taken over; then one
 * last try of a few seconds. Only what processes allocate from the start of
 * this function on is pushed as alloc_*. Errors of the server are said and tried
 * again.
 *
 * Without: one try; alloc_* since the start of each process.
 *
 * Negative errno, with words. -ENODATA: once, and there is no such process;
 * -EREMOTEIO: once, and the server has not accepted all.
 */
int push_run(const struct push_plan *plan, struct fault *where);

#endif
