/* late_frees_are_booked.c - atexit, on_exit and destructors allocate and free after main while other threads work: everything is counted, and the exit is not delayed. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T41 */
/* ignore: ledger threads signals */
/* ledger: --no-total */
/* status: 0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define SITES(X) X(alloc_before) X(alloc_late)
#include "../../lib/ledger.h"

enum { BLOCKS = 2000, HANDLERS = 40, LATE_S = 2 };

static void *held[BLOCKS];
static atomic_int running;

SITE_FN static void *alloc_before(size_t n)
{
	return led_keep(malloc(n));
}

SITE_FN static void *alloc_late(size_t n)
{
	return led_keep(malloc(n));
}

static void free_some(int from, int step)
{
	for (int i = from; i < BLOCKS; i += step)
		if (held[i]) {
			led_free(L_alloc_before, 40);
			free(held[i]);
			held[i] = NULL;
		}
}

static void at_exit(void)
{
	static int calls;
	void *p = alloc_late(99);

	led_alloc(L_alloc_late, 99);
	led_free(L_alloc_late, 99);
	free(p);
	free_some(++calls, HANDLERS * 2);
}

static void with_status(int status, void *arg)
{
	(void)status;
	led_free(L_alloc_late, 500);
	free(arg);
}

/* the program's last word: lower numbers run later */
__attribute__((destructor(101))) static void very_last(void)
{
	if (!running)
		return; /* the parent */
	free_some(0, 7);
	led_print(1);
}

static void *churn(void *arg)
{
	running++;
	for (unsigned n = 0;; n++)
		free(led_keep(malloc(n % 500)));
	return arg;
}

static void child(struct timespec *ends)
{
	pthread_t t;

	for (int i = 0; i < BLOCKS; i++) {
		held[i] = alloc_before(40);
		led_alloc(L_alloc_before, 40);
	}
	on_exit(with_status, alloc_late(500));
	led_alloc(L_alloc_late, 500);
	for (int i = 0; i < HANDLERS; i++)
		atexit(at_exit);
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, churn, NULL);
	while (running < 3)
		nanosleep(&(struct timespec){0, 100000}, NULL);
	clock_gettime(CLOCK_MONOTONIC, ends);
	exit(0);
}

int main(void)
{
	struct timespec now,
	    *ends = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		child(ends);
	waitpid(pid, &status, 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("status %d %s\n", status, now.tv_sec - ends->tv_sec > LATE_S ? "late" : "soon");
	return 0;
}
