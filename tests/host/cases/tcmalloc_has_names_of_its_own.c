/* tcmalloc_has_names_of_its_own.c - tc_malloc, tc_new and their kin work as always and are counted to the byte. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -l:libtcmalloc_minimal.so.4 */
/* companion: libseep-tcmalloc.so */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SITES(X) \
	X(via_malloc) \
	X(via_calloc) \
	X(via_realloc) \
	X(via_memalign) \
	X(via_posix_memalign) \
	X(via_valloc) \
	X(via_pvalloc) \
	X(via_skip) \
	X(via_new) \
	X(via_newarray) \
	X(via_new_aligned) \
	X(via_newarray_aligned)
#include "../../lib/ledger.h"

/* gperftools/tcmalloc.h, of a package that is not needed otherwise */
extern void *tc_malloc(size_t n);
extern void *tc_malloc_skip_new_handler(size_t n);
extern void *tc_calloc(size_t n, size_t size);
extern void *tc_realloc(void *p, size_t n);
extern void *tc_memalign(size_t align, size_t n);
extern int tc_posix_memalign(void **ret, size_t align, size_t n);
extern void *tc_valloc(size_t n);
extern void *tc_pvalloc(size_t n);
extern void *tc_new(size_t n);
extern void *tc_newarray(size_t n);
extern void *tc_new_aligned(size_t n, size_t align);
extern void *tc_newarray_aligned_nothrow(size_t n, size_t align, const void *nothrow);
extern void tc_free(void *p);
extern void tc_cfree(void *p);
extern void tc_free_sized(void *p, size_t n);
extern void tc_delete(void *p);
extern void tc_deletearray_sized(void *p, size_t n);
extern void tc_delete_aligned(void *p, size_t align);
extern void tc_deletearray_aligned_nothrow(void *p, size_t align, const void *nothrow);

enum { ROUNDS = 3000 };

/* FUNCTION, its call, how it is freed */
#define WAYS(X) \
	X(via_malloc, tc_malloc(n), tc_free(p)) \
	X(via_calloc, tc_calloc(1, n), tc_cfree(p)) \
	X(via_memalign, tc_memalign(256, n), free(p)) \
	X(via_valloc, tc_valloc(n), tc_free(p)) \
	X(via_skip, tc_malloc_skip_new_handler(n), tc_free_sized(p, n)) \
	X(via_new, tc_new(n), tc_delete(p)) \
	X(via_newarray, tc_newarray(n), tc_deletearray_sized(p, n)) \
	X(via_new_aligned, tc_new_aligned(n, 256), tc_delete_aligned(p, 256)) \
	X(via_newarray_aligned, tc_newarray_aligned_nothrow(n, 256, ""), \
	    tc_deletearray_aligned_nothrow(p, 256, ""))

#define ALLOCATE(name, call, end) \
	SITE_FN static void *name(size_t n) \
	{ \
		return led_keep(call); \
	}
WAYS(ALLOCATE)
ALLOCATE(via_pvalloc, tc_pvalloc(n), )

SITE_FN static void *via_realloc(void *p, size_t n)
{
	return led_keep(tc_realloc(p, n));
}

SITE_FN static void *via_posix_memalign(size_t n)
{
	void *p = NULL;
	int err = tc_posix_memalign(&p, 1024, n);

	return led_keep(err ? NULL : p);
}

#define ONE_ROUND(name, call, end) \
	do { \
		char *p = name(n); \
		led_alloc(L_##name, n); \
		led_check(p, #name); \
		memset(p, 1, n); \
		led_free(L_##name, n); \
		end; \
	} while (0);

static void moves(size_t n)
{
	char *p = via_realloc(NULL, n);

	led_alloc(L_via_realloc, n);
	led_check(p, "tc_realloc of NULL");
	memset(p, 5, n);
	p = via_realloc(p, 4 * n);
	led_free(L_via_realloc, n);
	led_alloc(L_via_realloc, 4 * n);
	led_check(p && p[0] == 5 && p[n - 1] == 5, "its contents");
	led_check(!tc_realloc(p, SIZE_MAX / 4), "tc_realloc to too much");
	led_check(p[0] == 5, "the block after a failure");
	led_check(!tc_realloc(p, 0), "tc_realloc to 0");
	led_free(L_via_realloc, 4 * n);
}

int main(void)
{
	for (size_t n = 1; n <= ROUNDS; n++) {
		void *p;

		WAYS(ONE_ROUND)
		moves(n);
		p = via_posix_memalign(n);
		led_alloc(L_via_posix_memalign, n);
		led_check(p && (uintptr_t)p % 1024 == 0, "posix_memalign");
		led_free(L_via_posix_memalign, n);
		tc_free(p);
	}
	led_check(!tc_malloc(SIZE_MAX / 4) && errno == ENOMEM, "ENOMEM");
	led_keep(via_pvalloc(100)); /* stays */
	led_alloc(L_via_pvalloc, 100);
	led_print(1);
	led_say(1,
	    "API via_malloc malloc\nAPI via_calloc calloc\n"
	    "API via_realloc realloc\nAPI via_memalign memalign\n"
	    "API via_posix_memalign posix_memalign\nAPI via_valloc valloc\n"
	    "API via_pvalloc pvalloc\nAPI via_skip malloc\n"
	    "API via_new operator new\nAPI via_newarray operator new[]\n"
	    "API via_new_aligned operator new\n"
	    "API via_newarray_aligned operator new[]\n");
	return 0;
}
