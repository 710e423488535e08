/* forked_children_cost_little.c - a forked child's address space, its writable private memory (commit charge, RLIMIT_DATA) and what mlockall would lock grow by what it uses, at most 1 MiB at its start. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T93 */
/* ignore: other */
/* env: SEEP_LOG_POOL=256KiB */
/* a small pool, because private memory takes its place after _Fork and clone */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/many_stacks.h"

enum { KEPT = 2000 };

struct sizes {
	long size_kib, data_kib;
};

static long field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? atol(at + strlen(name)) : 0;
}

static struct sizes look(void)
{
	static char text[8192];
	FILE *f = fopen("/proc/self/status", "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[n] = 0;
	if (f)
		fclose(f);
	return (struct sizes){field(text, "VmSize:"), field(text, "VmData:")};
}

static pid_t clone_bare(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void try_child(const char *name, pid_t (*make)(void), int blocks)
{
	struct sizes before = look(), now;
	pid_t pid = make();
	int status;

	if (pid == 0) {
		for (int i = 0; i < blocks; i++) {
			void *volatile p = malloc(20);

			(void)p;
		}
		now = look();
		if (now.size_kib > before.size_kib + 1024)
			_exit(1);
		if (now.data_kib > before.data_kib + 1024)
			_exit(2);
		/* a limit on data that leaves room for one MiB more */
		struct rlimit r = {
		    (rlim_t)(before.data_kib + 1400) << 10, (rlim_t)(before.data_kib + 1400) << 10};

		setrlimit(RLIMIT_DATA, &r);
		void *volatile last = malloc(100000);

		_exit(last ? 0 : 3);
	}
	waitpid(pid, &status, 0);
	printf("%s, %d blocks: %#x\n", name, blocks, status);
	fflush(stdout);
}

int main(void)
{
	void *volatile p;

	try_child("fork", fork, 1);
	try_child("fork", fork, 100);
	try_child("_Fork", _Fork, 1);
	try_child("clone", clone_bare, 100);
	for (int i = 0; i < KEPT; i++)
		p = many_stacks(i, 12, 10);
	(void)p;
	try_child("fork", fork, 1);
	try_child("fork", fork, 100);
	return 0;
}
