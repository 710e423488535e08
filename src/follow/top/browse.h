/* browse.h - top on a terminal: pages of processes, sites and one stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BROWSE_H
#define SEEP_BROWSE_H

#include "follow/engine/engine.h"
#include "follow/top/fields.h"

/* Done in a child; what it prints is shown. Returns an exit status. */
struct browse_actions {
	int (*snapshot)(pid_t pid);
	int (*turn)(pid_t pid, bool on);
};

struct browse_plan {
	uint64_t interval_ns;
	struct fields_order order;
	struct namer_filter filter;
	const struct names_options *naming;
	struct browse_actions actions;
	bool colour, utf8;
	const char *notice; /* shown at first; NULL: nothing */
};

/* Intervals: what + and - choose from, and what --interval is at least. */
#define BROWSE_LEAST_NS UINT64_C(100000000)

/*
 * Until the user leaves. Errors as of screen_open(), or -ENOMEM; the terminal
 * is as it was before.
 */
int browse_run(struct live *l, const struct browse_plan *plan);

/* The keys and what they do, for the help and for tests; NULL ends them. */
struct browse_key {
	const char *key, *meaning;
};
extern const struct browse_key browse_keys[];

#endif
