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
 * crashes double|use|live [AGE_MS]: prints PID, then ADDRESS of a byte inside of
 * the block, and dies by SIGABRT (double) or SIGSEGV (use), or waits (live).
 * The block is allocated in one thread and freed in another.
 */
#define APART __attribute__((noinline, noclone))

struct node {
	struct node *next;
	char text[56];
};

static struct node *volatile node;

APART static void
allocates_it(void)
{
	node = malloc(sizeof(struct node));
	if (!node)
		abort();
	memset((void *)node, 0, sizeof(struct node));
}

APART static void *
frees_it(void *unused)
{
	free((void *)node);
	__asm__ volatile("");
	return unused;
}

APART static void
frees_it_again(void)
{
	free((void *)node);
	__asm__ volatile("");
}

APART static void
makes_noise(void)
{
	for (int i = 0; i < 200; i++) {
		void *volatile p = malloc(3000 + (size_t)i);

		free(p);
	}
}

int
main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t t;

	allocates_it();
	printf(
	    "PID %d\nADDRESS %p\n", (int)getpid(), (void *)((char *)node + 24));
	(void)fflush(stdout);
	if (argc > 2)
		(void)usleep((useconds_t)atoi(argv[2]) * 1000);
	if (strcmp(how, "live") == 0) {
		makes_noise();
		for (;;)
			pause();
	}
	if (pthread_create(&t, NULL, frees_it, NULL) || pthread_join(t, NULL))
		return 2;
	makes_noise();
	if (strcmp(how, "double") == 0) {
		frees_it_again(); /* glibc may notice it, and aborts then */
		abort();
	}
	(void)raise(SIGSEGV);
	return 1;
}
