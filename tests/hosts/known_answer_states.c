/* known_answer_states.c - a host in a state that is seldom thought of: its 100 lost blocks are LEAK, its 100 held ones are not. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_answer_states WHAT [N]: prints lines as known_answer does, and waits for
 * the end of its input.
 *	threads N	has N threads
 *	mappings N	has N mappings
 *	locked		has all its memory locked
 *	limited		has a limit of its address space
 *	huge		holds blocks in memory of huge pages
 *	deleted		holds blocks in a shared file that is deleted
 *	guarded		holds blocks between guard pages (MADV_GUARD_INSTALL)
 *	lazy		holds blocks in pages that may be freed (MADV_FREE)
 *	secret		holds blocks in memory that no other may read (memfd_secret)
 *	file PATH	holds blocks in this file, which is shared
 *	strict		may only read, write and exit (seccomp)
 *	forks		forks without end
 *	new_threads	starts and ends threads without end
 */
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/scrub.h"

enum { N = 100, SIZE = 72, HUGE_BYTES = 8 << 20, STACK_BYTES = 32 << 10 };

#define OWN __attribute__((noinline, noclone, no_icf))

static OWN void *k_lost(void)
{
	char *volatile p = malloc(SIZE); /* volatile: else this is a jump */

	return p;
}

static OWN void *k_held(void)
{
	char *volatile p = malloc(SIZE + 8);

	return p;
}

void *held[N];
void **elsewhere;

static OWN void make(void)
{
	for (int i = 0; i < N; i++) {
		(void)k_lost();
		held[i] = k_held();
	}
}

static void move_to(void *where)
{
	elsewhere = where;
	memcpy(elsewhere, held, sizeof(held));
	memset(held, 0, sizeof(held));
}

static void *wait_for_ever(void *arg)
{
	(void)pause();
	return arg;
}

static void *end_at_once(void *arg)
{
	return arg;
}

static void start_threads(unsigned long count)
{
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_BYTES);
	for (unsigned long i = 0; i < count; i++)
		if (pthread_create(&t, &small, wait_for_ever, NULL) != 0)
			exit(77);
}

static void make_mappings(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		if (mmap(NULL, 4096, PROT_READ | (i % 2 ? PROT_WRITE : 0),
		        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			exit(77);
}

static void hold_in_deleted_file(void)
{
	char path[] = "/var/tmp/seep-known-answer-XXXXXX";
	int fd = mkstemp(path);
	void *p;

	if (fd < 0 || unlink(path) != 0 || ftruncate(fd, 1 << 20) != 0)
		abort();
	p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		abort();
	close(fd);
	move_to(p);
}

static void *map_shared(int fd)
{
	void *p = MAP_FAILED;

	if (fd >= 0)
		p = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		exit(77);
	return p;
}

/* Older kernels have no guard pages, and nothing is special then. */
static void hold_between(int advice)
{
	enum { PAGE = 4096, PAGES = 16 };
	char *p =
	    mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	move_to(p + 4 * PAGE);
	if (advice == MADV_FREE) {
		(void)madvise(p, PAGES * PAGE, advice);
		return;
	}
	(void)madvise(p, 4 * PAGE, advice);
	(void)madvise(p + 5 * PAGE, 4 * PAGE, advice);
}

static void hold_in_secret_memory(void)
{
	int fd = (int)syscall(447, 0); /* memfd_secret */

	if (fd < 0) {
		printf("CASE k_no_secret held 0\n"); /* the kernel has none */
		return;
	}
	if (ftruncate(fd, 1 << 16) != 0)
		abort();
	move_to(map_shared(fd));
}

static void hold_in_huge_pages(void)
{
	char *p = aligned_alloc(2 << 20, HUGE_BYTES);

	if (!p)
		abort();
	(void)madvise(p, HUGE_BYTES, MADV_HUGEPAGE);
	memset(p, 1, HUGE_BYTES);
	move_to(p + HUGE_BYTES / 2);
}

static void enter(const char *what, const char *word)
{
	const unsigned long count = strtoul(word, NULL, 10);
	const struct rlimit limit = {UINT64_C(1) << 30, UINT64_C(1) << 30};

	if (strcmp(what, "threads") == 0)
		start_threads(count);
	if (strcmp(what, "mappings") == 0)
		make_mappings(count);
	if (strcmp(what, "locked") == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		exit(77);
	if (strcmp(what, "limited") == 0 && setrlimit(RLIMIT_AS, &limit) != 0)
		exit(77);
	if (strcmp(what, "huge") == 0)
		hold_in_huge_pages();
	if (strcmp(what, "deleted") == 0)
		hold_in_deleted_file();
	if (strcmp(what, "guarded") == 0)
		hold_between(102); /* MADV_GUARD_INSTALL */
	if (strcmp(what, "lazy") == 0)
		hold_between(MADV_FREE);
	if (strcmp(what, "secret") == 0)
		hold_in_secret_memory();
	if (strcmp(what, "file") == 0)
		move_to(map_shared(open(word, O_RDWR | O_CLOEXEC)));
}

/* Does something without end, if it is to; in a thread of its own. */
static void *go_on(void *arg)
{
	const char *what = arg;

	while (strcmp(what, "forks") == 0) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		(void)waitpid(child, NULL, 0);
	}
	while (strcmp(what, "new_threads") == 0) {
		pthread_t t;

		if (pthread_create(&t, NULL, end_at_once, NULL) == 0)
			pthread_join(t, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t t;
	char byte;

	make();
	enter(what, argc > 2 ? argv[2] : "0");
	if (strcmp(what, "forks") == 0 || strcmp(what, "new_threads") == 0)
		if (pthread_create(&t, NULL, go_on, argv[1]) != 0)
			abort();
	scrub();
	printf("CASE k_lost lost %d\nCASE k_held held %d\n", N, N);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (strcmp(what, "strict") == 0)
		(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
