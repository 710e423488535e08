/* caller.h - x86-64: who called a hook, and which thread it is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CALLER_H
#define SEEP_CALLER_H

#include <stdint.h>

#include "base/attr.h"

/* The version of the symbols that glibc has had since it first ran here. */
#define CPU_GLIBC_FIRST "GLIBC_2.2.5"

enum { CPU_PAGE = 4096, CPU_ADDRESS_BITS = 47 };

/* Where a walk starts: the state of the function that called the hook. */
struct cpu_frame {
	uint64_t pc; /* return address into the caller */
	uint64_t sp; /* stack pointer right after the return */
	uint64_t fp; /* rbp of the caller */
};

#define CPU_CALLER_READ(name, word) \
	const word *name##_fp = __builtin_frame_address(0); \
	const struct cpu_frame name = { \
	    name##_fp[1], (uint64_t)(uintptr_t)(name##_fp + 2), name##_fp[0]}

/* Only in an exported hook itself: forces a frame pointer in that function. */
#define CPU_CALLER(name) CPU_CALLER_READ(name, uint64_t)

/*
 * The same once more, in a branch that is seldom taken, so that the other
 * branches need no registers to keep it.
 */
#define CPU_CALLER_AGAIN(name) CPU_CALLER_READ(name, volatile uint64_t)

SEEP_INLINE uint64_t cpu_thread_pointer(void)
{
	uint64_t tp;

	__asm__("mov %%fs:0, %0" : "=r"(tp));
	return tp;
}

/*
 * The block that holds this thread's table of TLS blocks (glibc's dtv). One
 * entry before the table is its head, where the block begins.
 */
SEEP_INLINE const void *cpu_dtv_block(void)
{
	const char *dtv;

	__asm__("mov %%fs:8, %0" : "=r"(dtv));
	return dtv - 16;
}

#endif
