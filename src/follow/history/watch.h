/* watch.h - keeps a history of all processes that are traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WATCH_H
#define SEEP_WATCH_H

#include "base/std.h"
#include "follow/engine/guest.h"
#include "follow/history/store.h"
#include "follow/history/watch_rule.h"
#include "kit/os/fault.h"
#include "names/find/names.h"

enum { WATCH_GUESTS = 2 };

struct watch_plan {
	struct store_plan store;
	/* NULL at the end; NULL itself: SEEP_DIR, or all that we may see */
	const char *const *directories;
	const pid_t *pids; /* only these; NULL: all */
	size_t pid_count;
	bool once; /* one round, then the end */
	struct names_options naming;
	const struct rule *rules;
	const char *const *rule_texts;
	size_t rule_count;
	const char *command; /* for a rule that is broken; NULL: none */
	/* A line for the user, without its end; safe to print. */
	void (*say)(void *context, const char *text);
	void *context;
	/* who takes part in its looks; ended by watch_run() */
	struct guest guests[WATCH_GUESTS];
	size_t guest_count;
};

/*
 * Opens the history and runs until SIGTERM, SIGINT or SIGHUP; then finishes all
 * chapters. Takes over these signals and SIGCHLD. Negative errno, with words;
 * 0 at the end. Errors of writing do not end it: they are said, and tried
 * again.
 */
int watch_run(const struct watch_plan *plan, struct fault *where);

/* ---- notify: tells the service manager how we are: the protocol of sd_notify ---- */

/*
 * Sends lines like "READY=1" in one datagram to NOTIFY_SOCKET. Without a
 * service manager nothing happens, and a failure is none of ours.
 */
void notify_send(const char *lines);

/* Between two signs of life that the service manager wants; 0: none. */
uint64_t notify_watchdog_ns(void);

#endif
