/* task.h - what a child process of the server writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TASK_H
#define SEEP_TASK_H

#include "follow/serve/serve.h"
#include "follow/serve/services.h"

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
	struct live *live;
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
