/* ends.c - ends in some way when it is told to: by exit in main, in a thread, in a child. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * usage: ends main|thread|child [handler|flag]
 * Prints PID, of the process that will end, and READY; at the end of stdin it
 * says ENDS and calls exit(5). With a second word it has a handler for SIGTERM,
 * which calls _exit(7), or only returns.
 */
static volatile sig_atomic_t came;

static void leave(int number)
{
	(void)number;
	_exit(7);
}

static void note(int number)
{
	came = number;
}

static void end(void)
{
	int i;

	for (i = 0; i < 200; i++) {
		void *p = malloc(100);

		__asm__ volatile("" : "+r"(p) : : "memory");
	}
	printf("PID %d\nREADY\n", (int)getpid());
	fflush(stdout);
	while (getchar() != EOF)
		;
	printf("ENDS\n");
	fflush(stdout);
	exit(5);
}

static void *run(void *arg)
{
	(void)arg;
	end();
	return NULL;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "main";
	pthread_t thread;
	int status;
	pid_t pid;

	if (argc > 2)
		signal(SIGTERM, strcmp(argv[2], "handler") == 0 ? leave : note);
	if (strcmp(way, "thread") == 0) {
		pthread_create(&thread, NULL, run, NULL);
		for (;;)
			pause();
	}
	if (strcmp(way, "child") == 0) {
		pid = fork();
		if (pid > 0) {
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
		}
	}
	end();
	return 0;
}
