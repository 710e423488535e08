/* syscall.h - x86-64: system calls without libc. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SYSCALL_H
#define SEEP_SYSCALL_H

#include "base/attr.h"

/*
 * Raw system calls. They change no errno and run no wrapper of another library.
 * The kernel's answer is returned as it is, -errno on failure.
 */
SEEP_INLINE long cpu_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
	                 : "=a"(ret)
	                 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return ret;
}

SEEP_INLINE long cpu_syscall3(long n, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall"
	                 : "=a"(ret)
	                 : "a"(n), "D"(a), "S"(b), "d"(c)
	                 : "rcx", "r11", "memory");
	return ret;
}

#endif
