/* coroutines_between_guard_pages.c - 32 KiB coroutines with guards on both sides allocate in their base frame, switch after switch: exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T56 */
/* also: mappings */
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define SITES(X) X(alloc_in_base) X(alloc_deeper)
#include "../../lib/ledger.h"

enum { COROUTINES = 16, STACK = 32768, PAGE = 4096, SWITCHES = 10000 };

static ucontext_t scheduler, coroutine[COROUTINES];
static int switches;

SITE_FN static void *alloc_deeper(size_t n)
{
	return led_keep(malloc(n));
}

SITE_FN static void go_deeper(int depth, size_t n)
{
	if (depth > 0) {
		go_deeper(depth - 1, n);
		__asm__ volatile("" ::: "memory");
		return;
	}
	void *p = alloc_deeper(n);

	led_alloc(L_alloc_deeper, n);
	led_free(L_alloc_deeper, n);
	free(p);
}

/* entered by makecontext: its caller is the last frame of its stack */
SITE_FN static void alloc_in_base(int k)
{
	void *held = NULL;

	for (size_t n = 1; switches < SWITCHES; n++) {
		if (held) {
			led_free(L_alloc_in_base, n - 1);
			free(held);
		}
		held = led_keep(malloc(n));
		led_alloc(L_alloc_in_base, n);
		go_deeper((int)n % 30, n);
		switches++;
		swapcontext(&coroutine[k], &scheduler);
	}
}

static void make(int k)
{
	char *base = mmap(NULL, STACK + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(base + PAGE, STACK, PROT_READ | PROT_WRITE);
	getcontext(&coroutine[k]);
	coroutine[k].uc_stack.ss_sp = base + PAGE;
	coroutine[k].uc_stack.ss_size = STACK;
	coroutine[k].uc_link = &scheduler;
	makecontext(&coroutine[k], (void (*)(void))alloc_in_base, 1, k);
}

int main(void)
{
	for (int k = 0; k < COROUTINES; k++)
		make(k);
	while (switches < SWITCHES)
		for (int k = 0; k < COROUTINES && switches < SWITCHES; k++)
			swapcontext(&scheduler, &coroutine[k]);
	led_print(1);
	return 0;
}
