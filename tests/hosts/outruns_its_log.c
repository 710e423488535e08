/* outruns_its_log.c - many short threads, then eight that allocate faster than a small event log can be read: the log has gaps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * usage: outruns_its_log THREADS MS
 *
 * Each of THREADS, eight at a time, leaves one block and resizes one of an earlier
 * thread. Then eight threads free these blocks and allocate for MS milliseconds.
 */
enum { ABREAST = 8, PLACES = 64, SIZES = 200 };

static _Atomic(void *) places[PLACES];
static int64_t end_ms;

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Swaps blocks with other threads. */
static void turn(size_t n)
{
	void *p = malloc(16 + n % SIZES);

	p = atomic_exchange(&places[n % PLACES], p);
	if (n % 3 == 0) {
		p = realloc(p, 300 + n % SIZES);
		p = atomic_exchange(&places[(n + 7) % PLACES], p);
	}
	free(p);
}

static void *live_shortly(void *arg)
{
	turn((size_t)arg);
	return NULL;
}

static void *live_fast(void *arg)
{
	size_t n = (size_t)arg;

	while (now_ms() < end_ms)
		for (int i = 0; i < 10000; i++)
			turn(n++);
	return NULL;
}

static void start(void *(*what)(void *), size_t from, size_t count)
{
	pthread_t t[ABREAST];

	for (size_t i = 0; i < count; i++)
		if (pthread_create(&t[i], NULL, what, (void *)(from + i)) != 0)
			abort();
	for (size_t i = 0; i < count; i++)
		(void)pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	size_t threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;
	long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 300;

	for (size_t i = 0; i < threads; i += ABREAST)
		start(live_shortly, i, threads - i < ABREAST ? threads - i : ABREAST);
	end_ms = now_ms() + ms;
	start(live_fast, 0, ABREAST);
	return 0;
}
