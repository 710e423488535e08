/* grows_fast.c - a thread adds to a list, a hash or a queue as fast as it can. */
/* SPDX-License-Identifier: Apache-2.0 */
/* usage: grows_fast list|hash|queue FIRST MOST: it is ready with FIRST items and
 * ends to grow with MOST; a queue drops its oldest item then, for ever. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

enum { BUCKETS = 1024 };

struct item {
	struct item *next, *prev;
	uint64_t number;
};

struct table {
	uint64_t count;
	struct item *buckets[BUCKETS];
};

static struct item *newest, *oldest; /* each new item comes first */
struct table *registry;
static uint64_t first, most;
static volatile uint64_t count;

OWN static struct item *item_new(void)
{
	struct item *x = malloc(sizeof(*x));

	if (!x)
		abort();
	x->number = count;
	return x;
}

OWN static void list_add(void)
{
	struct item *x = item_new();

	x->next = newest;
	x->prev = NULL;
	newest = x;
	count++;
}

/* Who has `oldest` reaches all of them, too. */
OWN static void queue_add(void)
{
	struct item *x = item_new();

	x->next = newest;
	x->prev = NULL;
	if (newest)
		newest->prev = x;
	else
		oldest = x;
	newest = x;
	count++;
}

OWN static void hash_add(void)
{
	struct item **at = &registry->buckets[count * 2654435761u % BUCKETS];
	struct item *x = item_new();

	x->next = *at;
	x->prev = NULL;
	*at = x;
	count++;
}

OWN static void queue_drop(void)
{
	struct item *x = oldest;

	oldest = x->prev;
	oldest->next = NULL;
	free(x);
	count--;
}

static void *grow(void *what)
{
	for (;;) {
		if (strcmp(what, "queue") == 0)
			queue_add();
		else if (count >= most)
			pause();
		else if (strcmp(what, "hash") == 0)
			hash_add();
		else
			list_add();
		if (count > most)
			queue_drop();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char c;

	if (argc < 4)
		return 2;
	first = strtoull(argv[2], NULL, 10);
	most = strtoull(argv[3], NULL, 10);
	registry = calloc(1, sizeof(*registry));
	if (!registry || pthread_create(&thread, NULL, grow, argv[1]))
		return 1;
	while (count < first)
		usleep(1000);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (read(0, &c, 1) < 0)
		return 1;
	printf("items %llu\n", (unsigned long long)count);
	fflush(stdout);
	_exit(0);
}
