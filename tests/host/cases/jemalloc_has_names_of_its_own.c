/* jemalloc_has_names_of_its_own.c - mallocx and its kin do what jemalloc says and are counted to the byte, in threads and in a forked child. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -l:libjemalloc.so.2 */
/* companion: libseep-jemalloc.so */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SITES(X) \
	X(via_mallocx) \
	X(via_mallocx_aligned) \
	X(via_rallocx) \
	X(via_rallocx_aligned) \
	X(via_xallocx) \
	X(via_malloc)
#include "../../lib/ledger.h"

/* jemalloc/jemalloc.h, of a package that is not needed otherwise */
extern void *mallocx(size_t size, int flags);
extern void *rallocx(void *p, size_t size, int flags);
extern size_t xallocx(void *p, size_t size, size_t extra, int flags);
extern size_t sallocx(const void *p, int flags);
extern size_t nallocx(size_t size, int flags);
extern void dallocx(void *p, int flags);
extern void sdallocx(void *p, size_t size, int flags);
extern int mallctl(const char *name, void *old, size_t *old_bytes, void *new, size_t bytes);
#define ALIGN(bits)  (bits)
#define ZERO         0x40
#define TCACHE_NONE  (1 << 8) /* MALLOCX_TCACHE(-1) */
#define ARENA(index) ((int)((index) + 1) << 20)

enum { ROUNDS = 2000, THREADS = 3 };

SITE_FN static void *via_mallocx(size_t n, int flags)
{
	return led_keep(mallocx(n, flags));
}

SITE_FN static void *via_mallocx_aligned(size_t n, int flags)
{
	return led_keep(mallocx(n, flags));
}

SITE_FN static void *via_rallocx(void *p, size_t n, int flags)
{
	return led_keep(rallocx(p, n, flags));
}

SITE_FN static void *via_rallocx_aligned(void *p, size_t n, int flags)
{
	return led_keep(rallocx(p, n, flags));
}

SITE_FN static size_t via_xallocx(void *p, size_t n, size_t extra, int flags)
{
	size_t real = xallocx(p, n, extra, flags);

	led_keep(p);
	return real;
}

SITE_FN static void *via_malloc(size_t n)
{
	return led_keep(malloc(n));
}

static bool is_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static bool is_filled(const char *p, char with, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != with)
			return false;
	return true;
}

/* every flag, every way to free */
static void one_round(size_t n, int more)
{
	char *a = via_mallocx(n, more), *b, *c;

	led_alloc(L_via_mallocx, n);
	led_check(a && sallocx(a, 0) == nallocx(n, 0), "usable size");
	memset(a, 7, n);
	b = via_mallocx_aligned(n, ALIGN(9) | ZERO | more);
	led_alloc(L_via_mallocx_aligned, n);
	led_check(b && (uintptr_t)b % 512 == 0 && is_zero(b, n), "aligned");
	c = via_malloc(n);
	led_alloc(L_via_malloc, n);
	led_check(c, "malloc");

	a = via_rallocx(a, 3 * n, more);
	led_free(L_via_mallocx, n);
	led_alloc(L_via_rallocx, 3 * n);
	led_check(a && is_filled(a, 7, n), "rallocx keeps the contents");
	b = via_rallocx_aligned(b, 5 * n, ALIGN(12) | ZERO | more);
	led_free(L_via_mallocx_aligned, n);
	led_alloc(L_via_rallocx_aligned, 5 * n);
	led_check(b && (uintptr_t)b % 4096 == 0 && is_zero(b, 5 * n),
	    "rallocx with alignment and zeroes");

	sdallocx(a, 3 * n, more & TCACHE_NONE);
	led_free(L_via_rallocx, 3 * n);
	free(b); /* all of them free what all of them have allocated */
	led_free(L_via_rallocx_aligned, 5 * n);
	dallocx(c, 0);
	led_free(L_via_malloc, n);
}

/* A failure leaves the block as it was. */
static void failures(void)
{
	char *p = via_mallocx(5000, 0);

	led_alloc(L_via_mallocx, 5000);
	memset(p, 9, 5000);
	led_check(!mallocx(SIZE_MAX / 4, 0), "mallocx of too much");
	led_check(!rallocx(p, SIZE_MAX / 4, 0), "rallocx to too much");
	led_check(is_filled(p, 9, 5000), "the block after a failure");
	led_check(via_xallocx(p, 6000000, 0, 0) < 6000000, "xallocx fails");
	led_check(sallocx(p, 0) == nallocx(5000, 0), "its size");
	dallocx(p, 0);
	led_free(L_via_mallocx, 5000);
}

/* What fits into the size that the block really has, stays in place. */
static void in_place(void)
{
	char *p = via_mallocx(5000, 0);
	size_t real = sallocx(p, 0);

	led_alloc(L_via_mallocx, 5000);
	led_check(real > 5000, "a size class");
	led_check(via_xallocx(p, real, 0, 0) == real, "xallocx");
	led_free(L_via_mallocx, 5000);
	led_alloc(L_via_xallocx, real);
	/* of the extra bytes as many are counted as there are */
	led_check(via_xallocx(p, real - 10, 4, 0) == real, "xallocx, extra");
	led_free(L_via_xallocx, real);
	led_alloc(L_via_xallocx, real - 6);
	led_check(via_xallocx(p, real - 10, 10, 0) == real, "xallocx, more");
	led_free(L_via_xallocx, real - 6);
	led_alloc(L_via_xallocx, real);
	free(p);
	led_free(L_via_xallocx, real);
}

static void *work(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < ROUNDS; i++)
		one_round(i % 700 + 1, i % 3 ? 0 : TCACHE_NONE);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	unsigned arena = 0;
	size_t bytes = sizeof(arena);
	int status = 0;
	pid_t child;

	led_check(!mallctl("arenas.create", &arena, &bytes, NULL, 0), "arena");
	for (size_t i = 0; i < ROUNDS; i++)
		one_round(i + 1, i % 5 ? 0 : ARENA(arena) | TCACHE_NONE);
	failures();
	in_place();
	for (int i = 0; i < THREADS; i++)
		led_check(!pthread_create(&threads[i], NULL, work, NULL), "");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	led_keep(via_mallocx(123, 0)); /* stays */
	led_alloc(L_via_mallocx, 123);

	child = fork();
	if (child == 0) {
		led_reset();
		for (size_t i = 0; i < ROUNDS; i++)
			one_round(i + 1, 0);
		led_print(1);
		exit(0);
	}
	waitpid(child, &status, 0);
	led_check(WIFEXITED(status) && !WEXITSTATUS(status), "child");
	led_print(1);
	led_say(1,
	    "API via_mallocx mallocx\nAPI via_rallocx rallocx\n"
	    "API via_xallocx xallocx\nAPI via_malloc malloc\n");
	return 0;
}
