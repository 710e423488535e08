/* serve.h - answers about the processes that are traced now, by HTTP. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVE_H
#define SEEP_SERVE_H

#include "base/std.h"
#include "follow/engine/guest.h"
#include "names/find/names.h"
#include "follow/serve/metrics.h"
#include "view/sites/view.h"
#include "kit/os/descriptor.h"

/* How `seep ls` writes its JSON: to stdout, in a child process. */
struct serve_list {
	void (*begin)(void);
	void (*process)(const struct process *p, const struct source *file, const char *folder,
	    const char *name);
	void (*end)(void);
};

/* Kept by the caller as long as the server runs. */
struct serve_plan {
	struct address address;
	const char *token_file;   /* NULL: anybody who can connect may ask */
	const char *const *hosts; /* names in addition: see http_plan.hosts */
	size_t host_count;
	bool per_process; /* metrics by process, too */
	unsigned top;     /* sites of a service in the metrics */
	struct names_options naming;
	struct view_options view; /* filters and suppressions */
	const char *version;      /* ours */
	const struct serve_list *list;
	/* more for /metrics: the state of others in the same process */
	const struct metrics_source *sources;
	size_t source_count;
	/* A line for the user, without its end; safe to print. */
	void (*say)(void *context, const char *text);
	void *context;

	/* for serve_run() alone, as in struct engine_plan */
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
int serve_guest(const struct serve_plan *plan, struct guest *ret, struct fault *where);

#endif
