/* watch_rule.h - rules of seep watch: what they mean, and what happens when one is broken. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WATCH_RULE_H
#define SEEP_WATCH_RULE_H

#include "base/std.h"
#include "follow/engine/engine.h"
#include "follow/history/service.h"

/*
 * live > SIZE               live bytes of a process
 * growth > SIZE/TIME        what these grew by in the last TIME
 * room < SIZE, room < N%    what its memory cgroup or RLIMIT_AS leaves it
 * ... for TIME              at every look during TIME
 * ... in PATTERN            only in services whose name matches; * and ? as
 *                           in a shell
 *
 * Pure logic: no clock is read and nothing is looked at; times are those of the
 * caller, of one clock that does not go back.
 */
enum {
	RULE_PATTERN_BYTES = 256, /* with the zero */
	RULE_SAMPLES = 66,        /* of live bytes, over the TIME of growth */
	RULE_VALUE_BYTES = 48,
};

#define RULE_PAUSE_NS (UINT64_C(3600) * 1000000000)

enum rule_metric { RULE_LIVE, RULE_GROWTH, RULE_ROOM };

struct rule {
	enum rule_metric metric;
	uint64_t bytes; /* the limit; 0 with percent */
	double percent; /* RULE_ROOM: the limit, if has_percent */
	bool has_percent;
	uint64_t window_ns;               /* RULE_GROWTH */
	uint64_t for_ns;                  /* 0: one look is enough */
	char pattern[RULE_PATTERN_BYTES]; /* "": every service */
};

/* What is wrong, and where: the first character has the number 1. */
struct rule_fault {
	size_t column;
	const char *words;
};

/* If the text is no rule, false and *ret_fault. */
bool watch_rule_parse(const char *text, struct rule *ret, struct rule_fault *ret_fault);

bool watch_rule_is_for(const struct rule *r, const char *service);

/* One look at a process. */
struct rule_look {
	uint64_t at_ns;
	uint64_t live_bytes;
	uint64_t limit_bytes; /* of its cgroup or RLIMIT_AS; 0: none */
	uint64_t used_bytes;  /* of that */
};

/* One rule for one process; all zero before its first look. */
struct rule_watch {
	struct rule_sample {
		uint64_t at_ns, live_bytes;
	} samples[RULE_SAMPLES]; /* RULE_GROWTH alone: a ring */
	size_t sample_count;     /* ever taken */
	uint64_t since_ns;       /* the limit is passed since then */
	bool is_passed;
	double value; /* of the last look: bytes, or percent */
};

/*
 * Is the rule broken, and has it been for long enough? A growth is known when
 * the process has been looked at for the rule's TIME, so a start is no growth.
 */
bool watch_rule_look(const struct rule *r, struct rule_watch *w, const struct rule_look *look);

/* The value of the last look, as "2.1 GiB", "64.0 MiB" or "8.5%". */
const char *watch_rule_value(
    const struct rule *r, const struct rule_watch *w, char text[RULE_VALUE_BYTES]);

/* Who was told of what. All zero at first. */
struct rule_limiter {
	struct rule_told *told;
	size_t count, room;
};

/*
 * May this rule, by its number, be told of this service now? At most once an
 * hour (RULE_PAUSE_NS). 1: yes, which is noted; 0: no; -ENOMEM: no, and there
 * is no room for more names of services.
 */
int watch_rule_limiter_take(
    struct rule_limiter *l, size_t rule, const char *service, uint64_t now_ns);
void watch_rule_limiter_release(struct rule_limiter *l);

/* ---- alarm: rules of seep watch: what happens when one is broken ---- */

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
int alarm_look(struct alarm *a, const struct engine_process *p, const struct segfile *f, int slot,
    struct service *s, uint64_t now_ns);

/* After all processes were looked at: forgets those that are gone. */
void alarm_looked(struct alarm *a);

/* Starts the next command, or ends one that takes too long. */
void alarm_step(struct alarm *a, uint64_t now_ns);

/* Is it the command that runs? Then it is done. */
void alarm_reap(struct alarm *a);

#endif
