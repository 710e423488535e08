/* ten_leaks.c - ten ways to lose and to keep blocks, one each run: as LeakSanitizer says, so do we. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/scrub.h"

#define OWN __attribute__((noinline, noclone))

struct node {
	struct node *next, *other;
	char pad[48];
};

static struct node *kept;
static void *interior;
static _Thread_local void *in_tls;
void *volatile sink;
static pthread_key_t key;

OWN static struct node *lost_head(void)
{
	return calloc(1, sizeof(struct node));
}

OWN static struct node *lost_tail(void)
{
	return calloc(1, sizeof(struct node));
}

OWN static struct node *held(void)
{
	return calloc(1, sizeof(struct node));
}

OWN static void plain(void)
{
	sink = lost_head();
	sink = NULL;
}

OWN static void list(void)
{
	struct node *n = lost_head();

	n->next = lost_tail();
	n->next->next = lost_tail();
}

OWN static void cycle(void)
{
	struct node *a = lost_head(), *b = lost_head();

	a->next = b;
	b->next = a;
}

OWN static void global(void)
{
	kept = held();
	kept->next = held();
}

OWN static void inside(void)
{
	interior = held()->pad + 8;
}

OWN static void tls(void)
{
	in_tls = held();
	pthread_key_create(&key, NULL);
	pthread_setspecific(key, held());
}

OWN static void overwritten(void)
{
	kept = lost_head();
	kept = held();
}

static void *runs(void *arg)
{
	void *own = held(); /* on the stack of a thread that lives on */

	(void)arg;
	sink = NULL;
	for (;;)
		(void)usleep(1000000), (void)*(volatile char *)own;
	return own;
}

OWN static void thread(void)
{
	pthread_t t;

	plain();
	pthread_create(&t, NULL, runs, NULL);
	(void)usleep(20000);
}

OWN static void grown(void)
{
	char *p = malloc(10);

	p = realloc(p, 100000);
	kept = (struct node *)(void *)p;
	plain();
}

OWN static void freed(void)
{
	struct node *n = lost_tail();

	free(n);
	(void)strcmp(strdup("copy") ? "a" : "b", "a");
}

/* Lower on the stack than what comes later writes to. */
OWN static void deep(void (*run)(void))
{
	volatile char pad[1024];

	pad[0] = pad[1023] = 0;
	run();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"plain", plain}, {"list", list}, {"cycle", cycle}, {"global", global},
	    {"inside", inside}, {"tls", tls}, {"overwritten", overwritten}, {"thread", thread},
	    {"grown", grown}, {"freed", freed}};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (argc > 1 && strcmp(argv[1], all[i].name) == 0)
			deep(all[i].run);
	scrub();
	return 0;
}
