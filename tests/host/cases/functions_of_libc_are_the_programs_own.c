/* functions_of_libc_are_the_programs_own.c - the program defines clock_gettime, memcpy, memmove, memset, memcmp, getauxval and dlsym itself: nobody else calls them. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -fno-tree-loop-distribute-patterns -pthread */
/* torture: T110 */
/* also: mappings */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#define SITES(X) X(alloc_here)
#include "../../lib/ledger.h"

enum { BLOCKS = 2000, CHILD_BLOCKS = 200 };

enum { CLOCK, COPY, MOVE, SET, COMPARE, AUXILIARY, SYMBOL, FUNCTIONS };
static const char *const names[FUNCTIONS] = {
    "clock_gettime", "memcpy", "memmove", "memset", "memcmp", "getauxval", "dlsym"};
static volatile int calls[FUNCTIONS];

/* What a test with a clock of its own would do: every call is one step. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	ret->tv_sec = 1000 + calls[CLOCK]++;
	ret->tv_nsec = 0;
	return 0;
}

void *memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	calls[COPY]++;
	while (n--)
		*t++ = *f++;
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;
	size_t i;

	calls[MOVE]++;
	for (i = 0; i < n; i++)
		if (t < f)
			t[i] = f[i];
		else
			t[n - 1 - i] = f[n - 1 - i];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	char *t = to;

	calls[SET]++;
	while (n--)
		*t++ = (char)c;
	return to;
}

int memcmp(const void *one, const void *other, size_t n)
{
	const unsigned char *a = one, *b = other;

	calls[COMPARE]++;
	for (; n; n--, a++, b++)
		if (*a != *b)
			return *a - *b;
	return 0;
}

unsigned long getauxval(unsigned long type)
{
	(void)type;
	calls[AUXILIARY]++;
	return 0;
}

/*
 * As overlays do it. The real one takes this function for the caller, so that
 * RTLD_NEXT begins behind the program.
 */
void *dlsym(void *handle, const char *name)
{
	void *(*real)(void *, const char *);
	void *found;

	calls[SYMBOL]++;
	*(void **)(void *)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	found = real(handle, name);
	__asm__ volatile("" : "+r"(found)); /* not a jump */
	return found;
}

SITE_FN static void *alloc_here(size_t n)
{
	led_alloc(L_alloc_here, n);
	return led_keep(malloc(n));
}

static int in_a_child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < CHILD_BLOCKS; i++)
			free(led_keep(malloc((size_t)i + 1)));
		_exit(calls[COPY] + calls[SET] + calls[CLOCK]);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		void *p = alloc_here(40);

		led_free(L_alloc_here, 40);
		free(p);
	}
	alloc_here(100);
	for (int i = 0; i < FUNCTIONS; i++)
		printf("%s was called %d times\n", names[i], calls[i]);
	printf("child: %d\n", in_a_child());
	led_print(1);
	return 0;
}
