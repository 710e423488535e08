/* many_children.c - children come and go for long: each is in the history of seep watch, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * many_children COUNT PER_SECOND BLOCKS BYTES HOW [PID]
 *   COUNT children, each with BLOCKS blocks of BYTES, of which it frees every
 *   other one, and ends by HOW: exit, _exit or kill. With COUNT 0 they come
 *   until stdin is at its end. With PID all have this pid, one after the other,
 *   in a pid namespace in which it may be chosen. Prints the pid of the parent,
 *   then how many there were.
 */
static void *volatile keep;

__attribute__((noipa)) static void leave_blocks(int blocks, size_t bytes)
{
	for (int i = 0; i < blocks; i++) {
		void *p = malloc(bytes);

		memset(p, i, bytes);
		keep = p;
		if (i % 2)
			free(p);
	}
}

static int at_end_of_input(void)
{
	fd_set in;
	struct timeval now = {0};

	FD_ZERO(&in);
	FD_SET(0, &in);
	return select(1, &in, NULL, NULL, &now) > 0;
}

/* The next process of this pid namespace gets that number. */
static void choose_pid(const char *pid)
{
	FILE *f = pid ? fopen("/proc/sys/kernel/ns_last_pid", "w") : NULL;

	if (pid && (!f || fprintf(f, "%ld\n", atol(pid) - 1) < 0 || fclose(f)))
		exit(77);
}

/* Until the time of the next child; a delay of up to 100 ms is made up for. */
static void wait_for_turn(long rate)
{
	static struct timespec next;
	struct timespec now;
	long late_ms;

	if (rate <= 0)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	late_ms = (now.tv_sec - next.tv_sec) * 1000 + (now.tv_nsec - next.tv_nsec) / 1000000;
	if (next.tv_sec == 0 || late_ms > 100)
		next = now;
	next.tv_nsec += 1000000000 / rate;
	next.tv_sec += next.tv_nsec / 1000000000;
	next.tv_nsec %= 1000000000;
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 100, n = 0;
	long rate = argc > 2 ? atol(argv[2]) : 100;
	int blocks = argc > 3 ? atoi(argv[3]) : 100;
	size_t bytes = argc > 4 ? (size_t)atol(argv[4]) : 48;
	const char *how = argc > 5 ? argv[5] : "_exit";

	printf("PID %d\n", (int)getpid());
	(void)fflush(stdout);
	for (; count ? n < count : !at_end_of_input(); n++) {
		pid_t pid;

		choose_pid(argc > 6 ? argv[6] : NULL);
		pid = fork();
		if (pid < 0 || (argc > 6 && pid > 0 && pid != atoi(argv[6])))
			return 1;
		if (pid == 0) {
			leave_blocks(blocks, bytes);
			if (strcmp(how, "kill") == 0)
				(void)kill(getpid(), SIGKILL);
			if (strcmp(how, "exit") == 0)
				exit(0);
			_exit(0);
		}
		(void)waitpid(pid, NULL, 0);
		wait_for_turn(rate);
	}
	printf("CHILDREN %ld\n", n);
	return 0;
}
