/* addresses.c - says where its blocks are, its own and those that its child inherits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Without words: all blocks, then "READY", and waits for the end of stdin.
 * With "fork": so does a child, which has freed every second block and made
 * others. A line is BLOCK, the address, the size.
 */
enum { COUNT = 40000 };

static struct {
	char *p;
	size_t size;
} blocks[COUNT];
static size_t count;

static void keep(void *p, size_t size)
{
	if (!p || count == COUNT)
		abort();
	blocks[count].p = p;
	blocks[count++].size = size;
}

static void *aligned(size_t align, size_t size)
{
	void *p = NULL;

	return posix_memalign(&p, align, size) ? NULL : p;
}

static void grow_in_place(size_t size)
{
	char *p = malloc(size), *q;

	/* the block before the top of the heap can grow without a move */
	q = realloc(p, size + 4096);
	keep(q, size + 4096);
	q = realloc(malloc(4096), size); /* and shrinks where it is */
	keep(q, size);
}

static void make(size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to; i++) {
		keep(malloc(i % 300), i % 300);
		keep(calloc(1, i % 9), i % 9);
		if (i % 16 == 0)
			keep(memalign(32, i % 200), i % 200);
		if (i % 64 == 0)
			keep(aligned(16, 62 + i % 3), 62 + i % 3);
		if (i % 256 == 0)
			grow_in_place(i + 1);
		if (i % 512 == 0) /* at the end of a MiB, with and without its 16 */
			keep(memalign(4096, 70000), 70000);
		if (i % 1024 == 0)
			keep(malloc(i * 300), i * 300);
	}
}

static void say(void)
{
	size_t i;

	printf("PID %d\n", (int)getpid());
	for (i = 0; i < count; i++)
		if (blocks[i].p)
			printf("BLOCK %lx %zu\n", (unsigned long)(uintptr_t)blocks[i].p,
			    blocks[i].size);
	printf("READY\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];
	size_t i;
	int c;

	(void)argv;
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	make(0, 15000);
	if (argc > 1 && fork() == 0) {
		for (i = 0; i < count; i += 2) {
			free(blocks[i].p);
			blocks[i].p = NULL;
		}
		make(15000, 16000);
		say();
	} else if (argc == 1) {
		say();
	}
	while ((c = getchar()) != EOF)
		;
	return 0;
}
