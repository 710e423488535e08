/* scores.c - one site of each class: leak by siblings, growth, late growth, growth by realloc, steady, churn. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "seep.h"

/*
 * usage: scores SECONDS [all|steady|fill BYTES [UNTIL]]
 *
 * Prints its pid and "ready" when it begins. With "steady" nothing grows; with "fill" only a
 * list, by BYTES in a second, for UNTIL seconds. After LATE_S seconds, it marks "deploy-7" and
 * another list begins to grow. What is done depends on the time that has passed,
 * so a busy machine does not change the rates.
 */
enum { STEP_MS = 10, REQUESTS = 40, TABLE = 1000, LATE_S = 3 };

struct link {
	struct link *next;
	char text[1000];
};

static struct link *history;

struct session {
	struct session *next;
	char text[sizeof(struct link) / 2 - sizeof(void *)];
};
static struct session *sessions;
static void *volatile kept[100000];
static size_t kept_count;
static char *vector;
static void *volatile table[TABLE];
static void *ring[64];

__attribute__((noinline)) static void build_table(void)
{
	for (int i = 0; i < TABLE; i++)
		table[i] = malloc(1024);
}

__attribute__((noinline)) static void *conn_open(void)
{
	return malloc(400);
}

__attribute__((noinline)) static void conn_close(void *conn)
{
	free(conn);
}

__attribute__((noinline)) static void add_history(void)
{
	struct link *l = malloc(sizeof(*l));

	l->next = history;
	memset(l->text, 1, sizeof(l->text));
	history = l;
}

__attribute__((noinline)) static void add_session(void)
{
	struct session *s = malloc(sizeof(*s));

	s->next = sessions;
	sessions = s;
}

__attribute__((noinline)) static void extend_vector(size_t steps)
{
	vector = realloc(vector, 200000 + steps * 512);
}

__attribute__((noinline)) static void use_ring(size_t step)
{
	void **at = &ring[step % 64];

	free(*at);
	*at = malloc(100);
}

/* Connections come and go; one in a thousand is forgotten. */
static void serve(size_t step)
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

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	const char *mode = argc > 2 ? argv[2] : "all";
	double fill = argc > 3 ? atof(argv[3]) : 0, begin, passed = 0;
	double until = argc > 4 ? atof(argv[4]) : seconds;
	const struct timespec rest = {.tv_nsec = STEP_MS * 1000000L};
	size_t steps = 0, links = 0;

	build_table();
	printf("PID %d\nready\n", (int)getpid());
	fflush(stdout);
	begin = now_s();
	while (passed < seconds) {
		nanosleep(&rest, NULL);
		passed = now_s() - begin;
		for (; (double)steps * STEP_MS / 1000 < passed; steps++) {
			use_ring(steps);
			if (strcmp(mode, "all") != 0)
				continue;
			serve(steps);
			add_history();
			extend_vector(steps);
			if (steps == LATE_S * 1000 / STEP_MS)
				seep_mark("deploy-7");
			if (steps >= LATE_S * 1000 / STEP_MS)
				add_session();
		}
		for (; passed < until && (double)links * sizeof(struct link) < fill * passed;
		     links++)
			add_history();
	}
	return 0;
}
