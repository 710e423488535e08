/* run_time_code_goes_at_any_moment.c - threads unmap run-time code without waiting for anybody, while stacks of others pass through it or have stale words that point there: no fault, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T54 T58 */
/* flags: -fno-builtin */
/* ignore: ledger */
/* seconds: 300 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SITES(X) X(alloc_below)
#include "../../lib/ledger.h"
#include "../../lib/made_code.h"

/*
 * run_time_code_comes_and_goes.c has the same in steps; here nothing but the
 * kernel decides what meets what. No address is used twice, so that nothing is
 * known of it.
 */
enum {
	MAKERS = 2,
	STALE = 32,
	WAYS = 8,
	ROUNDS = 300,        /* of each maker */
	ROUNDS_FULL = 20000, /* SEEP_FULL=1 */
	/*
	 * That code goes in which a stack stands, which then is left by
	 * longjmp, meets what HOST_RULES.md says: a load in 300,000 faults.
	 */
	LOSSES = 75,
	FRAME_AT = 64, /* in a page of code, behind MADE_GARBAGE */
};

static int rounds = ROUNDS;
static _Atomic(uint8_t *) made[MAKERS + 1]; /* the newest of each thread */
static _Atomic(uint8_t *) fresh;            /* pages that nobody has used */

SITE_FN static void alloc_below(size_t n)
{
	void *p = led_keep(malloc(n));

	led_alloc(L_alloc_below, n);
	led_free(L_alloc_below, n);
	free(p);
}

/* Different stacks, so that each of them is walked. */
SITE_FN static void deeper(int n, int way)
{
	if (n == 0)
		alloc_below((size_t)way % 1000 + 1);
	else if (way >> n & 1)
		deeper(n - 1, way);
	else
		deeper(n - 1, way + 1);
	led_keep(&n);
}

static void allocate(void *arg)
{
	int *way = arg;

	for (int i = 0; i < WAYS; i++)
		deeper(i % 5, *way + i);
	++*way;
}

static uint8_t *make_code(void)
{
	uint8_t *code = atomic_fetch_add(&fresh, MADE_PAGE);

	led_check(!mprotect(code, MADE_PAGE, PROT_READ | PROT_WRITE), "fresh");
	made_write(code, MADE_GARBAGE);
	made_write(code + FRAME_AT, MADE_FRAME);
	led_check(!mprotect(code, MADE_PAGE, PROT_READ | PROT_EXEC), "mprotect");
	return code;
}

/*
 * Makes code, allocates below it, unmaps it, while its frame pointers lead to
 * return addresses in the code of others, which may be gone by then.
 */
static void *make(void *arg)
{
	const size_t me = (size_t)(uintptr_t)arg;
	int way = (int)me * 1000;

	for (int i = 0; i < rounds; i++) {
		uint8_t *code = make_code();
		uintptr_t stale[STALE];

		atomic_store(&made[me], code);
		for (int k = 0; k < STALE; k += 2) {
			const uint8_t *other =
			    atomic_load(&made[(me + 1 + (size_t)k / 2) % (MAKERS + 1)]);

			stale[k] = (uintptr_t)&stale[(k + 2) % STALE];
			stale[k + 1] = (uintptr_t)other + FRAME_AT + made_kinds[MADE_FRAME].call;
		}
		made_entry(code)(&way, allocate, (uintptr_t)stale);
		led_keep(stale);
		led_check(!munmap(code, MADE_PAGE), "munmap");
	}
	return NULL;
}

/* ---- code below which somebody stands ---- */

static jmp_buf out;
static atomic_bool is_inside, is_gone, is_over;

/* Allocates until the code is gone; nobody can return. */
static void stand(void *arg)
{
	atomic_store(&is_inside, true);
	do
		allocate(arg);
	while (!atomic_load(&is_gone));
	longjmp(out, 1);
}

static void *unmap(void *arg)
{
	while (!atomic_load(&is_over)) {
		if (!atomic_load(&is_inside) || atomic_load(&is_gone)) {
			sched_yield();
			continue;
		}
		led_check(!munmap(atomic_load(&made[MAKERS]), MADE_PAGE), "munmap");
		atomic_store(&is_gone, true);
	}
	return arg;
}

static int ways[2]; /* survive the jump */

static void lose_code(void)
{
	for (ways[1] = 0; ways[1] < LOSSES; ways[1]++) {
		uint8_t *code = make_code();

		atomic_store(&is_inside, false);
		atomic_store(&is_gone, false);
		atomic_store(&made[MAKERS], code);
		if (setjmp(out) == 0)
			made_entry(code + FRAME_AT)(&ways[0], stand, 0);
	}
	atomic_store(&is_over, true);
}

int main(void)
{
	pthread_t makers[MAKERS], other;

	uint8_t *pages;

	if (getenv("SEEP_FULL"))
		rounds = ROUNDS_FULL;
	pages = mmap(NULL, ((size_t)MAKERS * rounds + LOSSES + MAKERS + 1) * MADE_PAGE, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	led_check(pages != MAP_FAILED, "mmap");
	atomic_store(&fresh, pages);
	for (size_t i = 0; i <= MAKERS; i++)
		atomic_store(&made[i], make_code());
	for (size_t i = 0; i < MAKERS; i++)
		led_check(!pthread_create(&makers[i], NULL, make, (void *)(uintptr_t)i), "thread");
	led_check(!pthread_create(&other, NULL, unmap, NULL), "thread");
	lose_code();
	for (size_t i = 0; i < MAKERS; i++)
		pthread_join(makers[i], NULL);
	pthread_join(other, NULL);
	led_print(1);
	return 0;
}
