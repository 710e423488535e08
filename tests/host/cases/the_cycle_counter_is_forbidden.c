/* the_cycle_counter_is_forbidden.c - a process that may not read the CPU's cycle counter (PR_SET_TSC) starts threads, forks and reallocs. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T95 */
/* also: sampled log last mappings */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/many_stacks.h"

static void *work(void *arg)
{
	for (int i = 0; i < 3000; i++) {
		void *p = many_stacks(i, i % 8, (size_t)(i >> i % 8) % 300 + 1);

		p = realloc(p, (size_t)i % 5000 + 1);
		free(p);
	}
	return arg;
}

int main(void)
{
	int status = -1;
	pthread_t other;
	pid_t child;

	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return 77;
	work(NULL);
	if (pthread_create(&other, NULL, work, NULL))
		return 1;
	pthread_join(other, NULL);
	child = fork();
	if (child == 0) {
		work(NULL);
		if (pthread_create(&other, NULL, work, NULL))
			_exit(1);
		pthread_join(other, NULL);
		_exit(3);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
