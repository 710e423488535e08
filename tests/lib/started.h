/* started.h - for test_c_*: a process in which the collector has started, without hooks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_STARTED_H
#define SEEP_TESTS_STARTED_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/lifecycle.h"
#include "collector/event/next.h"
#include "collector/event/recorder_hit.h"
#include "collector/process/start.h"

/*
 * A process starts once, so each scenario runs in a process of its own. There
 * the assertions of cmocka do not work; a check that fails ends it with 1.
 */
#define CHECK(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
			_exit(1); \
		} \
	} while (0)

enum { STARTED_BLOCK = 64, STARTED_BLOCKS = 1 << 20 };

static char started_dir[64];

/* Addresses for blocks that nobody reads or writes. */
static char *started_heap;

static inline void *started_block(uint32_t i)
{
	return started_heap + (size_t)(i % STARTED_BLOCKS) * STARTED_BLOCK;
}

static inline int started_make_dir(void **state)
{
	(void)state;
	snprintf(started_dir, sizeof(started_dir), "/dev/shm/seep-unit.XXXXXX");
	started_heap = mmap(NULL, (size_t)STARTED_BLOCK * STARTED_BLOCKS, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return started_heap != MAP_FAILED && mkdtemp(started_dir) ? 0 : -1;
}

/* Removes the files whose names end so; returns how many there were. */
static inline int started_remove_files(const char *end)
{
	DIR *d = opendir(started_dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (e->d_type != DT_REG || len < strlen(end) ||
		    strcmp(e->d_name + len - strlen(end), end) != 0)
			continue;
		unlinkat(dirfd(d), e->d_name, 0);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

static inline int started_remove_dir(void **state)
{
	(void)state;
	started_remove_files("");
	return rmdir(started_dir);
}

/* Status of the process in which `run` ends well: 0. `setting` may be NULL. */
static inline int started_run(void (*run)(void), const char *setting)
{
	static char where[80];
	int status = -1;
	pid_t pid;

	snprintf(where, sizeof(where), "SEEP_DIR=%s", started_dir);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		char name[] = "unit";
		char *own = setting ? strdup(setting) : NULL;
		char *argv[] = {name, NULL};
		char *envp[] = {where, own, NULL};

		next_ready();
		start_process(argv, envp, SEG_INERT_NONE);
		CHECK(lifecycle_started() && lifecycle_running());
		run();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

/* The same for a child of that process. */
static inline pid_t started_fork(void (*run)(void))
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		run();
		_exit(0);
	}
	return pid;
}

static inline void started_join(pid_t pid)
{
	int status = -1;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(status == 0);
}

/* What a hook does after the real function; see recorder_allocated(). */
__attribute__((noinline)) static void started_alloc(const void *p, uint64_t size)
{
	CPU_CALLER(c);
	struct gate *g = thread_gate;
	struct thread *t = thread_self;

	if (!g || LOAD_ACQUIRE(&g->state) != THREAD_READY) {
		recorder_alloc_any(p, size, &c, SEG_API_MALLOC, RECORDER_NOW);
		return;
	}
	thread_enter(g);
	if (recorder_alloc_hit(t, p, size, &c, SEG_API_MALLOC))
		recorder_leave(g, t);
	else
		recorder_alloc_ready(t, p, size, &c, SEG_API_MALLOC);
}

static inline void started_free(const void *p)
{
	struct gate *g = thread_gate;

	if (g && LOAD_ACQUIRE(&g->state) == THREAD_READY) {
		thread_enter(g);
		thread_self->pace.countdown--;
		recorder_free_ready(p, 0);
	} else {
		recorder_free_any(p, 0);
	}
}

static inline uint64_t started_count(enum seg_count which)
{
	return LOAD(&segment.header->counts[which]);
}

#endif
