/* history_scan.h - the processes of all services of a history. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HISTORY_SCAN_H
#define SEEP_HISTORY_SCAN_H

#include "session/load/session.h"

/* The newest end state that the history has of a process. */
struct history_item {
	const char *service;
	const char *folder;  /* HISTORY/SERVICE */
	const char *chapter; /* the name of the file */
	uint64_t stored_bytes;
	const struct process *process; /* figures, but no names */
};

struct history_scan {
	uint64_t until_ns; /* CLOCK_MONOTONIC: no chapter is opened after it */
	uint32_t pid;      /* only those that had this one; 0: all */
	uint64_t unread;   /* out: chapters that there was no time for */
	uint64_t damaged;  /* out: chapters that could not be read whole */
};

/*
 * Calls `each` for every process, service by service, the newest chapters
 * first; a folder of chapters is as a service without a name. Time lines are not read, so processes that run, or whose end was not
 * written, are not among them. Errors as of history_services(), -ENOMEM, or
 * what `each` returns if that is negative.
 */
typedef int history_each(void *context, const struct history_item *item);
int history_scan(const char *path, struct history_scan *q, history_each *each, void *context,
    struct fault *where);

/*
 * The last process with this pid in the history, with all that its service's
 * chapters have of it. *ret_folder is for free(). -ESRCH: there is none; or as
 * of history_services() and session_load().
 */
int history_scan_pid(
    const char *path, pid_t pid, struct session **ret, char **ret_folder, struct fault *where);

#endif
