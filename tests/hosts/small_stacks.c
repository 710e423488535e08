/* small_stacks.c - threads of 16 KiB that allocate 2.5 KiB above their guard page: no fault, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Wl,-z,now */
#include <alloca.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SITES(X) X(alloc_low)
#include "../lib/ledger.h"

/* half a KiB for glibc's malloc and our frames, 2 KiB that I6 grants seep */
enum { THREADS = 50, STACK_BYTES = 16384, LEFT_BYTES = 512 + 2048 };

SITE_FN static void alloc_low(size_t size_bytes)
{
	free(led_keep(malloc(size_bytes)));
	led_alloc(L_alloc_low, size_bytes);
	led_free(L_alloc_low, size_bytes);
}

static void *use_up_stack(void *arg)
{
	uintptr_t bottom = (uintptr_t)arg;
	char here;

	/* a thread's first malloc makes an arena: 4 KiB in sched_getaffinity */
	alloc_low(1);
	size_t room = (uintptr_t)&here - bottom - LEFT_BYTES;
	char *volatile hole = alloca(room);

	hole[0] = 1; /* the pages below are ours to the guard */
	for (size_t n = 0; n < 2000; n += 7)
		alloc_low(n);
	return NULL;
}

int main(void)
{
	char *stack = mmap(
	    NULL, STACK_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t t;

	led_check(stack != MAP_FAILED, "mmap");
	mprotect(stack, 4096, PROT_NONE);
	stack += 4096; /* its bottom is known, and below it a guard */
	pthread_attr_init(&attr);
	led_check(!pthread_attr_setstack(&attr, stack, STACK_BYTES), "setstack");
	for (int i = 0; i < THREADS; i++) {
		led_check(!pthread_create(&t, &attr, use_up_stack, stack), "pthread_create");
		pthread_join(t, NULL);
	}
	led_print(1);
	return 0;
}
