/* tcmalloc.c - libseep-tcmalloc.so: functions with names of tcmalloc's own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "companion/companion.h"
#include "format/format.h"

/*
 * gperftools has the malloc family and operator new under the names tc_malloc,
 * tc_new and so on, too. They are the same functions, so their blocks are
 * counted as those of malloc, operator new and so on.
 *
 * `seep record` preloads this library for programs that use libtcmalloc.so. A
 * child that does not use it inherits LD_PRELOAD, and finds tc_malloc here where
 * there is no next one. So that it works even then, it is made of malloc.
 */
extern void *malloc(size_t size);
extern void *calloc(size_t n, size_t size);
extern void *realloc(void *old, size_t size);
extern void *memalign(size_t align, size_t size);
extern int posix_memalign(void **ret, size_t align, size_t size);
extern void free(void *p);

typedef void *allocate_fn(size_t, size_t, size_t);
typedef void free_fn(void *, size_t, size_t);

/* Name, which argument is the size, which one the alignment (3: none). */
#define ALLOCATE(X) \
	X(tc_malloc, 0, 3, SEG_API_MALLOC) \
	X(tc_malloc_skip_new_handler, 0, 3, SEG_API_MALLOC) \
	X(tc_memalign, 1, 0, SEG_API_MEMALIGN) \
	X(tc_valloc, 0, 3, SEG_API_VALLOC) \
	X(tc_pvalloc, 0, 3, SEG_API_PVALLOC) \
	X(tc_new, 0, 3, SEG_API_NEW) \
	X(tc_new_nothrow, 0, 3, SEG_API_NEW) \
	X(tc_new_aligned, 0, 1, SEG_API_NEW) \
	X(tc_new_aligned_nothrow, 0, 1, SEG_API_NEW) \
	X(tc_newarray, 0, 3, SEG_API_NEW_ARRAY) \
	X(tc_newarray_nothrow, 0, 3, SEG_API_NEW_ARRAY) \
	X(tc_newarray_aligned, 0, 1, SEG_API_NEW_ARRAY) \
	X(tc_newarray_aligned_nothrow, 0, 1, SEG_API_NEW_ARRAY)
#define FREE(X) \
	X(tc_free) \
	X(tc_cfree) \
	X(tc_free_sized) \
	X(tc_delete) \
	X(tc_delete_nothrow) \
	X(tc_delete_sized) \
	X(tc_delete_aligned) \
	X(tc_delete_aligned_nothrow) \
	X(tc_delete_sized_aligned) \
	X(tc_deletearray) \
	X(tc_deletearray_nothrow) \
	X(tc_deletearray_sized) \
	X(tc_deletearray_aligned) \
	X(tc_deletearray_aligned_nothrow) \
	X(tc_deletearray_sized_aligned)

/* clang-format off */
#define NUMBER(name, ...) NEXT_##name,
enum { ALLOCATE(NUMBER) FREE(NUMBER) NEXT_CALLOC, NEXT_REALLOC,
	NEXT_POSIX_MEMALIGN, NEXT_COUNT };

#define ENTRY(name, ...) {NULL, #name},
static struct companion_next next[NEXT_COUNT] = {
	ALLOCATE(ENTRY) FREE(ENTRY) {NULL, "tc_calloc"}, {NULL, "tc_realloc"},
	{NULL, "tc_posix_memalign"}};
/* clang-format on */

__attribute__((constructor)) static void tcmalloc_start(void)
{
	companion_start(next, NEXT_COUNT);
}

/* All three arguments are passed on, even if the next definition takes one. */
SEEP_INLINE void *allocate(struct companion_next *to, const size_t args[3], int size, int align,
    const struct cpu_frame *c, uint32_t api)
{
	allocate_fn *call;
	void *p;

	COMPANION_NEXT(call, to);
	if (unlikely(!call))
		return align < 3 ? memalign(args[align], args[size]) : malloc(args[size]);
	p = call(args[0], args[1], args[2]);
	if (p && seep_next_allocated)
		seep_next_allocated(p, args[size], c, api);
	return p;
}

SEEP_INLINE void release(struct companion_next *to, void *p, size_t b, size_t c, uint64_t pc)
{
	free_fn *call;

	COMPANION_NEXT(call, to);
	if (unlikely(!call)) {
		free(p);
		return;
	}
	if (p && seep_next_freeing)
		seep_next_freeing(p, pc);
	call(p, b, c);
}

#define DEFINE_ALLOCATE(name, size, align, api) \
	SEEP_EXPORT void *name(size_t a, size_t b, size_t c); \
	SEEP_EXPORT void *name(size_t a, size_t b, size_t c) \
	{ \
		CPU_CALLER(caller); \
		const size_t args[3] = {a, b, c}; \
		return allocate(&next[NEXT_##name], args, size, align, &caller, api); \
	}
#define DEFINE_FREE(name) \
	SEEP_EXPORT void name(void *p, size_t b, size_t c); \
	SEEP_EXPORT void name(void *p, size_t b, size_t c) \
	{ \
		release(&next[NEXT_##name], p, b, c, \
		    (uint64_t)(uintptr_t)__builtin_return_address(0)); \
	}

ALLOCATE(DEFINE_ALLOCATE)
FREE(DEFINE_FREE)

SEEP_EXPORT void *tc_calloc(size_t n, size_t size);
SEEP_EXPORT void *tc_realloc(void *old, size_t size);
SEEP_EXPORT int tc_posix_memalign(void **ret, size_t align, size_t size);

SEEP_EXPORT void *tc_calloc(size_t n, size_t size)
{
	CPU_CALLER(c);
	__typeof__(&tc_calloc) call;
	void *p;

	COMPANION_NEXT(call, &next[NEXT_CALLOC]);
	if (unlikely(!call))
		return calloc(n, size);
	p = call(n, size);
	if (p && seep_next_allocated)
		seep_next_allocated(p, n * size, &c, SEG_API_CALLOC);
	return p;
}

static void *move(void *old, size_t size, size_t unused)
{
	__typeof__(&tc_realloc) call;

	(void)unused;
	COMPANION_NEXT(call, &next[NEXT_REALLOC]);
	return call(old, size);
}

SEEP_EXPORT void *tc_realloc(void *old, size_t size)
{
	CPU_CALLER(c);
	__typeof__(&tc_realloc) call;
	void *p;

	COMPANION_NEXT(call, &next[NEXT_REALLOC]);
	if (unlikely(!call))
		return realloc(old, size);
	if (old && seep_next_resize)
		return seep_next_resize(old, size, &c, SEG_API_REALLOC, move, 0);
	p = call(old, size);
	if (p && !old && seep_next_allocated)
		seep_next_allocated(p, size, &c, SEG_API_REALLOC);
	return p;
}

SEEP_EXPORT int tc_posix_memalign(void **ret, size_t align, size_t size)
{
	CPU_CALLER(c);
	__typeof__(&tc_posix_memalign) call;
	int err;

	COMPANION_NEXT(call, &next[NEXT_POSIX_MEMALIGN]);
	if (unlikely(!call))
		return posix_memalign(ret, align, size);
	err = call(ret, align, size);
	if (!err && seep_next_allocated)
		seep_next_allocated(*ret, size, &c, SEG_API_POSIX_MEMALIGN);
	return err;
}
