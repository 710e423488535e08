/* family.c - every function of the malloc family once, well and failing: only the outcome is counted. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -Wno-deprecated-declarations */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#define SITES(X) \
	X(via_malloc) \
	X(via_calloc) \
	X(via_realloc) \
	X(via_reallocarray) \
	X(via_memalign) \
	X(via_aligned_alloc) \
	X(via_posix_memalign) \
	X(via_valloc) \
	X(via_pvalloc)
#include "../lib/ledger.h"

#define FAMILY_FN(name, parameters, call) \
	SITE_FN static void *name parameters \
	{ \
		return led_keep(call); \
	}
FAMILY_FN(via_malloc, (size_t n), malloc(n))
FAMILY_FN(via_calloc, (size_t k, size_t n), calloc(k, n))
FAMILY_FN(via_realloc, (void *p, size_t n), realloc(p, n))
FAMILY_FN(via_reallocarray, (void *p, size_t k, size_t n), reallocarray(p, k, n))
FAMILY_FN(via_memalign, (size_t a, size_t n), memalign(a, n))
FAMILY_FN(via_aligned_alloc, (size_t a, size_t n), aligned_alloc(a, n))
FAMILY_FN(via_valloc, (size_t n), valloc(n))
FAMILY_FN(via_pvalloc, (size_t n), pvalloc(n))

SITE_FN static int via_posix_memalign(void **ret_p, size_t a, size_t n)
{
	int err = posix_memalign(ret_p, a, n);

	led_keep(*ret_p);
	return err;
}

static const size_t too_big = (size_t)1 << 62; /* in data: no warnings */
static void *kept[64];
static int kept_count;

/* every second block stays live, so that both halves of the books count */
static void book(void *p, int site, size_t size_bytes)
{
	led_check(p, led[site].name);
	led_alloc(site, size_bytes);
	if (++kept_count % 2) {
		led_free(site, size_bytes);
		free(p);
		return;
	}
	kept[kept_count % 64] = p;
}

static void all_succeed(size_t n)
{
	void *p = NULL;

	book(via_malloc(n), L_via_malloc, n);
	book(via_calloc(3, n), L_via_calloc, 3 * n);
	book(via_realloc(NULL, n), L_via_realloc, n);
	book(via_reallocarray(NULL, 5, n), L_via_reallocarray, 5 * n);
	book(via_memalign(256, n), L_via_memalign, n);
	book(via_memalign(48, n), L_via_memalign, n); /* glibc rounds up */
	book(via_memalign(4, n), L_via_memalign, n);
	book(via_aligned_alloc(64, n), L_via_aligned_alloc, n);
	led_check(via_posix_memalign(&p, 4096, n) == 0, "posix_memalign");
	book(p, L_via_posix_memalign, n);
	book(via_valloc(n), L_via_valloc, n);
	book(via_pvalloc(n), L_via_pvalloc, n); /* requested, not rounded */
}

static void all_fail(void)
{
	void *p = via_malloc(40), *unchanged = &p;

	led_alloc(L_via_malloc, 40);
	memset(p, 0x5a, 40);
	errno = 0;
	led_check(!via_malloc(too_big), "malloc 2^62");
	led_check(errno == ENOMEM, "errno of malloc");
	led_check(!via_calloc(too_big, 8), "calloc overflow");
	led_check(!via_calloc(2 * too_big, 2), "calloc(2^63, 2)");
	led_check(!via_realloc(p, too_big), "realloc 2^62");
	led_check(!via_reallocarray(p, too_big, 8), "reallocarray overflow");
	led_check(!via_memalign(64, too_big), "memalign 2^62");
	led_check(!via_aligned_alloc(64, too_big), "aligned_alloc 2^62");
	led_check(!via_valloc(too_big), "valloc 2^62");
	led_check(!via_pvalloc(too_big), "pvalloc 2^62");
	errno = 77;
	led_check(via_posix_memalign(&unchanged, 3, 8) == EINVAL, "align 3");
	led_check(errno == 77, "posix_memalign changed errno");
	led_check(via_posix_memalign(&unchanged, too_big, 8) == ENOMEM, "align 2^62");
	led_check(via_posix_memalign(&unchanged, 64, too_big) == ENOMEM, "posix_memalign 2^62");
	led_check(unchanged == &p, "posix_memalign wrote its result");
	led_check(((char *)p)[39] == 0x5a, "old block lost");
	p = via_realloc(p, 90); /* the old block must still be known */
	led_free(L_via_malloc, 40);
	led_alloc(L_via_realloc, 90);
	led_free(L_via_realloc, 90);
	free(p);
}

static void blocks_of_no_bytes(void)
{
	void *p = via_malloc(0), *q = via_malloc(0);

	led_check(p && q && p != q, "malloc(0) twice");
	for (int i = 0; i < 2; i++) {
		led_alloc(L_via_malloc, 0);
		led_free(L_via_malloc, 0);
	}
	free(p);
	free(q);
	free(NULL);
}

static void realloc_to_nothing(void)
{
	for (int i = 0; i < 1000; i++) {
		void *p = via_malloc(100);

		led_alloc(L_via_malloc, 100);
		led_free(L_via_malloc, 100);
		led_check(!via_realloc(p, 0), "glibc frees here");
		p = via_realloc(NULL, 0); /* a block of no bytes */
		led_check(p, "realloc(NULL, 0)");
		led_alloc(L_via_realloc, 0);
		p = via_reallocarray(p, 2, 10);
		led_free(L_via_realloc, 0);
		led_alloc(L_via_reallocarray, 20);
		led_free(L_via_reallocarray, 20);
		led_check(!via_reallocarray(p, 0, 8), "glibc frees here too");
	}
}

int main(void)
{
	led_complete = true;
	free(via_malloc(1 << 20)); /* one peak, and only one */
	led_alloc(L_via_malloc, 1 << 20);
	led_free(L_via_malloc, 1 << 20);
	for (size_t n = 1; n < 3000; n += 97)
		all_succeed(n);
	all_fail();
	realloc_to_nothing();
	blocks_of_no_bytes();
	led_print(1);
	led_say(1,
	    "API via_malloc malloc\nAPI via_calloc calloc\n"
	    "API via_realloc realloc\nAPI via_reallocarray reallocarray\n"
	    "API via_memalign memalign\nAPI via_aligned_alloc aligned_alloc\n"
	    "API via_posix_memalign posix_memalign\nAPI via_valloc valloc\n"
	    "API via_pvalloc pvalloc\n");
	return 0;
}
