/* killed.c - four threads die in the middle of work: the report is off by at most one event per thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define SITES(X) X(thread_0) X(thread_1) X(thread_2) X(thread_3)
#include "../lib/ledger.h"

/*
 * killed kill|abort|exit|segv|leave FILE MICROSECONDS [THREADS [fork]]
 *
 * Each thread publishes in FILE what it has begun and what it has finished;
 * lib/inflight.py wants the report between the two. "leave" is exit(3) while
 * the others go on. "fork": all that happens in a child.
 */
enum { THREADS = 4, HELD = 64 };

/* stores reach a shared mapping in program order: x86, one writer each */
struct progress {
	_Atomic uint64_t begun[4]; /* allocations, bytes, frees, bytes */
	_Atomic uint64_t done[4];
};

static struct progress *progress;

#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		return led_keep(malloc(size_bytes)); \
	}
ALLOC_FN(thread_0)
ALLOC_FN(thread_1)
ALLOC_FN(thread_2)
ALLOC_FN(thread_3)

static void note(_Atomic uint64_t *two, size_t size_bytes)
{
	atomic_store_explicit(
	    &two[0], atomic_load_explicit(&two[0], memory_order_relaxed) + 1, memory_order_release);
	atomic_store_explicit(&two[1],
	    atomic_load_explicit(&two[1], memory_order_relaxed) + size_bytes, memory_order_release);
}

static void *work(void *arg)
{
	static void *(*const alloc[THREADS])(size_t) = {thread_0, thread_1, thread_2, thread_3};
	uintptr_t me = (uintptr_t)arg;
	struct progress *mine = &progress[me];
	uint64_t seed = 4711 + me;
	void *held[HELD] = {NULL};
	size_t size[HELD] = {0};

	for (;;) {
		size_t k = led_random(&seed) % HELD;

		if (held[k]) {
			note(&mine->begun[2], size[k]);
			free(held[k]);
			note(&mine->done[2], size[k]);
		}
		size[k] = led_random(&seed) % 300;
		note(&mine->begun[0], size[k]);
		held[k] = alloc[me](size[k]);
		note(&mine->done[0], size[k]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	long usec = atol(argv[3]);
	struct timespec nap = {usec / 1000000, usec % 1000000 * 1000};
	uintptr_t threads = argc > 4 ? strtoul(argv[4], NULL, 10) : THREADS;
	int fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	pthread_t t;

	led_check(fd >= 0 && !ftruncate(fd, 4096), "open");
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	led_check(progress != MAP_FAILED, "mmap");
	if (argc > 5 && fork() > 0)
		return wait(NULL) > 0 ? 0 : 1;
	led_print_pid(1, getpid());
	for (uintptr_t i = 0; i < threads && i < THREADS; i++)
		led_check(!pthread_create(&t, NULL, work, (void *)i), "pthread_create");
	nanosleep(&nap, NULL);
	switch (argv[1][0]) {
	case 'k':
		kill(getpid(), SIGKILL);
		break;
	case 'a':
		abort();
	case 's':
		*(volatile int *)0 = 1;
		break;
	case 'l':
		exit(0);
	default:
		_exit(0);
	}
	return 1;
}
