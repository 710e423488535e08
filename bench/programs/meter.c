/* meter.c - runs one command and writes down what it used. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: meter FILE COMMAND [ARG...]
 *
 * Writes one line to FILE: wall ns, user us, system us, peak RSS in KiB, minor
 * faults, wait status. A small program of its own, because a child's peak RSS
 * includes that of the image which called exec: measured from an interpreter,
 * `true` would seem to need what the interpreter needs. Times include the
 * descendants that were waited for; the peak is that of the largest process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long us(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

int main(int argc, char **argv)
{
	const char *preload = getenv("METER_PRELOAD");
	long long begin_ns, wall_ns;
	struct rusage used;
	int status;
	pid_t pid;
	FILE *out;

	if (argc < 3) {
		fputs("usage: meter FILE COMMAND [ARG...]\n", stderr);
		return 2;
	}
	out = fopen(argv[1], "we");
	if (!out) {
		perror(argv[1]);
		return 2;
	}
	/* for the command alone: what is measured must not measure us */
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	unsetenv("METER_PRELOAD");
	begin_ns = now_ns();
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
		perror("meter");
		return 2;
	}
	wall_ns = now_ns() - begin_ns;
	fprintf(out, "%lld %lld %lld %ld %ld %d\n", wall_ns, us(used.ru_utime), us(used.ru_stime),
	    used.ru_maxrss, used.ru_minflt, status);
	return fclose(out) ? 2 : 0;
}
