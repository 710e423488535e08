/* doctor.h - finds out before, and afterwards, why a program is not traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DOCTOR_H
#define SEEP_DOCTOR_H

#include "base/std.h"
#include "attach/service/unit.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_WARN, /* traced, but something is missing, or may be */
	DOCTOR_FAIL, /* not traced, or the program would not run */
};

/*
 * The result of one check. The texts are not escaped: parts of them come from
 * files and processes of others.
 */
struct doctor_finding {
	enum doctor_state state;
	char *group;  /* "host", "program", "process", "unit" */
	char *check;  /* one word, never renamed */
	char *text;   /* a sentence without a full stop */
	char *advice; /* what to do, or "" */
};

struct doctor_report {
	struct doctor_finding *list;
	size_t count, room;
	const char *group; /* of the next finding */
	bool is_cut;       /* out of memory, so something is missing */
	bool is_silent;    /* somebody did not answer: the rest is not known */
};

void doctor_release(struct doctor_report *r);

/* How many findings have this state? */
size_t doctor_count(const struct doctor_report *r, enum doctor_state state);

/* advice may be NULL. */
void doctor_add(struct doctor_report *r, enum doctor_state state, const char *check,
    const char *advice, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/*
 * Each of these looks in a process of its own, which is left behind if a file
 * system does not answer; then the report says so. They add findings and print
 * nothing.
 */

/* The machine, and the directories for segments. */
void doctor_host(struct doctor_report *r);

/*
 * The executable that a command runs. -ENOENT: no such command; -EACCES: it
 * cannot be executed.
 */
int doctor_command(struct doctor_report *r, const char *command);

/*
 * A process: its state, or why it is not traced. -ESRCH: there is none;
 * -EACCES: we may not look; -EBUSY: it does not answer; -ENODEV: there is no
 * /proc.
 */
int doctor_process(struct doctor_report *r, pid_t pid);

/*
 * Looks at the unit as it is now. What `seep service enable` cures is a warning.
 * If a check fails, the service would not be traced, or would not start, with the
 * collector preloaded.
 */
void doctor_unit(const struct unit *u, struct doctor_report *r);

/* Does its Environment= preload the collector already? */
bool doctor_unit_is_preloaded(const struct unit *u);

#endif
