/* flown.c - threads note their own last events in a file: those of the flight recorder must be the same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * flown kill FILE MICROSECONDS THREADS   dies by SIGKILL after so long
 * flown end FILE EVENTS THREADS [fork]   _exit after so many events of each
 * flown rounds FILE EVENTS THREADS       the same with threads one by one
 *
 * With fork, the events are those of a child. FILE gets for each thread: tid,
 * number of events, and the last KEPT of them (struct noted); lib/flown.py
 * compares. An event is noted after it happened, so the recorder may have one
 * more of each thread if the process was killed.
 */
enum { KEPT = 1 << 14, HELD = 32, SHARED = 64, THREADS_MAX = 16 };

enum kind { ALLOC = 1, FREE, FROM, TO };

struct noted {
	uint64_t kind, address, size;
};

struct log {
	_Atomic uint64_t tid, count;
	struct noted at[KEPT];
};

static struct log *logs;
static _Atomic(void *) shared[SHARED]; /* blocks that any thread may free */
static uint64_t events;
static _Atomic int ready;

static void note(struct log *l, enum kind kind, uintptr_t address, size_t size)
{
	uint64_t n = atomic_load_explicit(&l->count, memory_order_relaxed);

	l->at[n % KEPT] = (struct noted){kind, (uint64_t)address, size};
	/* stores reach a shared mapping in program order */
	atomic_store_explicit(&l->count, n + 1, memory_order_release);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* The size is in the block, because another thread may free it. */
static void *make(struct log *l, size_t size, int how)
{
	size_t *p = how % 8 == 7 ? calloc(1, size)
	    : how % 8 == 6       ? aligned_alloc(64, size)
	                         : malloc(size);

	if (!p)
		abort();
	*p = size;
	note(l, ALLOC, (uintptr_t)p, size);
	return p;
}

static void drop(struct log *l, void *p)
{
	size_t size = *(size_t *)p;
	uintptr_t address = (uintptr_t)p;

	free(p);
	note(l, FREE, address, size);
}

static void *resize(struct log *l, void *p, size_t size)
{
	size_t was = *(size_t *)p;
	uintptr_t address = (uintptr_t)p;
	size_t *q = realloc(p, size);

	if (!q)
		abort();
	*q = size;
	/* not while the block is moved: the two events come together */
	note(l, FROM, address, was);
	note(l, TO, (uintptr_t)q, size);
	return q;
}

static void *work(void *arg)
{
	struct log *l = arg;
	uint64_t seed = (uint64_t)(l - logs) + 12345;
	void *held[HELD] = {0};

	atomic_store(&l->tid, (uint64_t)syscall(SYS_gettid));
	while (!events || atomic_load(&l->count) < events) {
		uint64_t r = next_random(&seed);
		void **at = &held[r % HELD];
		size_t size = 8 + r / 64 % 1000 * 8;

		if (!*at) {
			*at = make(l, size, (int)(r >> 20));
		} else if (r >> 12 & 1) {
			drop(l, *at);
			*at = NULL;
		} else if (r >> 13 & 1) {
			*at = resize(l, *at, size);
		} else {
			/* changes owner: whoever comes next frees it */
			void *other = atomic_exchange(&shared[r >> 14 & (SHARED - 1)], *at);

			*at = NULL;
			if (other)
				drop(l, other);
		}
	}
	atomic_fetch_add(&ready, 1);
	return NULL;
}

static void *work_and_stay(void *arg)
{
	work(arg);
	for (;;)
		pause();
	return NULL;
}

static void sleep_us(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	size_t bytes = THREADS_MAX * sizeof(struct log);
	pthread_t threads[THREADS_MAX];
	int count, fd, i, rounds;
	long number;

	if (argc < 5)
		return 2;
	number = atol(argv[3]);
	count = atoi(argv[4]);
	rounds = strcmp(argv[1], "rounds") == 0;
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || count > THREADS_MAX || ftruncate(fd, (off_t)bytes) < 0)
		return 2;
	logs = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (logs == MAP_FAILED)
		return 2;
	if (strcmp(argv[1], "kill") != 0)
		events = (uint64_t)number;
	if (argc > 5) {
		pid_t child = fork();
		int status = 0;

		if (child > 0) {
			(void)waitpid(child, &status, 0);
			return status != 0;
		}
	}
	printf("PID %d\n", (int)getpid());
	(void)fflush(stdout);
	for (i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, rounds ? work : work_and_stay, &logs[i]))
			return 2;
		if (rounds)
			pthread_join(threads[i], NULL);
	}
	if (!events) {
		for (i = 0; i < count; i++)
			while (!atomic_load(&logs[i].count))
				sleep_us(100);
		sleep_us(number);
		(void)kill(getpid(), SIGKILL);
	}
	while (atomic_load(&ready) < count)
		sleep_us(1000);
	_exit(0);
}
