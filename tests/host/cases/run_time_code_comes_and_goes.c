/* run_time_code_comes_and_goes.c - stacks pass through code that cannot be read, that another thread unmaps, or that is rewritten in place: no fault, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T54 T58 */
/* flags: -fno-builtin */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#define SITES(X) X(alloc_below)
#include "../../lib/ledger.h"
#include "../../lib/made_code.h"

enum { PAGES = 4, ROUNDS = 150, DEEP = 12 };

static uint8_t *code;
static jmp_buf out;
static int jumps; /* survives the jump */
static pthread_barrier_t meet;

SITE_FN static void alloc_below(size_t n)
{
	void *p = led_keep(malloc(n));

	led_alloc(L_alloc_below, n);
	if (n % 3) {
		led_free(L_alloc_below, n);
		free(p);
	}
}

/* Different stacks, so that each of them is walked. */
SITE_FN static void deeper(int n, int way)
{
	char room[16 + 16];

	led_keep(room);
	if (n == 0)
		alloc_below((size_t)way);
	else if (way >> n & 1)
		deeper(n - 1, way);
	else
		deeper(n - 1, way + 1);
	led_keep(room);
}

static void allocate(void *arg)
{
	int *way = arg;

	for (int i = 0; i < DEEP; i++)
		deeper(i % 5, *way + i);
	++*way;
}

/* fn() below four frames of run-time code */

static void (*chain_fn)(void *);

static void second(void *arg)
{
	made_entry(code + MADE_PAGE)(arg, chain_fn, 0x1234);
}

static void through(void (*fn)(void *), void *arg)
{
	chain_fn = fn;

	made_entry(code)(arg, second, (uintptr_t)code);
}

static void write_code(enum made_kind first, enum made_kind next)
{
	led_check(!mprotect(code, PAGES * MADE_PAGE, PROT_READ | PROT_WRITE), "mprotect");
	made_write(code, first);
	made_write(code + MADE_PAGE, next);
}

static void set_rights(int rights)
{
	led_check(!mprotect(code, PAGES * MADE_PAGE, rights), "mprotect");
}

/* The other thread unmaps the code below which this one allocates. */
static void *unmap(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&meet);
		led_check(!munmap(code, PAGES * MADE_PAGE), "munmap");
		pthread_barrier_wait(&meet);
	}
	return arg;
}

static void lose_code(void *arg)
{
	allocate(arg);
	pthread_barrier_wait(&meet);
	pthread_barrier_wait(&meet);
	allocate(arg);
	longjmp(out, 1); /* nobody can return */
}

int main(void)
{
	static int way = 1;
	pthread_t other;

	code = made_pages(PAGES);
	led_check(code != NULL, "mmap");
	/* in place: the frames change, the return addresses do not */
	for (int i = 0; i < ROUNDS; i++) {
		write_code((enum made_kind)(i % MADE_KINDS), (enum made_kind)(i / 2 % MADE_KINDS));
		set_rights(PROT_READ | PROT_EXEC);
		through(allocate, &way);
		through(allocate, &way);
		/* execute-only; the page tables of some CPUs can say so */
		set_rights(PROT_EXEC);
		through(allocate, &way);
	}
	led_check(!munmap(code, PAGES * MADE_PAGE), "munmap");
	led_check(!pthread_barrier_init(&meet, NULL, 2), "barrier");
	led_check(!pthread_create(&other, NULL, unmap, NULL), "thread");
	for (jumps = 0; jumps < ROUNDS; jumps++) {
		code = made_pages(PAGES);
		led_check(code != NULL, "mmap");
		write_code((enum made_kind)(jumps % MADE_KINDS), MADE_STUB);
		set_rights(PROT_READ | PROT_EXEC);
		if (setjmp(out) == 0)
			through(lose_code, &way);
	}
	pthread_join(other, NULL);
	led_print(1);
	return 0;
}
