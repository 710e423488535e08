/* faulty_world.c - a little of everything that makes the collector call the kernel; counts are exact, or losses are stated. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define SITES(X) X(alloc_path) X(alloc_in_thread) X(alloc_in_child)
#include "../lib/ledger.h"
#include "../lib/many_stacks.h"

enum { BITS = 9 }; /* 2^BITS stacks: tables grow */

static int errno_changed;

SITE_FN static void *alloc_path(size_t n)
{
	return led_keep(malloc(n));
}

SITE_FN static void *alloc_in_thread(size_t n)
{
	return led_keep(malloc(n));
}

SITE_FN static void *alloc_in_child(size_t n)
{
	return led_keep(malloc(n));
}

/* errno is the host's, also while our own calls fail (T06) */
static void one(void *(*alloc)(size_t), int site, size_t n)
{
	errno = 4321;
	void *p = alloc(n);

	led_check(p, "malloc");
	led_alloc(site, n);
	if (n % 3) {
		led_free(site, n);
		free(p);
	}
	errno_changed += errno != 4321;
}

SITE_FN static void one_by_path(size_t path)
{
	one(alloc_path, L_alloc_path, path);
}

static void *work(void *arg)
{
	for (size_t n = 0; n < 500; n++)
		one(alloc_in_thread, L_alloc_in_thread, n);
	return arg;
}

/* from its 64th event on a child has a segment of its own */
static void child(struct led_site *books)
{
	led_reset();
	for (size_t n = 0; n < 300; n++)
		one(alloc_in_child, L_alloc_in_child, n);
	memcpy(books, led, sizeof(led));
	exit(errno_changed ? 7 : 0);
}

int main(void)
{
	struct led_site *books =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t t;
	int status = -1;

	for (unsigned path = 0; path < 1u << BITS; path++)
		many_stacks_call(path, BITS, one_by_path);
	led_check(!pthread_create(&t, NULL, work, NULL), "pthread_create");
	pthread_join(t, NULL);
	void *lib = dlopen("libm.so.6", RTLD_NOW);

	led_check(lib, "dlopen");
	dlclose(lib);
	pid_t pid = fork();

	if (pid == 0)
		child(books);
	waitpid(pid, &status, 0);
	printf("child %d errno changed %d\n", status, errno_changed);
	fflush(stdout);
	work(NULL);
	led_print(1);
	led_print_pid(1, pid);
	for (int k = 0; k < LED_SITES; k++) {
		books[k].name = led[k].name;
		led_print_site(1, &books[k]);
	}
	return 0;
}
