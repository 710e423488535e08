/* known_answer_realloc.c - holders that are resized without pause: LEAK for lost blocks, and for none that such a holder holds. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -pthread */
/*
 * known_answer_realloc THREADS HOLDERS BYTES [fork]: each thread resizes its
 * holders one after the other, to BYTES and up to seven times as many. Prints as
 * known_answer.c does and waits for the end of its input. With "fork" a child
 * does so, in which the threads are no more: they are somewhere in realloc.
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

static struct work all[THREADS_MAX];
static atomic_bool end;

static void *
resize(void *arg)
{
	struct work *w = arg;

	for (size_t i = 0; !end; i++) {
		void ***holder = &w->holders[i % w->count];
		size_t bytes = w->bytes * (1 + i / w->count % 7);
		void **p = i & 1 ? realloc(*holder, bytes)
		                 : reallocarray(*holder, bytes / 8, 8);

		if (!p)
			abort();
		*holder = p;
	}
	return NULL;
}

static OWN void
make(struct work *w, size_t holders, size_t bytes)
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

static OWN void
lose(void)
{
	for (int i = 0; i < N; i++) {
		void **head = k_lost_head(SIZE);

		*head = k_held_by_lost(SIZE);
		k_lost(SIZE);
	}
}

static void
wait_for_end(void)
{
	char c;

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
}

int
main(int argc, char **argv)
{
	pid_t child = -1;
	size_t threads = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	size_t holders = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	size_t i;

	if (threads == 0 || threads > THREADS_MAX || holders == 0 ||
	    holders > HOLDERS_MAX || bytes < HELD * sizeof(void *))
		return 2;
	for (i = 0; i < threads; i++)
		make(&all[i], holders, bytes);
	lose();
	scrub();
	say("held_by_resized", "held", (int)(threads * holders * HELD));
	say("lost", "lost", N);
	say("lost_head", "lost", N);
	say("held_by_lost", "lost", N);
	for (i = 0; i < threads; i++)
		if (pthread_create(&all[i].thread, NULL, resize, &all[i]))
			return 2;
	if (argc > 4) {
		usleep(50000);
		child = fork();
		if (child < 0)
			return 2;
	}
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
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
