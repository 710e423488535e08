/* flight_recorder.c - with SEEP_LOG=last,frees a host with threads, reallocs and forks notices nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
/* env: SEEP_LOG=last:64,frees */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 20000, HELD = 64 };

static _Atomic(void *) handed[HELD];

static void *work(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		size_t size = 16 + (seed = seed * 1103515245 + 12345) % 500;
		char *p = i % 3 ? malloc(size) : calloc(1, size);

		if (!p)
			abort();
		memset(p, 7, size);
		if (i % 5 == 0)
			p = realloc(p, size * 2);
		free(atomic_exchange(&handed[i % HELD], p));
	}
	return NULL;
}

static int run_threads(void)
{
	pthread_t t[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(i + 1)))
			return 1;
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}

int main(void)
{
	int status = 0, bad;
	pid_t child;

	bad = run_threads();
	for (int i = 0; i < 4; i++) {
		child = fork();
		if (child == 0) {
			/* a few events, and many: before and after its segment */
			for (int k = 0; k < (i % 2 ? 10 : 5000); k++)
				free(malloc(64));
			_exit(i);
		}
		waitpid(child, &status, 0);
		bad |= !WIFEXITED(status) || WEXITSTATUS(status) != i;
	}
	for (size_t i = 0; i < HELD; i++)
		free(atomic_exchange(&handed[i], NULL));
	printf("%s\n", bad ? "BROKEN" : "fine");
	return bad;
}
