/* scores.c - one site of each class: leak by siblings, growth, growth by realloc, steady, churn. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * usage: scores SECONDS [steady]
 *
 * Prints "ready" when it begins. With "steady" nothing grows.
 */
enum { STEP_MS = 10, REQUESTS = 40, TABLE = 1000 };

struct link {
	struct link *next;
	char text[1000];
};

static struct link *history;
static void *volatile kept[100000];
static size_t kept_count;
static char *vector;
static void *volatile table[TABLE];
static void *ring[64];

__attribute__((noinline)) static void
build_table(void)
{
	for (int i = 0; i < TABLE; i++)
		table[i] = malloc(1024);
}

__attribute__((noinline)) static void *
conn_open(void)
{
	return malloc(400);
}

__attribute__((noinline)) static void
conn_close(void *conn)
{
	free(conn);
}

__attribute__((noinline)) static void
add_history(void)
{
	struct link *l = malloc(sizeof(*l));

	l->next = history;
	memset(l->text, 1, sizeof(l->text));
	history = l;
}

__attribute__((noinline)) static void
extend_vector(size_t steps)
{
	vector = realloc(vector, 200000 + steps * 512);
}

__attribute__((noinline)) static void
use_ring(size_t step)
{
	void **at = &ring[step % 64];

	free(*at);
	*at = malloc(100);
}

/* Connections come and go; one in a thousand is forgotten. */
static void
serve(size_t step)
{
	for (int i = 0; i < REQUESTS; i++) {
		void *conn = conn_open();

		*(volatile char *)conn = 1;
		if (step % 5 == 0 && i == 0)
			kept[kept_count++ % 100000] = conn;
		else
			conn_close(conn);
	}
}

int
main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	int steady = argc > 2 && strcmp(argv[2], "steady") == 0;
	struct timespec step = {.tv_nsec = STEP_MS * 1000000L}, begin, now;

	build_table();
	puts("ready");
	fflush(stdout);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (size_t i = 0;; i++) {
		use_ring(i);
		if (!steady) {
			serve(i);
			add_history();
			extend_vector(i);
		}
		nanosleep(&step, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((double)(now.tv_sec - begin.tv_sec) +
		        (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 >
		    seconds)
			break;
	}
	return 0;
}
