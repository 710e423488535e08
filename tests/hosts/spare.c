/* spare.c - blocks that are equal, end with zeros, or were never written; says how many there are of each. */
/* flags: -O1 -g */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints "FUNCTION KIND BLOCKS BYTES" for each function that allocates, where
 * KIND is a key of the JSON of seep leaks --insight, then "ready PID", and ends
 * with its input. Functions of which nothing is printed have nothing to give.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PAGE = 4096, COUNT = 100, LARGE = 4 << 20 };

#define OWN __attribute__((noinline, noclone))

static void *kept[16 * COUNT];
static size_t kept_count;

static void *keep(void *p)
{
	return kept[kept_count++] = p;
}

static void say(const char *function, const char *kind, long blocks, long bytes)
{
	printf("%s %s %ld %ld\n", function, kind, blocks, bytes);
}

/* All bytes are set, and differ from block to block. */
static void fill(unsigned char *p, size_t size, uint64_t seed)
{
	for (size_t i = 0; i < size; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		p[i] = (unsigned char)(1 + (seed >> 33) % 255);
	}
}

/* Five contents; the first of each is no copy. */
static OWN void copies(void)
{
	for (int i = 0; i < COUNT; i++)
		fill(keep(malloc(203)), 203, (uint64_t)(i % 5) + 1);
	say(__func__, "equal", COUNT - 5, (COUNT - 5) * 203);
}

/* The same contents once more, in blocks that begin elsewhere in a page. */
static OWN void more_copies(void)
{
	for (int i = 0; i < 5; i++) {
		unsigned char *p = keep(malloc(9000));

		fill(p, 9000, 77);
		memset(p + 8900, 0, 50); /* zeros inside are content */
	}
	say(__func__, "equal", 4, 4 * 9000);
}

static OWN void different(void)
{
	for (int i = 0; i < COUNT; i++)
		fill(keep(malloc(203)), 203, (uint64_t)i + 1000);
	for (int i = 0; i < COUNT; i++)
		fill(keep(malloc(8)), 8, 5); /* too small to matter */
}

/* A buffer that was grown for more than it got. */
static OWN void grown(void)
{
	for (int i = 0; i < COUNT; i++) {
		unsigned char *p = keep(calloc(1, 3001));

		fill(p, 1000, (uint64_t)i + 5000);
	}
	say(__func__, "zero_tails", COUNT, COUNT * 2001L);
}

/* A few zeros at the end are what any structure may have. */
static OWN void nearly_full(void)
{
	for (int i = 0; i < COUNT; i++)
		fill(keep(calloc(1, 3000)), 2500, (uint64_t)i + 9000);
}

/* Zeros alone are a tail, not copies. */
static OWN void zeros(void)
{
	for (int i = 0; i < COUNT; i++)
		keep(calloc(1, 500));
	say(__func__, "zero_tails", COUNT, COUNT * 500L);
}

static OWN void reserved(void)
{
	unsigned char *p = keep(malloc(LARGE));
	uintptr_t first = ((uintptr_t)p + PAGE - 1) / PAGE;
	uintptr_t last = ((uintptr_t)p + LARGE) / PAGE;
	size_t whole = last - first;

	/* seven whole pages, and what is before and behind all whole ones */
	fill(p, 7 * PAGE + (first * PAGE - (uintptr_t)p), 1);
	fill((unsigned char *)(last * PAGE), (uintptr_t)p + LARGE - last * PAGE, 2);
	say(__func__, "never_written", 1, (long)(whole - 7) * PAGE);
}

int main(void)
{
	/* a huge page is written as a whole */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	copies();
	more_copies();
	different();
	grown();
	nearly_full();
	zeros();
	reserved();
	printf("ready %d\n", (int)getpid());
	(void)fflush(stdout);
	return getchar() == 'x';
}
