/* short_threads_need_no_memory.c - the memory of a process does not grow with the number of threads that have ended. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T37 */
/* modes: exact sampled dormant */
/* witness: no, it would stop twice for each thread */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/resident.h"

static void *work(void *arg)
{
	for (int i = 0; i < 20; i++)
		free(malloc(100 + (size_t)i));
	return arg;
}

static void run(int count)
{
	pthread_t t[4];

	for (int i = 0; i < count; i += 4) {
		for (int k = 0; k < 4; k++)
			if (pthread_create(&t[k], NULL, work, NULL))
				puts("no thread");
		for (int k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
	}
}

int main(void)
{
	int count = getenv("SEEP_FULL") ? 100000 : 10000;

	run(500);
	long before = resident_kib();

	run(count);
	long grown = resident_kib() - before;

	printf("grown by less than 2 MiB: %s\n", grown < 2048 ? "yes" : "no");
	if (grown >= 2048)
		printf("%ld KiB\n", grown);
	return 0;
}
