/* sys.h - the system calls of the collector, without libc and errno. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SYS_H
#define SEEP_SYS_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

SEEP_INLINE int sys_failed(const void *p)
{
	return (uintptr_t)p > (uintptr_t)-4096;
}

/* The four calls that a hook may make (I3); also what malloc itself uses. */
SEEP_INLINE void *sys_mmap(void *at, size_t bytes, int prot, int flags, int fd, uint64_t offset)
{
	return (void *)cpu_syscall6(SYS_mmap, (long)at, (long)bytes, prot, flags, fd, (long)offset);
}

SEEP_INLINE long sys_munmap(void *p, size_t bytes)
{
	return cpu_syscall3(SYS_munmap, (long)p, (long)bytes, 0);
}

SEEP_INLINE long sys_madvise(void *p, size_t bytes, int advice)
{
	return cpu_syscall3(SYS_madvise, (long)p, (long)bytes, advice);
}

/*
 * Makes another view of shared pages, from the page at p on and of any length.
 * In this way a shared mapping can grow over its file without a descriptor.
 * NULL if the kernel refuses.
 */
SEEP_INLINE void *sys_view(void *p, size_t bytes)
{
	void *v = (void *)cpu_syscall6(SYS_mremap, (long)p, 0, (long)bytes, MREMAP_MAYMOVE, 0, 0);

	return sys_failed(v) ? NULL : v;
}

/*
 * For the start and a forked child's set-up only. Newer CPUs lack open, mkdir,
 * readlink and others, so all paths go through the *at forms.
 */
SEEP_INLINE long sys_call(long n, long a, long b, long c, long d)
{
	return cpu_syscall6(n, a, b, c, d, 0, 0);
}

SEEP_INLINE long sys_openat(long dir, const char *path, int flags, int mode)
{
	return sys_call(SYS_openat, dir, (long)path, flags, mode);
}

SEEP_INLINE long sys_mkdir(const char *path, int mode)
{
	return sys_call(SYS_mkdirat, AT_FDCWD, (long)path, mode, 0);
}

SEEP_INLINE long sys_readlink(const char *path, char *to, size_t bytes)
{
	return sys_call(SYS_readlinkat, AT_FDCWD, (long)path, (long)to, (long)bytes);
}

SEEP_INLINE long sys_close(long fd)
{
	return cpu_syscall3(SYS_close, fd, 0, 0);
}

SEEP_INLINE long sys_read(long fd, void *to, size_t bytes)
{
	return cpu_syscall3(SYS_read, fd, (long)to, (long)bytes);
}

#endif
