/* alarm.h - rules of seep watch: what happens when one is broken. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ALARM_H
#define SEEP_ALARM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "follow/engine/engine.h"
#include "follow/history/watch_rule.h"
#include "follow/history/service.h"

/*
 * A rule that is broken for long enough writes a snapshot of the process into
 * the folder of its service, says a line, and starts a command. At most once an
 * hour for each rule and service.
 */
struct alarm;

struct alarm_plan {
	const struct rule *rules;
	const char *const *texts; /* as the user wrote them */
	size_t count;
	/*
	 * Started without a shell, as the one word of its command line, with
	 * SEEP_RULE, SEEP_PID, SEEP_SERVICE, SEEP_VALUE and SEEP_SNAPSHOT in
	 * its environment. One at a time, others wait; killed, with its process
	 * group, after 30 s. NULL: none.
	 */
	const char *command;
	void (*say)(void *context, const char *text);
	void *context;
};

/* -ENOMEM. */
int alarm_new(const struct alarm_plan *plan, struct alarm **ret);
void alarm_free(struct alarm *a); /* NULL is fine; kills the command */

/* A look at a process, at this time of CLOCK_MONOTONIC. -ENOMEM. */
int alarm_look(struct alarm *a, const struct live_process *p, const struct segfile *f, int slot,
    struct service *s, uint64_t now_ns);

/* After all processes were looked at: forgets those that are gone. */
void alarm_looked(struct alarm *a);

/* Starts the next command, or ends one that takes too long. */
void alarm_step(struct alarm *a, uint64_t now_ns);

/* Is it the command that runs? Then it is done. */
void alarm_reap(struct alarm *a);

#endif
