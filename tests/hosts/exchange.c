/* exchange.c - threads with tables of blocks that they fill, resize, hand over and clear, each in phases of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * usage: exchange THREADS ROUNDS. Every thread keeps a table of blocks with
 * mixed sizes. In each round it fills its table, resizes some blocks, gives a
 * tenth of them to the next thread, which frees them, and clears a part that
 * differs from round to round. Random numbers have a seed, so every run asks for
 * the same sizes.
 */
enum { TABLE = 20000, HANDED = TABLE / 10, THREADS_MAX = 64 };

struct worker {
	pthread_t thread;
	uint64_t seed;
	void *table[TABLE];
	pthread_mutex_t lock;
	void *handed[HANDED]; /* by the thread before it */
	struct worker *next;
	unsigned rounds;
};

static struct worker workers[THREADS_MAX];
static pthread_barrier_t barrier;

static uint64_t chance(struct worker *w)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return w->seed >> 33;
}

/* Most blocks are small, some have pages of their own. */
static size_t a_size(struct worker *w)
{
	uint64_t kind = chance(w) % 1000;

	if (kind < 900)
		return 16 + chance(w) % 500;
	if (kind < 998)
		return 512 + chance(w) % 8000;
	return 16384 + chance(w) % 200000;
}

static void *filled(void *p, size_t size)
{
	if (!p)
		abort();
	return memset(p, 1, size);
}

static void fill(struct worker *w)
{
	for (unsigned i = 0; i < TABLE; i++) {
		size_t size = a_size(w);

		if (!w->table[i])
			w->table[i] = filled(malloc(size), size);
		else if (i % 16 == 0)
			w->table[i] = filled(realloc(w->table[i], size), size);
	}
}

static void hand_over(struct worker *w)
{
	pthread_mutex_lock(&w->next->lock);
	for (unsigned i = 0; i < HANDED; i++) {
		void *mine = w->table[i * 10];

		w->table[i * 10] = NULL;
		free(w->next->handed[i]);
		w->next->handed[i] = mine;
	}
	pthread_mutex_unlock(&w->next->lock);
}

static void clear_handed(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < HANDED; i++) {
		free(w->handed[i]);
		w->handed[i] = NULL;
	}
	pthread_mutex_unlock(&w->lock);
}

static void clear(struct worker *w, unsigned one_in)
{
	for (unsigned i = 0; i < TABLE; i++) {
		if (chance(w) % 4 >= one_in)
			continue;
		free(w->table[i]);
		w->table[i] = NULL;
	}
}

static void *work(void *context)
{
	struct worker *w = context;

	for (unsigned r = 0; r < w->rounds; r++) {
		fill(w);
		pthread_barrier_wait(&barrier);
		hand_over(w);
		pthread_barrier_wait(&barrier);
		clear_handed(w);
		clear(w, 1 + (r + (unsigned)(w - workers)) % 3);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 10;

	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		workers[i].seed = i;
		workers[i].rounds = rounds;
		workers[i].next = &workers[(i + 1) % threads];
		pthread_mutex_init(&workers[i].lock, NULL);
	}
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	puts("done");
	return 0;
}
