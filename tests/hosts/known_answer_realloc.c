/* known_answer_realloc.c - holders that are resized without pause: LEAK for lost blocks, and for none that such a holder holds. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -pthread */
/*
 * known_answer_realloc THREADS HOLDERS BYTES [POINT USECONDS]: each thread resizes its
 * holders one after the other, to BYTES and up to seven times as many. Prints as
 * known_answer.c does and waits for the end of its input. With POINT a child
 * does so, in which the threads are no more: each was at this point of the
 * realloc of known_answer_realloc_plugin.so, USECONDS after its start; with 0 in
 * its first one. (They stand still during the fork, which would else copy one
 * page before and another one after a change.)
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/known_answer.h"

enum { THREADS_MAX = 8, HOLDERS_MAX = 256, HELD = N };

MAKER(resized_holder)
MAKER(held_by_resized)
MAKER(lost)
MAKER(lost_head)
MAKER(held_by_lost)

struct work {
	void ***holders; /* the only pointers to them */
	size_t count, bytes;
	pthread_t thread;
};

extern atomic_int realloc_stop_at __attribute__((weak));
extern atomic_int realloc_stopped __attribute__((weak));

static struct work all[THREADS_MAX];
static atomic_bool end;

static void *resize(void *arg)
{
	struct work *w = arg;

	for (size_t i = 0; !end; i++) {
		void ***holder = &w->holders[i % w->count];
		size_t bytes = w->bytes * (1 + i / w->count % 7);
		void **p = i & 1 ? realloc(*holder, bytes) : reallocarray(*holder, bytes / 8, 8);

		if (!p)
			abort();
		*holder = p;
	}
	return NULL;
}

/* Resizes a block of its own, and ends. */
static void *resize_one(void *unused)
{
	void *volatile p = malloc(8);

	(void)unused;
	for (size_t bytes = 16; bytes < 4096; bytes *= 2)
		p = realloc(p, bytes);
	free(p);
	return NULL;
}

/* New threads, which may get what the collector had of those that are gone. */
static void resize_others(size_t threads)
{
	pthread_t t[THREADS_MAX];

	realloc_stop_at = 0;
	for (size_t i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, resize_one, NULL))
			abort();
	for (size_t i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
}

static OWN void make(struct work *w, size_t holders, size_t bytes)
{
	static void **room[THREADS_MAX][HOLDERS_MAX];

	w->holders = room[w - all];
	w->count = holders;
	w->bytes = bytes;
	for (size_t i = 0; i < holders; i++) {
		w->holders[i] = k_resized_holder(bytes);
		for (size_t k = 0; k < HELD; k++)
			w->holders[i][k] = k_held_by_resized(SIZE);
	}
}

static OWN void lose(void)
{
	for (int i = 0; i < N; i++) {
		void **head = k_lost_head(SIZE);

		*head = k_held_by_lost(SIZE);
		k_lost(SIZE);
	}
}

static pid_t fork_at(int point, size_t threads, unsigned usec)
{
	pid_t child;

	usleep(usec);
	realloc_stop_at = point;
	while ((size_t)realloc_stopped < threads)
		usleep(1000);
	child = fork();
	if (child > 0)
		realloc_stop_at = 0;
	return child;
}

static void wait_for_end(void)
{
	char c;

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
}

int main(int argc, char **argv)
{
	pid_t child = -1;
	size_t threads = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	size_t holders = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	size_t i;

	if (threads == 0 || threads > THREADS_MAX || holders == 0 || holders > HOLDERS_MAX ||
	    bytes < HELD * sizeof(void *))
		return 2;
	for (i = 0; i < threads; i++)
		make(&all[i], holders, bytes);
	lose();
	scrub();
	say("held_by_resized", "held", (int)(threads * holders * HELD));
	say("lost", "lost", N);
	say("lost_head", "lost", N);
	say("held_by_lost", "lost", N);
	if (argc > 5 && !&realloc_stop_at)
		return 2;
	if (argc > 5 && atoi(argv[5]) == 0)
		realloc_stop_at = atoi(argv[4]);
	for (i = 0; i < threads; i++)
		if (pthread_create(&all[i].thread, NULL, resize, &all[i]))
			return 2;
	if (argc > 5) {
		child = fork_at(atoi(argv[4]), threads, atoi(argv[5]));
		if (child < 0)
			return 2;
	}
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		resize_others(threads);
		wait_for_end();
		_exit(0);
	}
	if (child > 0)
		(void)waitpid(child, NULL, 0);
	else
		wait_for_end();
	end = true;
	for (i = 0; i < threads; i++)
		pthread_join(all[i].thread, NULL);
	return 0;
}
