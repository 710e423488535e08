/* engine_look.c - the engine of src/follow/engine by itself: looks, and what they cost. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "follow/engine/engine.h"
#include "host/proc/procfs.h"
#include "kit/os/clock.h"

/*
 * engine_look [--looks N] [--every MS] [--quiet] [--sites] [--keep]
 *     [--memory BYTES] [--dir DIRECTORY]... [PID...]
 *
 * A line for each process of each look, with tabs:
 *   look number state cause cause_number pid inner_pid uid program service
 *   allocations frees live_bytes peak_bytes sites moved error
 * The last line: "cost", share of a core in percent, resident bytes, looks.
 */
enum { DIRS_MAX = 16, PIDS_MAX = 1024 };

static const char *const states[] = {"runs", "out-of-sight", "ended"};
static const char *const causes[] = {"unknown", "exit", "signal", "oom", "exec"};

static bool print_site(void *context, const struct engine_site *s)
{
	(void)context;
	printf("site\t%u\t%llu\t%llu\t%llu\t%llu\n", s->id, (unsigned long long)s->allocations,
	    (unsigned long long)s->allocated_bytes, (unsigned long long)s->frees,
	    (unsigned long long)s->freed_bytes);
	return true;
}

static void print_process(
    const struct engine *l, const struct engine_process *p, int look, bool sites)
{
	printf("%d\t%llu\t%s%s\t%s\t%d\t%d\t%d\t%u\t%s\t%s\t%llu\t%llu\t%llu"
	       "\t%llu\t%zu\t%zu\t%d\n",
	    look, (unsigned long long)p->number, states[p->state], p->is_silent ? ",silent" : "",
	    causes[p->cause], p->cause_number, (int)p->pid, (int)p->inner_pid, (unsigned)p->uid,
	    p->program, p->service, (unsigned long long)p->now.allocations,
	    (unsigned long long)p->now.frees, (unsigned long long)p->now.live_bytes,
	    (unsigned long long)p->now.peak_bytes, p->site_count, p->moved_count, p->look_err);
	if (sites)
		engine_each_site(l, p, print_site, NULL);
}

int main(int argc, char **argv)
{
	const char *dirs[DIRS_MAX + 1] = {NULL};
	struct engine_plan plan = {.want_sites = true};
	size_t dir_count = 0, pid_count = 0;
	uint64_t looks = 2, every = 1000, start, cpu, first_cpu = 0;
	bool quiet = false, sites = false;
	pid_t pids[PIDS_MAX];
	struct engine *l;
	int err;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quiet"))
			quiet = true;
		else if (!strcmp(argv[i], "--sites"))
			sites = true;
		else if (!strcmp(argv[i], "--keep"))
			plan.keep_the_ended = true;
		else if (!strcmp(argv[i], "--looks") && argv[i + 1])
			looks = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--every") && argv[i + 1])
			every = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--memory") && argv[i + 1])
			plan.most_memory = strtoull(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "--dir") && argv[i + 1] && dir_count < DIRS_MAX)
			dirs[dir_count++] = argv[++i];
		else if (pid_count < PIDS_MAX)
			pids[pid_count++] = (pid_t)atoi(argv[i]);
	}
	if (dir_count > 0)
		plan.directories = dirs;
	if (pid_count > 0) {
		plan.pids = pids;
		plan.pid_count = pid_count;
	}
	err = engine_new(&plan, &l);
	start = clock_ns(CLOCK_MONOTONIC);
	for (uint64_t look = 0; look < looks && err == 0; look++) {
		uint64_t due = start + look * every * 1000000, now;

		/* those who come or go wake us between the looks */
		while (err == 0 && (now = clock_ns(CLOCK_MONOTONIC)) < due) {
			struct pollfd p = {.fd = engine_wake_fd(l), .events = POLLIN};

			if (poll(&p, 1, (int)((due - now) / 1000000) + 1) > 0)
				err = engine_look_at_roster(l);
		}
		if (err == 0)
			err = engine_look(l);
		for (size_t i = 0; !quiet && err == 0 && i < engine_count(l); i++)
			print_process(l, engine_at(l, i), (int)look, sites);
		(void)fflush(stdout);
		if (look == 0) /* what a first meeting costs is paid once */
			first_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	}
	if (err < 0) {
		fprintf(stderr, "engine_look: %s\n", strerror(-err));
		return 1;
	}
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - first_cpu;
	printf("cost\t%.3f\t%llu\t%llu\t%zu\n",
	    100.0 * (double)cpu / (double)(clock_ns(CLOCK_MONOTONIC) - start),
	    (unsigned long long)procfs_resident(getpid()), (unsigned long long)looks,
	    engine_count(l));
	engine_free(l);
	return 0;
}
