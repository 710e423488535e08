/* ignores.c - keeps blocks on purpose and says so; frees some of them, and makes others there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <seep.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * usage: ignores [fork]
 * Prints PID, KEPT and the address of each block that is kept on purpose, READY;
 * ends at the end of stdin. "fork": so does a child, of what it has inherited.
 */
enum { COUNT = 3000, LARGE = 1 << 20 };

static char *blocks[COUNT];

static char *make(size_t size)
{
	char *p = malloc(size);

	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

int main(int argc, char **argv)
{
	const struct timespec tick = {.tv_nsec = 300000000};
	int i, local;

	(void)argv;
	setvbuf(stdout, make(1 << 16), _IOFBF, 1 << 16);
	for (i = 0; i < COUNT; i++)
		blocks[i] = make(i % 100 == 7 ? LARGE : (size_t)(i % 300));
	for (i = 0; i < COUNT; i += 2)
		seep_ignore(blocks[i]);
	seep_ignore(blocks[7]); /* one that stands alone */
	seep_ignore(blocks[8]); /* again */
	seep_ignore(NULL);
	seep_ignore(&local);        /* no block */
	seep_ignore(blocks[1] + 1); /* no beginning of one */
	/* what is freed is not kept, nor is what comes to its place */
	nanosleep(&tick, NULL);
	for (i = 0; i < 1000; i++)
		free(blocks[i]);
	for (i = 0; i < 1000; i++)
		blocks[i] = make(i % 100 == 7 ? LARGE : (size_t)(i % 300));
	if (argc > 1 && fork() > 0)
		goto wait;
	for (i = 0; i < 200 && argc > 1; i++)
		blocks[i] = make(10); /* so that the child has a segment */
	printf("PID %d\n", (int)getpid());
	for (i = 1000; i < COUNT; i += 2)
		printf("KEPT %lx\n", (unsigned long)(uintptr_t)blocks[i]);
	printf("READY\n");
	fflush(stdout);
wait:
	while (getchar() != EOF)
		;
	return 0;
}
