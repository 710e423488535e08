/* descriptors_run_out.c - RLIMIT_NOFILE is lowered to the number of open files, also for later children and threads: as bare, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T71 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SITES(X) X(alloc_without)
#include "../../lib/ledger.h"

SITE_FN static void *alloc_without(size_t n)
{
	return led_keep(malloc(n));
}

static void *work(void *arg)
{
	for (size_t n = 0; n < 1000; n++) {
		void *p = alloc_without(n);

		led_alloc(L_alloc_without, n);
		if (n % 3) {
			led_free(L_alloc_without, n);
			free(p);
		}
	}
	return arg;
}

int main(void)
{
	struct rlimit few = {3, 3};
	pthread_t t;
	int status;

	work(NULL);
	led_check(!setrlimit(RLIMIT_NOFILE, &few), "setrlimit");
	printf("open %d errno %d\n", open("/dev/null", O_RDONLY), errno);
	fflush(stdout);
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 3000; i++)
			free(malloc((size_t)i));
		exit(5);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", status);
	fflush(stdout);
	work(NULL);
	led_print(1);
	return 0;
}
