/* tour.c - allocates what reports shall show; their tests know every figure. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -O0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "seep.h"

/* usage: tour [CACHED [SESSIONS [MS]]]: MS to wait before each snapshot */
struct item {
	struct item *next;
	char text[56];
};

static useconds_t pause_us;
static struct item *cached; /* grows with CACHED */
static char *names[64];     /* one a session */

static void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	return p;
}

static char *xstrdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(malloc(size), text, size);
}

static void cache_put(const char *text)
{
	struct item *x = xmalloc(sizeof(*x));

	strncpy(x->text, text, sizeof(x->text) - 1);
	x->next = cached;
	cached = x;
}

/* 10 blocks of 100 to 1,000 bytes, all given back. */
static void render_page(void)
{
	char *part[10];

	for (size_t i = 0; i < 10; i++)
		part[i] = xmalloc(100 * (i + 1));
	for (size_t i = 0; i < 10; i++)
		free(part[i]);
}

/* 2,048 bytes from a stack with `depth` calls of itself. */
static void *visit(int depth)
{
	void *p = depth > 1 ? visit(depth - 1) : malloc(2048);

	return p;
}

static void open_session(int number)
{
	names[number] = xstrdup("a session nobody ends");
	seep_alloc("sessions", names[number], 1);
}

static void serve(int cache, int sessions)
{
	for (int i = 0; i < cache; i++)
		cache_put("page");
	for (int i = 0; i < sessions && i < 64; i++)
		open_session(i);
	for (int i = 0; i < 20; i++)
		render_page();
}

static void moment(const char *label)
{
	usleep(pause_us);
	seep_snapshot(label);
}

int main(int argc, char **argv)
{
	int cache = argc > 1 ? atoi(argv[1]) : 100;
	int sessions = argc > 2 ? atoi(argv[2]) : 10;
	void *volatile index, *volatile deep;

	pause_us = argc > 3 ? (useconds_t)atoi(argv[3]) * 1000 : 0;
	moment("empty");
	serve(cache / 2, 0);
	moment("half");
	index = calloc(50, 100);
	serve(cache - cache / 2, sessions);
	deep = visit(3);
	deep = visit(5);
	free(deep);
	moment("full");
	free(index);
	moment("over");
	return 0;
}
