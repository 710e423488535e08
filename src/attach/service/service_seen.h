/* service_seen.h - what seep service status has found out about a unit. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVICE_SEEN_H
#define SEEP_SERVICE_SEEN_H

#include <sys/types.h>

#include "attach/service/service_run.h"
#include "session/process/process.h"
#include "attach/service/quoting.h"

enum service_trace {
	SERVICE_TRACED,
	SERVICE_QUIET,      /* traced, and has allocated nothing so far */
	SERVICE_INERT,      /* the collector is in it, and does nothing */
	SERVICE_LEFT_OUT,   /* by SEEP_ONLY */
	SERVICE_UNTRACED,   /* the collector is not in it */
	SERVICE_UNREADABLE, /* see `err` */
};

struct service_process {
	pid_t pid;
	char name[256]; /* of the program; untrusted */
	enum service_trace trace;
	int err; /* of SERVICE_UNREADABLE, negative */
	/* the rest of SERVICE_TRACED and SERVICE_INERT: */
	uint32_t mode, inert_reason;
	uint64_t start_realtime_ns, sample_bytes;
	struct process_figures totals;
};

/* All texts are untrusted. */
struct service_seen {
	unsigned columns; /* of the terminal; 0: no limit */
	enum dropin_state dropin;
	int dropin_err;     /* negative: it cannot be read */
	struct fault where; /* of a drop-in that is not ours */
	/* NAME=VALUE of LD_PRELOAD and SEEP_*, as systemd has them */
	struct quoting_words environment;
	bool has_processes; /* it is a unit that can run here */
	struct service_process *list;
	size_t count, room;
	size_t running, traced; /* processes */
	bool is_cut;            /* there are more than were looked at */
	struct process_figures all;
	struct quoting_words history; /* inputs of seep report */
};

/* Writes it as JSON to stdout. */
void service_json(const struct service_run *r, const struct service_seen *s);

#endif
