/* mapped_pages.c - maps by several functions and touches some pages; prints what must be found of it and of its child. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "KNOWN process function bytes ranges resident", then it waits for a line on
 * stdin. raw and shared must not be found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, BLOCKS = 200 };

#define KEEP(p)  __asm__ volatile("" ::"r"(p) : "memory")
#define NOINLINE __attribute__((noinline))

static void *map(size_t pages, int rights, int flags)
{
	void *p = mmap(NULL, pages * PAGE, rights, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	KEEP(p);
	return p;
}

static void touch(char *p, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		p[i * PAGE] = 1;
}

static NOINLINE char *arena(void)
{
	char *p = map(256, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	touch(p, 100);
	return p;
}

static NOINLINE char *reserve(void)
{
	char *p = map((size_t)1 << 20, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);

	KEEP(p);
	return p;
}

static NOINLINE char *cut(void)
{
	char *p = map(64, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	touch(p, 64);
	munmap(p + 16 * PAGE, 16 * PAGE);
	KEEP(p);
	return p;
}

static NOINLINE char *grown(void)
{
	char *p = map(4, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	touch(p, 4);
	p = mremap(p, 4 * PAGE, 16 * PAGE, MREMAP_MAYMOVE);
	KEEP(p);
	return p;
}

static NOINLINE char *shared(void)
{
	char *p = map(32, PROT_READ | PROT_WRITE, MAP_SHARED);

	touch(p, 32);
	return p;
}

static NOINLINE char *raw(void)
{
	char *p = (char *)syscall(
	    SYS_mmap, NULL, 32 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	touch(p, 32);
	return p;
}

static NOINLINE char *of_child(void)
{
	char *p = map(8, PROT_READ | PROT_WRITE, MAP_PRIVATE);

	touch(p, 3);
	return p;
}

int main(void)
{
	char *p, line[8];
	int words[2];
	pid_t child;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	p = arena();
	reserve();
	cut();
	grown();
	shared();
	raw();
	if (pipe(words))
		return 1;
	child = fork();
	if (child == 0) {
		static void *volatile blocks[BLOCKS];

		close(words[1]);
		/* enough for a segment of its own */
		for (int i = 0; i < BLOCKS; i++)
			blocks[i] = malloc(1000);
		KEEP(blocks);
		munmap(p, 50 * PAGE);
		of_child();
		printf("PID %d\nREADY\n", (int)getpid());
		fflush(stdout);
		_exit(read(words[0], line, 1) < 0);
	}
	close(words[0]);
	printf("PID %d\nKNOWN parent arena %d 1 %d\n", (int)getpid(), 256 * PAGE, 100 * PAGE);
	printf("KNOWN parent reserve %ld 1 0\n", ((long)1 << 20) * PAGE);
	printf("KNOWN parent cut %d 2 %d\n", 48 * PAGE, 48 * PAGE);
	printf("KNOWN parent grown %d 1 %d\n", 16 * PAGE, 4 * PAGE);
	printf("KNOWN child of_child %d 1 %d\n", 8 * PAGE, 3 * PAGE);
	printf("READY\n");
	fflush(stdout);
	(void)!fgets(line, sizeof(line), stdin);
	close(words[1]);
	waitpid(child, NULL, 0);
	return 0;
}
