/* map.c - libseep-map.so: mmap, mmap64, mremap and munmap of the host. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/attr.h"
#include "base/sys.h"
#include "base/cpu/cpu.h"
#include "collector/segment/loader.h"
#include "companion/companion.h"

/*
 * Each function calls the next definition, and libseep.so keeps the figures
 * (mapping.h). `seep record --mappings` preloads this library. Mappings that
 * libc makes for itself (malloc, the stacks of threads, the loader) and raw
 * system calls do not pass here.
 *
 * A call that comes before the next definition can be found, because we are not
 * relocated yet, is made by a system call.
 */
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* libseep.so's side. Weak, because we may be preloaded without it. */
extern void seep_map_mapped(void *p, size_t bytes, int flags, const struct cpu_frame *c) SEEP_WEAK;
extern int seep_map_unmap(void *p, size_t bytes, int (*unmap)(void *p, size_t bytes)) SEEP_WEAK;
extern void *seep_map_move(void *old, size_t old_bytes, size_t bytes, int flags, void *to,
    void *(*move)(void *old, size_t old_bytes, size_t bytes, int flags, void *to)) SEEP_WEAK;

/* Names of our own, because libc's header declares the functions already. */
SEEP_EXPORT void *map_mmap(
    void *at, size_t bytes, int prot, int flags, int fd, off_t offset) __asm__("mmap");
SEEP_EXPORT void *map_mmap64(
    void *at, size_t bytes, int prot, int flags, int fd, off64_t offset) __asm__("mmap64");
SEEP_EXPORT void *map_mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...) __asm__(
    "mremap");
SEEP_EXPORT int map_munmap(void *p, size_t bytes) __asm__("munmap");

enum { MMAP, MMAP64, MREMAP, MUNMAP, NEXT_COUNT };

static struct companion_next next[NEXT_COUNT] = {
    [MMAP] = {NULL, "mmap"},
    [MMAP64] = {NULL, "mmap64"},
    [MREMAP] = {NULL, "mremap"},
    [MUNMAP] = {NULL, "munmap"},
};

__attribute__((constructor)) static void map_start(void)
{
	int i;

	companion_enter();
	/* every libc has them, so dlsym allocates nothing */
	for (i = 0; i < NEXT_COUNT; i++)
		companion_resolve(&next[i]);
}

/* ---- without a next definition -------------------------------------------- */

/* The result of a system call, as libc returns it. */
static long as_libc(long result)
{
	if (!sys_failed((void *)result))
		return result;
	if (loader_is_relocated())
		errno = (int)-result;
	return -1;
}

static void *raw_mmap(void *at, size_t bytes, int prot, int flags, int fd, int64_t offset)
{
	return (void *)as_libc((long)sys_mmap(at, bytes, prot, flags, fd, (uint64_t)offset));
}

/* ---- hooks ---------------------------------------------------------------- */

SEEP_EXPORT void *map_mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	CPU_CALLER(c);
	__typeof__(&map_mmap) call;
	void *p;

	COMPANION_NEXT(call, &next[MMAP]);
	p = likely(call) ? call(at, bytes, prot, flags, fd, offset)
	                 : raw_mmap(at, bytes, prot, flags, fd, offset);
	if (p != MAP_FAILED && seep_map_mapped)
		seep_map_mapped(p, bytes, flags, &c);
	return p;
}

SEEP_EXPORT void *map_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	CPU_CALLER(c);
	__typeof__(&map_mmap64) call;
	void *p;

	COMPANION_NEXT(call, &next[MMAP64]);
	p = likely(call) ? call(at, bytes, prot, flags, fd, offset)
	                 : raw_mmap(at, bytes, prot, flags, fd, offset);
	if (p != MAP_FAILED && seep_map_mapped)
		seep_map_mapped(p, bytes, flags, &c);
	return p;
}

static int next_munmap(void *p, size_t bytes)
{
	__typeof__(&map_munmap) call;

	COMPANION_NEXT(call, &next[MUNMAP]);
	if (unlikely(!call))
		return (int)as_libc(sys_munmap(p, bytes));
	return call(p, bytes);
}

SEEP_EXPORT int map_munmap(void *p, size_t bytes)
{
	if (unlikely(!seep_map_unmap))
		return next_munmap(p, bytes);
	return seep_map_unmap(p, bytes, next_munmap);
}

static void *next_mremap(void *old, size_t old_bytes, size_t bytes, int flags, void *to)
{
	__typeof__(&map_mremap) call;

	COMPANION_NEXT(call, &next[MREMAP]);
	if (unlikely(!call))
		return (void *)as_libc(cpu_syscall6(
		    SYS_mremap, (long)old, (long)old_bytes, (long)bytes, flags, (long)to, 0));
	return call(old, old_bytes, bytes, flags, to);
}

SEEP_EXPORT void *map_mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	void *to = NULL;
	va_list more;

	if (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) {
		va_start(more, flags);
		to = va_arg(more, void *);
		va_end(more);
	}
	if (unlikely(!seep_map_move))
		return next_mremap(old, old_bytes, bytes, flags, to);
	return seep_map_move(old, old_bytes, bytes, flags, to, next_mremap);
}
