/* cxx.c - libseep-cxx.so: operator new and delete of other allocators. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "cpu/cpu.h"
#include "collector/symbol.h"
#include "trace/format.h"

/*
 * libstdc++'s operators call malloc, and libseep.so sees them there. jemalloc,
 * tcmalloc and mimalloc serve operator new themselves; where one of them is
 * in charge, `seep record` preloads this library too. It forwards to the next
 * definition, which throws bad_alloc through us as it would without us, and
 * tells libseep.so. It is not preloaded elsewhere: a C host that loads C++
 * plugins with RTLD_LOCAL has no next definition that we could find.
 */
extern void *cxx_dlsym(void *handle, const char *name) SEEP_WEAK;
__asm__(".symver cxx_dlsym, dlsym@GLIBC_2.2.5");

extern void seep_cxx_allocated(const void *p, size_t size,
    const struct cpu_frame *c, uint32_t api) SEEP_WEAK;
extern void seep_cxx_freeing(const void *p, uint64_t pc) SEEP_WEAK;
extern void seep_cxx_library(const void *start, size_t bytes) SEEP_WEAK;
extern void *malloc(size_t size);
extern void free(void *p);

typedef void *new_fn(size_t, size_t, size_t);
typedef void delete_fn(void *, size_t, size_t);

/* One pointer per operator, by its mangled name, resolved at start. */
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

/* The linker's names for the first and the last byte of this library. */
extern const char __ehdr_start[] SEEP_HIDDEN;
extern const char _end[] SEEP_HIDDEN;

#define DECLARE(name) static void *next_##name;
NEWS(DECLARE)
DELETES(DECLARE)

static void *
resolve(void **slot, const char *name)
{
	void *p = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

	if (!p && cxx_dlsym) {
		p = cxx_dlsym((void *)-1L, name); /* RTLD_NEXT */
		__atomic_store_n(slot, p, __ATOMIC_RELEASE);
	}
	return p;
}

/*
 * dlsym for a name that is absent takes memory from the host's heap for its
 * error message: so each object behind us is asked first.
 */
static void
find_next(const struct link_map *us, void **slot, const char *name)
{
	const struct link_map *l;

	for (l = us->l_next; l; l = l->l_next) {
		if (symbol_is_defined(l, name)) {
			resolve(slot, name);
			return;
		}
	}
}

/* What is called before this constructor is looked up by its first call. */
__attribute__((constructor)) static void
cxx_start(void)
{
	const struct r_debug *debug =
	    cxx_dlsym ? cxx_dlsym(NULL, "_r_debug") : NULL;
	const struct link_map *us = debug ? debug->r_map : NULL;

	if (seep_cxx_library)
		seep_cxx_library(__ehdr_start,
		    (size_t)((uintptr_t)_end - (uintptr_t)__ehdr_start));
	while (us && us->l_ld != _DYNAMIC)
		us = us->l_next;
	if (!us)
		return;
#define RESOLVE(name) find_next(us, &next_##name, #name);
	NEWS(RESOLVE)
	DELETES(RESOLVE)
}

/*
 * The operators differ in their arguments; all are passed on, whether the
 * next one looks at them or not. Where there is no next one (no C++ run-time
 * in this process) memory comes from malloc, without exceptions.
 */
SEEP_INLINE void *
allocate(void **slot, const char *name, size_t size, size_t b, size_t c,
    const struct cpu_frame *caller, uint32_t api)
{
	void *fn = resolve(slot, name);
	new_fn *call;
	void *p;

	if (!fn)
		return malloc(size);
	memcpy(&call, &fn, sizeof(call));
	p = call(size, b, c);
	if (p && seep_cxx_allocated)
		seep_cxx_allocated(p, size, caller, api);
	return p;
}

SEEP_INLINE void
release(void **slot, const char *name, void *p, size_t b, size_t c, uint64_t pc)
{
	void *fn = resolve(slot, name);
	delete_fn *call;

	if (!fn) {
		free(p);
		return;
	}
	memcpy(&call, &fn, sizeof(call));
	if (p && seep_cxx_freeing)
		seep_cxx_freeing(p, pc);
	call(p, b, c);
}

#define DEFINE_NEW(name) \
	SEEP_EXPORT void *name(size_t size, size_t b, size_t c); \
	SEEP_EXPORT void *name(size_t size, size_t b, size_t c) \
	{ \
		CPU_CALLER(caller); \
		return allocate(&next_##name, #name, size, b, c, &caller, \
		    #name[3] == 'a' ? SEG_API_NEW_ARRAY : SEG_API_NEW); \
	}
#define DEFINE_DELETE(name) \
	SEEP_EXPORT void name(void *p, size_t b, size_t c); \
	SEEP_EXPORT void name(void *p, size_t b, size_t c) \
	{ \
		release(&next_##name, #name, p, b, c, \
		    (uint64_t)(uintptr_t)__builtin_return_address(0)); \
	}

NEWS(DEFINE_NEW)
DELETES(DEFINE_DELETE)
