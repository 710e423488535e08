/* clerk.h - child processes that write profiles, pages and reports. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLERK_H
#define SEEP_CLERK_H

#include "base/std.h"
#include "follow/serve/serve.h"
#include "follow/serve/metrics.h"

/*
 * Stacks and names take from milliseconds to minutes. So that nobody else waits,
 * and nothing that a process claims about itself can harm the server, each such
 * reply is written by a forked child, which ends with it: it has all that the
 * server knows (descriptors of segments, too), and its memory goes with it.
 */
enum {
	CLERK_BUSY = 4, /* children at the same time, so that others can work */
	CLERK_SLOW = 8, /* and so many that wait for time to pass */
	/* with those that wait for their turn: half of all connections */
	CLERK_JOBS = 32,
	CLERK_SECONDS = 90, /* for one child, beside that time */
};

struct clerks;

struct clerk_job {
	/*
	 * In the child: writes the reply. 0; or negative errno, and then what
	 * was written is a line for the user.
	 */
	int (*write)(void *task, FILE *out);
	/*
	 * The reply is there: a file of `bytes` bytes, which is the callee's, or
	 * negative errno with a line in it; fd -1: the child died or was late.
	 */
	void (*done)(const struct clerk_job *job, int err, int fd, uint64_t bytes);
	void *context;
	void *task;      /* for write(), in the child alone */
	int kind;        /* the caller's own */
	void *owner;     /* for clerks_cancel() */
	unsigned wait_s; /* that it waits for time to pass */
};

/* -ENOMEM, -EMFILE. */
int clerks_new(struct clerks **ret);

/* Kills all children. NULL is fine. */
void clerks_free(struct clerks *c);

/* Readable when clerks_step() has something to do. */
int clerks_fd(const struct clerks *c);
void clerks_step(struct clerks *c);

/* At most so long until clerks_step(), in ms; -1: any time. */
int clerks_wait_ms(const struct clerks *c);

/*
 * A child at once, or when others have ended. -EBUSY: there are too many; or why
 * there is no child. The task then stays the caller's.
 */
int clerks_start(struct clerks *c, const struct clerk_job *job);

/* Nobody wants the reply any more: kills the child; done() is not called. */
void clerks_cancel(struct clerks *c, const void *owner);

/* Jobs so far, and those that failed. */
uint64_t clerks_jobs(const struct clerks *c, uint64_t *ret_failed);

/* ---- task: what a child process of the server writes ---- */

enum task_kind {
	TASK_HEAP,   /* a profile for pprof, which shows live bytes at first */
	TASK_ALLOCS, /* the same, which shows allocated bytes at first */
	TASK_PAGE,   /* the page of seep view */
	TASK_DATA,   /* new data for it */
	TASK_REPORT, /* the JSON of seep report */
	TASK_LIST,   /* the JSON of seep ls */
	TASK_SITES,  /* metrics of the sites that hold most, of all services */
};

struct task {
	enum task_kind kind;
	const struct serve_plan *plan;
	struct engine *live;
	const struct services *services;
	char service[FOLDER_NAME_BYTES]; /* "": any */
	pid_t pid;                       /* 0: any */
	unsigned seconds;                /* a difference: between two readings; 0: none */
};

/*
 * For clerk_job.write: writes it to `out`. If that fails, a line of words is
 * there instead. -ESRCH: none of its processes can be read.
 */
int task_write(void *task, FILE *out);

/* How many processes does it concern? */
size_t task_count(const struct task *t);

#endif
