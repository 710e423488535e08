/* many_snapshots.c - calls seep_snapshot N times, growing in between; prints the number that each got. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seep.h"

/*
 * many_snapshots N             as many snapshots
 * many_snapshots N signal      N times SIGUSR2 to itself instead
 * many_snapshots N fork        N in the parent, then 2N in a child
 * many_snapshots N exec        N, then by exec N more
 * many_snapshots N remove CMD  N, then system(CMD), then N more
 */
static void *volatile kept[100000];
static size_t held;

static void raise_signals(int n)
{
	for (int i = 0; i < n; i++) {
		kept[held++] = malloc(100);
		(void)raise(SIGUSR2);
	}
}

static void take(int n)
{
	char label[32];

	for (int i = 0; i < n; i++) {
		if (held < sizeof(kept) / sizeof(kept[0]))
			kept[held++] = malloc(100);
		snprintf(label, sizeof(label), "call %d", i + 1);
		printf("NUMBER %d\n", seep_snapshot(label));
	}
	(void)fflush(stdout);
}

static int fork_and_take(int n)
{
	int status = 1;
	pid_t pid;

	take(n);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 500; i++)
			kept[held++] = malloc(10);
		printf("CHILD %d\n", (int)getpid());
		take(2 * n);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : 1;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	printf("PID %d\n", (int)getpid());
	if (argc > 2 && !strcmp(argv[2], "fork"))
		return fork_and_take(n);
	if (argc > 2 && !strcmp(argv[2], "signal")) {
		raise_signals(n);
		return 0;
	}
	take(n);
	if (argc > 2 && !strcmp(argv[2], "exec"))
		return execl(argv[0], argv[0], argv[1], (char *)NULL);
	if (argc > 3 && !strcmp(argv[2], "remove")) {
		if (system(argv[3]) != 0)
			return 1;
		take(n);
	}
	return 0;
}
