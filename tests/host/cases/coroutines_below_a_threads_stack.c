/* coroutines_below_a_threads_stack.c - coroutines without guards in a thread allocate at each switch: nothing between their stacks and the thread's is touched, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T100 */
/* seconds: 30 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SITES(X) X(alloc_in_base) X(alloc_deeper)
#include "../../lib/ledger.h"

enum {
	COROUTINES = 100,
	STACK = 65536,
	PAGE = 4096,
	ROUNDS = 100,
	STACKS = COROUTINES * STACK,
	BETWEEN = 64 << 20,
	TRAPPED = 64 * PAGE,
	THREAD = 1 << 20,
};

/* from low to high, without gaps: the stacks, BETWEEN, TRAPPED, THREAD */
static char *stacks, *between, *trapped, *thread_stack;

static ucontext_t scheduler, coroutine[COROUTINES];
static int over;

SITE_FN static void *alloc_deeper(size_t n)
{
	return led_keep(malloc(n));
}

/* 40 frames of more than 200 bytes: several pages */
SITE_FN static void go_deeper(int depth, size_t n)
{
	char room[200];

	__asm__ volatile("" ::"r"(room) : "memory");
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

SITE_FN static void alloc_in_base(int k)
{
	for (size_t n = 1; !over; n++) {
		void *p = led_keep(malloc(n));

		led_alloc(L_alloc_in_base, n);
		led_free(L_alloc_in_base, n);
		free(p);
		go_deeper((int)n % 40, n);
		swapcontext(&coroutine[k], &scheduler);
	}
}

static void make(int k)
{
	getcontext(&coroutine[k]);
	coroutine[k].uc_stack.ss_sp = stacks + (size_t)k * STACK;
	coroutine[k].uc_stack.ss_size = STACK;
	coroutine[k].uc_link = &scheduler;
	makecontext(&coroutine[k], (void (*)(void))alloc_in_base, 1, k);
}

/* Whoever touches a page waits for a handler that never comes. */
static void trap(void *p, size_t bytes)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
	    .range = {(uintptr_t)p, bytes}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0) /* not for everybody: a fault in a system call fails then */
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1);
	if (fd < 0)
		return; /* the next mapping tells as well */
	led_check(!ioctl(fd, UFFDIO_API, &api), "UFFDIO_API");
	led_check(!ioctl(fd, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
}

static size_t resident(void *p, size_t bytes)
{
	static unsigned char in_core[BETWEEN / PAGE];
	size_t n = 0;

	led_check(!mincore(p, bytes, in_core), "mincore");
	for (size_t i = 0; i < bytes / PAGE; i++)
		n += in_core[i] & 1;
	return n;
}

static char *place(char *at, size_t bytes, int flags)
{
	char *p = mmap(at, bytes, PROT_READ | PROT_WRITE,
	    flags | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	led_check(p == at, "mmap");
	return p;
}

static void place_all(void)
{
	char *all = mmap(NULL, STACKS + BETWEEN + TRAPPED + THREAD, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	led_check(all != MAP_FAILED, "mmap");
	stacks = place(all, STACKS, MAP_PRIVATE);
	between = place(stacks + STACKS, BETWEEN, MAP_SHARED);
	trapped = place(between + BETWEEN, TRAPPED, MAP_PRIVATE);
	thread_stack = place(trapped + TRAPPED, THREAD, MAP_PRIVATE);
	trap(trapped, TRAPPED);
}

static void *schedule(void *arg)
{
	for (int k = 0; k < COROUTINES; k++)
		make(k);
	for (int i = 0; i < ROUNDS; i++)
		for (int k = 0; k < COROUTINES; k++)
			swapcontext(&scheduler, &coroutine[k]);
	over = 1;
	led_check(resident(between, BETWEEN) == 0, "nothing is resident");
	return arg;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	place_all();
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, thread_stack, THREAD);
	led_check(!pthread_create(&thread, &attr, schedule, NULL), "thread");
	pthread_join(thread, NULL);
	led_print(1);
	return 0;
}
