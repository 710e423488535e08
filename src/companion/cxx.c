/* cxx.c - libseep-cxx.so: operator new and delete of other allocators. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "companion/companion.h"
#include "format/format.h"

/*
 * libstdc++'s operators call malloc, so libseep.so sees them there. jemalloc,
 * tcmalloc and mimalloc serve operator new themselves, and for a host with one
 * of them `seep record` preloads this library, too. It forwards to the next
 * definition, which throws bad_alloc through us as it would without us, and
 * reports the block to libseep.so. It is not preloaded for other hosts, because
 * a C host that loads C++ plugins with RTLD_LOCAL has no next definition that
 * we could find.
 */
extern void *malloc(size_t size);
extern void free(void *p);

typedef void *new_fn(size_t, size_t, size_t);
typedef void delete_fn(void *, size_t, size_t);

/* The operators by their mangled names. */
#define NEWS(X) \
	X(_Znwm) \
	X(_Znam) \
	X(_ZnwmRKSt9nothrow_t) \
	X(_ZnamRKSt9nothrow_t) \
	X(_ZnwmSt11align_val_t) \
	X(_ZnamSt11align_val_t) \
	X(_ZnwmSt11align_val_tRKSt9nothrow_t) \
	X(_ZnamSt11align_val_tRKSt9nothrow_t)
#define DELETES(X) \
	X(_ZdlPv) \
	X(_ZdaPv) \
	X(_ZdlPvm) \
	X(_ZdaPvm) \
	X(_ZdlPvRKSt9nothrow_t) \
	X(_ZdaPvRKSt9nothrow_t) \
	X(_ZdlPvSt11align_val_t) \
	X(_ZdaPvSt11align_val_t) \
	X(_ZdlPvmSt11align_val_t) \
	X(_ZdaPvmSt11align_val_t) \
	X(_ZdlPvSt11align_val_tRKSt9nothrow_t) \
	X(_ZdaPvSt11align_val_tRKSt9nothrow_t)

/* clang-format off */
#define NUMBER(name) NEXT_##name,
enum { NEWS(NUMBER) DELETES(NUMBER) NEXT_COUNT };

#define ENTRY(name) {NULL, #name},
static struct companion_next next[NEXT_COUNT] = {NEWS(ENTRY) DELETES(ENTRY)};
/* clang-format on */

__attribute__((constructor)) static void cxx_start(void)
{
	companion_start(next, NEXT_COUNT);
}

/*
 * The operators differ in their arguments. All arguments are passed on, even if
 * the next definition ignores some. If there is no next definition (no C++
 * run-time in this process), memory comes from malloc, without exceptions.
 */
SEEP_INLINE void *allocate(struct companion_next *to, size_t size, size_t b, size_t c,
    const struct cpu_frame *caller, uint32_t api)
{
	new_fn *call;
	void *p;

	COMPANION_NEXT(call, to);
	if (!call)
		return malloc(size);
	p = call(size, b, c);
	if (p && seep_cxx_allocated)
		seep_cxx_allocated(p, size, caller, api);
	return p;
}

SEEP_INLINE void release(struct companion_next *to, void *p, size_t b, size_t c, uint64_t pc)
{
	delete_fn *call;

	COMPANION_NEXT(call, to);
	if (!call) {
		free(p);
		return;
	}
	if (p && seep_cxx_freeing)
		seep_cxx_freeing(p, pc);
	call(p, b, c);
}

#define DEFINE_NEW(name) \
	SEEP_EXPORT void *name(size_t size, size_t b, size_t c); \
	SEEP_EXPORT void *name(size_t size, size_t b, size_t c) \
	{ \
		CPU_CALLER(caller); \
		return allocate(&next[NEXT_##name], size, b, c, &caller, \
		    #name[3] == 'a' ? SEG_API_NEW_ARRAY : SEG_API_NEW); \
	}
#define DEFINE_DELETE(name) \
	SEEP_EXPORT void name(void *p, size_t b, size_t c); \
	SEEP_EXPORT void name(void *p, size_t b, size_t c) \
	{ \
		release(&next[NEXT_##name], p, b, c, \
		    (uint64_t)(uintptr_t)__builtin_return_address(0)); \
	}

NEWS(DEFINE_NEW)
DELETES(DEFINE_DELETE)
