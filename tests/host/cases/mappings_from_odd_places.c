/* mappings_from_odd_places.c - mmap, mremap and munmap in handlers, after vfork and fork, under limits and in a sandbox: results and errno are the kernel's. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T109 */
/* also: mappings */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/sandbox.h"

enum { PAGE = 4096, RUNS = 300, MIB = 1 << 20 };

static volatile int handled, wrong;

static void *map(size_t pages)
{
	return mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Maps, cuts in the middle, moves and unmaps; what was written stays. */
static int turn(size_t pages)
{
	char *p = map(pages + 2), *q;

	if (p == MAP_FAILED)
		return 1;
	p[0] = 'a';
	p[(pages + 1) * PAGE] = 'z';
	if (munmap(p + PAGE, pages * PAGE))
		return 2;
	q = mremap(p, PAGE, 3 * PAGE, MREMAP_MAYMOVE);
	if (q == MAP_FAILED || q[0] != 'a' || q[2 * PAGE])
		return 3;
	if (p[(pages + 1) * PAGE] != 'z')
		return 4;
	return munmap(q, 3 * PAGE) || munmap(p + (pages + 1) * PAGE, PAGE);
}

static void handler(int sig)
{
	int saved = errno;

	(void)sig;
	errno = 99;
	wrong |= turn(5) || errno != 99;
	handled++;
	errno = saved;
}

/* Handlers that interrupt the same calls, on a small stack of their own. */
static void in_handlers(void)
{
	size_t bytes = 8192 + getauxval(AT_MINSIGSTKSZ);
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct itimerval often = {{0, 300}, {0, 300}}, never = {0};
	stack_t ss = {.ss_sp = map(8), .ss_size = bytes};

	sigaltstack(&ss, NULL);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < RUNS && !wrong) {
		errno = 55;
		wrong |= turn(70) || errno != 55;
		free(malloc((size_t)handled));
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("handlers: %s\n", wrong ? "wrong" : "fine");
}

static void said(const char *what, const void *result)
{
	printf("%s: %s\n", what, result == MAP_FAILED ? strerror(errno) : "no error");
}

static void errors(void)
{
	char *p = map(4);
	int file = open("/dev/null", O_RDONLY);

	said("no length", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	said("no kind", mmap(NULL, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0));
	said("no file", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 12345, 0));
	said("odd offset", mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 1));
	said("a device", mmap64(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, 0));
	said(
	    "too much", mmap(NULL, (size_t)1 << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	said("an odd address",
	    mmap((void *)4097, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	said("unmap at an odd address", munmap(p + 1, PAGE) ? MAP_FAILED : p);
	said("unmap nothing", munmap(p, 0) ? MAP_FAILED : p);
	said("unmap everything", munmap(p, ~(size_t)0) ? MAP_FAILED : p);
	said("unmap twice", munmap(p, PAGE) || munmap(p, PAGE) ? MAP_FAILED : p);
	said("move nothing", mremap(p, PAGE, PAGE * 2, MREMAP_MAYMOVE));
	said("move with no flag", mremap(p + PAGE, PAGE, (size_t)1 << 60, 0));
	said("move onto itself",
	    mremap(p + PAGE, PAGE * 2, PAGE * 2, MREMAP_MAYMOVE | MREMAP_FIXED, p + 2 * PAGE));
	said("shrink", mremap(p + PAGE, PAGE * 3, PAGE, 0));
	close(file);
	munmap(p + PAGE, PAGE);
}

static void ended(const char *what, pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	printf("%s: %d\n", what, status);
	fflush(stdout);
}

static void children(void)
{
	char *p = map(100);
	pid_t pid;

	p[0] = p[99 * PAGE] = 1;
	fflush(stdout);
	pid = vfork();
	if (pid == 0)
		_exit(turn(9));
	ended("vfork", pid);
	pid = fork();
	if (pid == 0)
		_exit(munmap(p + PAGE, 98 * PAGE) || turn(9) || p[0] != 1 || p[99 * PAGE] != 1 ||
		    munmap(p, 100 * PAGE));
	ended("fork", pid);
	pid = fork();
	if (pid == 0) {
		struct rlimit r = {64 * MIB, 64 * MIB};
		size_t n = 0;

		/* what is left is less than this, whatever the collector has */
		if (setrlimit(RLIMIT_AS, &r))
			_exit(1);
		while (map(256) != MAP_FAILED)
			n++;
		_exit(errno != ENOMEM || n > 64);
	}
	ended("limited", pid);
	pid = fork();
	if (pid == 0) {
		int bad = 0;

		if (!sandbox_enter())
			_exit(1);
		for (int i = 0; i < 3000; i++)
			bad |= turn((size_t)i % 300 + 1);
		_exit(bad);
	}
	ended("sandbox", pid);
	munmap(p, 100 * PAGE);
}

static volatile int stop;

static void *busy(void *unused)
{
	while (!stop)
		wrong |= turn(20);
	return unused;
}

/* A fork while other threads are in the middle of a call. */
static void forks_under_threads(void)
{
	pthread_t threads[3];
	int bad = 0, status;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, busy, NULL);
	for (int i = 0; i < 60; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(turn(20) || turn(200));
		waitpid(pid, &status, 0);
		bad |= status;
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("forks under threads: %d %d\n", bad, wrong);
}

int main(void)
{
	in_handlers();
	errors();
	children();
	forks_under_threads();
	return 0;
}
