/* lifetimes.c - blocks that die at known ages; prints how old they were. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -O0 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * usage: lifetimes steps | bursts | steady | threads | forked
 *
 * Prints lines of "function blocks youngest_ms oldest_ms", ages as the program's
 * own clock has them.
 */
enum { BLOCKS = 40, SIZE = 100, THREADS = 24 };

struct held {
	const char *name;
	long long born_ms[BLOCKS];
	char *block[BLOCKS];
	long long min_ms, max_ms;
	int freed;
};

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* So that each kind of block has a site of its own. */
#define KIND(name) \
	static void *name(void) \
	{ \
		char *p = malloc(SIZE); \
\
		return p ? memset(p, 1, SIZE) : p; \
	}
KIND(at_once)
KIND(quarter)
KIND(half)
KIND(second)
KIND(long_lived)
KIND(kept)

/* Enough events for the collector to look at its clock. */
static void pass_time(int pairs)
{
	for (int i = 0; i < pairs; i++)
		free(at_once());
}

static void take(struct held *h, void *(*make)(void), int count)
{
	for (int i = 0; i < count; i++) {
		h->born_ms[i] = now_ms();
		h->block[i] = make();
	}
}

static void drop(struct held *h, int count)
{
	for (int i = 0; i < count; i++) {
		long long age;

		free(h->block[i]);
		age = now_ms() - h->born_ms[i];
		h->min_ms = h->freed == 0 || age < h->min_ms ? age : h->min_ms;
		h->max_ms = age > h->max_ms ? age : h->max_ms;
		h->freed++;
	}
}

static void tell(const struct held *h)
{
	printf("%s %d %lld %lld\n", h->name, h->freed, h->min_ms, h->max_ms);
}

/* One kind of block for each step of ages. */
static void steps(void)
{
	static struct held list[] = {
	    {.name = "quarter"}, {.name = "half"}, {.name = "second"}, {.name = "long_lived"}};
	static const useconds_t pauses_us[] = {250000, 300000, 450000, 800000};

	pass_time(300);
	take(&list[0], quarter, BLOCKS);
	take(&list[1], half, BLOCKS);
	take(&list[2], second, BLOCKS);
	take(&list[3], long_lived, BLOCKS);
	puts("READY");
	for (int i = 0; i < 4; i++) {
		usleep(pauses_us[i]);
		pass_time(300);
		drop(&list[i], BLOCKS);
		tell(&list[i]);
	}
}

/*
 * A little work, then a pause, again and again: what is kept over a pause is
 * freed by the first events after it.
 */
static void bursts(int count, useconds_t pause_us)
{
	static struct held h = {.name = "kept"};

	/* a thread that has never paused is not yet known to */
	pass_time(20);
	usleep(pause_us);
	pass_time(20);
	for (int i = 0; i < count; i++) {
		take(&h, kept, 4);
		usleep(pause_us);
		drop(&h, 4);
		pass_time(20);
	}
	tell(&h);
}

/* No long pauses: each block is freed 20 rounds after it was allocated. */
static void steady(void)
{
	enum { QUEUE = 20, ROUNDS = 100 };
	static struct held h = {.name = "kept"};

	for (int i = 0; i < ROUNDS; i++) {
		int at = i % QUEUE;
		struct held one = h;

		usleep(12000);
		pass_time(4);
		one.block[0] = h.block[at];
		one.born_ms[0] = h.born_ms[at];
		drop(&one, i >= QUEUE);
		h.freed = one.freed;
		h.min_ms = one.min_ms;
		h.max_ms = one.max_ms;
		h.born_ms[at] = now_ms();
		h.block[at] = kept();
	}
	tell(&h);
}

/*
 * More threads than the collector has arrays for. Each frees what its neighbour
 * allocated.
 */
static struct held of_thread[THREADS];
static pthread_barrier_t barrier;

static void *work(void *arg)
{
	long number = (long)arg;

	take(&of_thread[number], kept, BLOCKS);
	pthread_barrier_wait(&barrier);
	usleep(250000);
	pass_time(100);
	drop(&of_thread[(number + 1) % THREADS], BLOCKS);
	return NULL;
}

static void threads(void)
{
	static struct held all = {.name = "kept"};
	pthread_t ids[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&ids[i], NULL, work, (void *)i))
			_exit(2);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	all.min_ms = of_thread[0].min_ms;
	for (int i = 0; i < THREADS; i++) {
		const struct held *h = &of_thread[i];

		all.freed += h->freed;
		all.min_ms = h->min_ms < all.min_ms ? h->min_ms : all.min_ms;
		all.max_ms = h->max_ms > all.max_ms ? h->max_ms : all.max_ms;
	}
	tell(&all);
}

/* A child frees what it inherited, and blocks of its own. */
static void forked(void)
{
	static struct held inherited = {.name = "inherited"};
	static struct held own = {.name = "kept"};
	pid_t child;

	take(&inherited, half, BLOCKS);
	child = fork();
	if (child == 0) {
		pass_time(100);
		take(&own, kept, BLOCKS);
		usleep(250000);
		pass_time(100);
		drop(&inherited, BLOCKS);
		drop(&own, BLOCKS);
		tell(&own);
		exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(what, "steps"))
		steps();
	else if (!strcmp(what, "bursts"))
		bursts(5, 300000);
	else if (!strcmp(what, "steady"))
		steady();
	else if (!strcmp(what, "threads"))
		threads();
	else if (!strcmp(what, "forked"))
		forked();
	else
		return 2;
	return 0;
}
