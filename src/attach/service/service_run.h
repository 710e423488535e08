/* service_run.h - what the parts of seep service share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVICE_RUN_H
#define SEEP_SERVICE_RUN_H

#include "base/std.h"
#include "attach/service/dropin.h"
#include "attach/service/unit_file.h"
#include "attach/service/unit.h"
#include "session/process/process.h"

enum service_format { SERVICE_TEXT, SERVICE_JSON };

struct service_options {
	bool is_user, is_runtime, is_dormant, is_dry, restarts, no_deepbind;
	const char *only;
	uint64_t sample_bytes;
	unsigned depth;
	int format; /* enum service_format, of status */
};

/* A unit, and the place of our drop-in for it. */
struct service_run {
	struct service_options options;
	struct unit unit;
	char path[PATH_MAX];
};

/* For messages: "systemctl --user restart". */
static inline const char *service_run_scope(const struct service_run *r)
{
	return r->options.is_user ? " --user" : "";
}

/* Prints what is known of it, in lines of so many columns (0: no limit). -ENOMEM. */
int service_status(const struct service_run *r, unsigned columns);

/* ---- service_seen: what seep service status has found out about a unit ---- */

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
