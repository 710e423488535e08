/* weak_names.c - uses mallocx or tc_malloc if they exist, and says whether they work. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEAK __attribute__((weak))
extern void *mallocx(size_t size, int flags) WEAK;
extern void *rallocx(void *p, size_t size, int flags) WEAK;
extern size_t xallocx(void *p, size_t size, size_t extra, int flags) WEAK;
extern void dallocx(void *p, int flags) WEAK;
extern void sdallocx(void *p, size_t size, int flags) WEAK;
extern void *tc_malloc(size_t n) WEAK;
extern void *tc_calloc(size_t n, size_t size) WEAK;
extern void *tc_realloc(void *p, size_t n) WEAK;
extern void *tc_memalign(size_t align, size_t n) WEAK;
extern int tc_posix_memalign(void **ret, size_t align, size_t n) WEAK;
extern void *tc_new_aligned(size_t n, size_t align) WEAK;
extern void tc_delete_aligned(void *p, size_t align) WEAK;
extern void tc_free(void *p) WEAK;

static void check(int fine, const char *what)
{
	if (fine)
		return;
	printf("BROKEN %s\n", what);
	exit(1);
}

static int is(const char *p, char with, size_t n)
{
	while (n > 0)
		if (p[--n] != with)
			return 0;
	return 1;
}

/* freed blocks are not zero */
static void spoil(size_t n)
{
	char *p = malloc(n);

	memset(p, 0x55, n);
	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
}

static void use_jemalloc(void)
{
	for (size_t n = 1; n < 5000; n += 37) {
		char *p;

		spoil(n);
		p = mallocx(n, 0x40);
		check(p && is(p, 0, n), "mallocx, zero");
		memset(p, 3, n);
		p = rallocx(p, 2 * n, 10);
		check(p && (uintptr_t)p % 1024 == 0 && is(p, 3, n), "rallocx");
		check(xallocx(p, n, 0, 0) >= n, "xallocx");
		sdallocx(p, 2 * n, 10);
		spoil(3 * n);
		p = mallocx(n, 0x40 | 12);
		check(p && (uintptr_t)p % 4096 == 0 && is(p, 0, n), "aligned");
		p = rallocx(p, n + 1, 0);
		check(p && is(p, 0, n), "rallocx without alignment");
		dallocx(p, 0);
	}
	check(!mallocx(SIZE_MAX / 4, 0), "mallocx of too much");
	puts("mallocx works");
}

static void use_tcmalloc(void)
{
	for (size_t n = 1; n < 5000; n += 37) {
		char *p = tc_malloc(n);
		void *q = NULL;

		memset(p, 3, n);
		p = tc_realloc(p, 3 * n);
		check(p && is(p, 3, n), "tc_realloc");
		tc_free(p);
		spoil(n);
		p = tc_calloc(1, n);
		check(p && is(p, 0, n), "tc_calloc");
		tc_free(p);
		p = tc_memalign(512, n);
		check(p && (uintptr_t)p % 512 == 0, "tc_memalign");
		tc_free(p);
		check(!tc_posix_memalign(&q, 256, n) && q, "tc_posix_memalign");
		tc_free(q);
		p = tc_new_aligned(n, 128);
		check(p && (uintptr_t)p % 128 == 0, "tc_new_aligned");
		tc_delete_aligned(p, 128);
	}
	puts("tc_malloc works");
}

int main(void)
{
	if (mallocx)
		use_jemalloc();
	if (tc_malloc)
		use_tcmalloc();
	puts("end");
	return 0;
}
