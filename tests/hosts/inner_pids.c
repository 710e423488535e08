/* inner_pids.c - forks into pid namespaces without an exec: pids in headers are those inside, and each process must be found by the pid outside. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: inner_pids; reads one line. Two namespaces, in each a process 1 and
 * its child 2. All four keep 1,000 blocks of 100 bytes (and the child those of
 * its parent), print "ready", and keep 1,000 blocks more when the line has
 * come. Prints "OUTER PID" for the processes 1. Without the right to do so it
 * exits with 77.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int go[2];

static __attribute__((noinline)) void keep_blocks(void)
{
	for (int i = 0; i < 1000; i++) {
		void *volatile p = malloc(100);

		(void)p;
	}
}

static void say(const char *word, int number)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %d\n", word, number);

	(void)!write(1, line, (size_t)n);
}

static void work(void)
{
	char byte;

	say("ready", (int)getpid());
	(void)!read(go[0], &byte, 1); /* until the other end is closed */
	keep_blocks();
}

/* Process 1 of a namespace, with a child. */
static void be_first(void)
{
	pid_t child;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(go[1]);
	keep_blocks();
	child = fork();
	if (child == 0) {
		keep_blocks();
		work();
		exit(0);
	}
	work();
	(void)waitpid(child, NULL, 0);
	exit(0);
}

int main(void)
{
	char line[16];

	if (pipe(go) < 0)
		return 1;
	for (int i = 0; i < 2; i++) {
		pid_t child;

		/* our own children are born there; a second time from here */
		child = fork();
		if (child == 0) {
			keep_blocks();
			if (unshare((getuid() ? CLONE_NEWUSER : 0) | CLONE_NEWPID) < 0)
				_exit(77);
			child = fork();
			if (child == 0)
				be_first();
			say("OUTER", (int)child);
			close(go[1]);
			(void)waitpid(child, NULL, 0);
			_exit(0);
		}
		usleep(300000);
		if (waitpid(child, NULL, WNOHANG) != 0)
			return 77;
	}
	(void)!read(0, line, sizeof(line));
	close(go[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
