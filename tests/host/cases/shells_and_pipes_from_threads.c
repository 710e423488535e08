/* shells_and_pipes_from_threads.c - popen, system and posix_spawn while four threads allocate: all run, and the parent stays exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T32 */
/* ignore: ledger */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>

#define SITES(X) X(alloc_busy)
#include "../../lib/ledger.h"

extern char **environ;
static atomic_bool stop;

SITE_FN static void *alloc_busy(size_t n)
{
	return led_keep(malloc(n));
}

static void *stay_busy(void *arg)
{
	uint64_t seed = 7 + (uintptr_t)arg;

	while (!stop) {
		size_t n = led_random(&seed) % 300;
		void *p = alloc_busy(n);

		led_alloc(L_alloc_busy, n);
		led_free(L_alloc_busy, n);
		free(p);
	}
	return NULL;
}

int main(void)
{
	char sh[] = "/bin/sh", c[] = "-c", words[] = "echo spawned; exit 5";
	char *argv[] = {sh, c, words, NULL}, line[64];
	pthread_t t[4];
	int status;

	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, stay_busy, (void *)i);
	for (int i = 0; i < 8; i++) {
		FILE *f = popen("echo from the pipe; exit 3", "r");

		led_check(f && fgets(line, sizeof(line), f), "popen");
		printf("%s", line);
		printf("pclose %d\n", pclose(f));
		fflush(stdout);
		printf("system %d\n", system("echo in a shell; exit 4"));
		fflush(stdout);
		pid_t pid;

		led_check(!posix_spawn(&pid, sh, NULL, NULL, argv, environ), "posix_spawn");
		waitpid(pid, &status, 0);
		printf("spawn %d\n", status);
	}
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	fflush(stdout);
	led_print(1);
	return 0;
}
