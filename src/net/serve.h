/* serve.h - answers about the processes that are traced now, by HTTP. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NET_SERVE_H
#define SEEP_NET_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "live/guest.h"
#include "names/names.h"
#include "util/address.h"

/* Kept by the caller as long as the server runs. */
struct serve_plan {
	struct address address;
	const char *token_file;   /* NULL: anybody who can connect may ask */
	const char *const *hosts; /* names in addition: see http_plan.hosts */
	size_t host_count;
	bool per_process; /* metrics by process, too */
	unsigned top;     /* sites of a service in the metrics */
	struct names_options naming;
	const char *version; /* ours */
	/*
	 * Writes the JSON of `seep ls` to stdout, in a child process. NULL:
	 * there is no such page.
	 */
	int (*list)(void);
	/* A line for the user, without its end; safe to print. */
	void (*say)(void *context, const char *text);
	void *context;

	/* for serve_run() alone, as in struct live_plan */
	const char *const *directories;
	const pid_t *pids;
	size_t pid_count;
};

/*
 * Listens and runs until SIGTERM, SIGINT or SIGHUP, which it takes over.
 * Negative errno, with words; 0 at the end.
 */
int serve_run(const struct serve_plan *plan, struct fault *where);

/*
 * Listens, as a guest of another loop, which has its own engine and ends it by
 * guest.end(). Negative errno, with words.
 */
int serve_guest(
    const struct serve_plan *plan, struct guest *ret, struct fault *where);

#endif
