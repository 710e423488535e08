/* a_second_profiler_in_the_process.c - a SIGPROF handler takes backtraces at 1 kHz while three threads allocate: no hang, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T52 */
/* modes: exact sampled */
/* witness: no, each of the signals would stop twice */
/* ignore: ledger */
/* seconds: 120 */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#define SITES(X) X(alloc_profiled)
#include "../../lib/ledger.h"

static atomic_bool stop;
static atomic_uint samples, deep;

SITE_FN static void *alloc_profiled(size_t n)
{
	return led_keep(malloc(n));
}

static void sample(int sig)
{
	void *frames[64];

	(void)sig;
	samples++;
	deep += backtrace(frames, 64) > 2;
}

SITE_FN static void work_deeper(int depth, size_t n)
{
	if (depth > 0) {
		work_deeper(depth - 1, n);
		__asm__ volatile("" ::: "memory");
		return;
	}
	void *p = alloc_profiled(n);

	led_alloc(L_alloc_profiled, n);
	led_free(L_alloc_profiled, n);
	free(p);
}

static void *work(void *arg)
{
	for (size_t n = 0; !stop; n = (n + 7) % 2000)
		work_deeper((int)n % 20, n);
	return arg;
}

int main(void)
{
	struct sigaction act = {.sa_handler = sample, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}};
	struct timespec nap = {getenv("SEEP_FULL") ? 60 : 1, 0};
	void *frames[4];
	pthread_t t[3];

	backtrace(frames, 4); /* loads libgcc_s, which allocates */
	sigaction(SIGPROF, &act, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	while (nanosleep(&nap, &nap) != 0)
		;
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	setitimer(ITIMER_PROF, &never, NULL);
	printf("sampled %d deep %d\n", samples > 20, deep > 20);
	fflush(stdout);
	led_print(1);
	return 0;
}
