/* on_request.c - for each number that it reads, a forked child allocates and frees so often in two threads, and ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long pairs;

static void *work(void *unused)
{
	for (long i = 0; i < pairs; i++) {
		void *volatile p = malloc(100);

		free(p);
	}
	return unused;
}

static int child(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, work, NULL))
		return 2;
	work(NULL);
	return pthread_join(t, NULL) ? 2 : 0;
}

int main(void)
{
	char line[32];

	/* no buffer of stdio: read() alone */
	for (;;) {
		ssize_t n = read(0, line, sizeof(line) - 1);
		int status;
		pid_t pid;

		if (n <= 0)
			return 0;
		line[n] = '\0';
		pairs = atol(line);
		pid = fork();
		if (pid == 0)
			_exit(child());
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
		if (dprintf(1, "DONE %d\n", (int)pid) < 0)
			return 1;
	}
}
