/* known_lives.c - blocks whose lifetimes are known by the allocations in between, and by a pause. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define SITES(X) \
	X(at_once) \
	X(after_three) X(filler) X(passed_on) X(kept) X(grown) X(old) X(dummy)
#include "../lib/ledger.h"

/*
 * known_lives ROUNDS PAUSE_MS. Of each round, with the allocations of the thread
 * between allocation and free:
 *	at_once      0
 *	after_three  3
 *	filler       0, 1, 2
 *	passed_on    freed by another thread
 *	kept         never freed
 *	grown        resized twice, then freed: 0
 * One block of `old` lives during the pause. `dummy` is freed at once; 200 of
 * them behind the pause make the thread look at the clock.
 */
#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		void *p = led_keep(malloc(size_bytes)); \
\
		led_check(p, "out of memory"); \
		led_alloc(L_##name, size_bytes); \
		return p; \
	}
ALLOC_FN(at_once)
ALLOC_FN(after_three)
ALLOC_FN(filler)
ALLOC_FN(passed_on)
ALLOC_FN(kept)
ALLOC_FN(old)
ALLOC_FN(dummy)

SITE_FN static void *grown(void *p, size_t old_bytes, size_t size_bytes)
{
	if (p)
		led_free(L_grown, old_bytes);
	p = led_keep(realloc(p, size_bytes));
	led_check(p, "out of memory");
	led_alloc(L_grown, size_bytes);
	return p;
}

static void drop(void *p, int site, size_t size_bytes)
{
	led_free(site, size_bytes);
	free(p);
}

struct passed {
	struct passed *next;
};

static void *free_all(void *list)
{
	struct passed *p = list, *next;

	for (; p; p = next) {
		next = p->next;
		drop(p, L_passed_on, 48);
	}
	return NULL;
}

static void pause_for(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&t, &t) < 0)
		;
	for (int i = 0; i < 200; i++)
		drop(dummy(8), L_dummy, 8);
}

static struct passed *one_round(struct passed *list)
{
	void *p, *fillers[3];
	struct passed *first;

	drop(at_once(100), L_at_once, 100);
	p = after_three(64);
	for (int i = 0; i < 3; i++)
		fillers[i] = filler(24);
	drop(p, L_after_three, 64);
	for (int i = 3; i-- > 0;)
		drop(fillers[i], L_filler, 24);
	first = passed_on(48);
	first->next = list;
	(void)kept(32);
	p = grown(grown(grown(NULL, 0, 10), 10, 200), 200, 3000);
	drop(p, L_grown, 3000);
	return first;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;
	struct passed *list = NULL;
	pthread_t thread;
	void *p = old(500);

	for (long i = 0; i < rounds; i++)
		list = one_round(list);
	pause_for(argc > 2 ? atol(argv[2]) : 200);
	drop(p, L_old, 500);
	led_check(!pthread_create(&thread, NULL, free_all, list), "thread");
	pthread_join(thread, NULL);
	led_print(1);
	return 0;
}
