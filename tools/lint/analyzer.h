/* analyzer.h - what clang-tidy, which sees one file at a time, must be told. */
/* SPDX-License-Identifier: Apache-2.0 */

/* fault_set() returns its second argument: an error stays an error. */
#if __has_include("kit/os/fault.h")
#include "kit/os/fault.h"
#define fault_set(f, err, ...) ((fault_set)(f, err, __VA_ARGS__), (err))
#endif

/* A system call writes through its pointers, which asm does not show. */
#if __has_include("base/cpu/cpu.h")
#include "base/cpu/cpu.h"
long analyzer_syscall(long n, ...);
#define cpu_syscall6 analyzer_syscall
#define cpu_syscall3 analyzer_syscall
#endif
