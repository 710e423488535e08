/* crashes.c - dies by a double free or by the use of a freed block: seep who names who allocated and who freed it. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-optimize-sibling-calls -Wno-use-after-free */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * crashes double|use|live|hot|reused [AGE_MS]: prints PID, then ADDRESS of a byte
 * inside of the block, and dies by SIGABRT (double) or SIGSEGV (use, hot, reused),
 * or waits (live). The block is allocated in one thread and freed in another; with
 * hot the first one had it 600,000 times before, and with reused it has it again.
 */
#define APART __attribute__((noinline, noclone))

struct node {
	struct node *next;
	char text[56];
};

enum {
	TURNS = 600000,
	ARENA_BYTES = 2000 /* too large for a thread's cache */
};

static struct node *volatile node;
static size_t node_bytes = sizeof(struct node);

APART static void allocates_it(void)
{
	node = malloc(node_bytes);
	if (!node)
		abort();
	memset((void *)node, 0, sizeof(struct node));
}

APART static void *frees_it(void *unused)
{
	free((void *)node);
	__asm__ volatile("");
	return unused;
}

APART static void frees_it_again(void)
{
	free((void *)node);
	__asm__ volatile("");
}

APART static void makes_noise(void)
{
	for (int i = 0; i < 200; i++) {
		void *volatile p = malloc(3000 + (size_t)i);

		free(p);
	}
}

APART static int in_another_thread(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, frees_it, NULL) || pthread_join(t, NULL);
}

/* The same block, freed by a thread and allocated again, in one tick or two. */
APART static int reuses_it(void)
{
	const struct node *was;

	for (int i = 0; i < 100; i++) {
		was = node;
		if (in_another_thread())
			return 2;
		allocates_it();
		if (node == was)
			return 0;
	}
	return 3;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "reused") == 0)
		node_bytes = ARENA_BYTES;
	allocates_it();
	for (int i = 0; strcmp(how, "hot") == 0 && i < TURNS; i++) {
		frees_it(NULL);
		allocates_it();
	}
	if (strcmp(how, "reused") == 0 && reuses_it() != 0)
		return 3;
	printf("PID %d\nADDRESS %p\n", (int)getpid(), (void *)((char *)node + 24));
	(void)fflush(stdout);
	if (argc > 2)
		(void)usleep((useconds_t)atoi(argv[2]) * 1000);
	if (strcmp(how, "live") == 0) {
		makes_noise();
		for (;;)
			pause();
	}
	if (strcmp(how, "reused") != 0 && in_another_thread())
		return 2;
	if (strcmp(how, "hot") != 0)
		makes_noise();
	if (strcmp(how, "double") == 0) {
		frees_it_again(); /* glibc may notice it, and aborts then */
		abort();
	}
	(void)raise(SIGSEGV);
	return 1;
}
