/* cpu_x86_64.h - registers, raw system calls and one-instruction updates. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BASE_CPU_X86_64_H
#define SEEP_BASE_CPU_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

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
 * The same once more, in a branch that is seldom taken: so that the others
 * need no registers to keep it.
 */
#define CPU_CALLER_AGAIN(name) CPU_CALLER_READ(name, volatile uint64_t)

SEEP_INLINE uint64_t
cpu_thread_pointer(void)
{
	uint64_t tp;

	__asm__("mov %%fs:0, %0" : "=r"(tp));
	return tp;
}

/*
 * The block that holds this thread's table of TLS blocks (glibc's dtv): the
 * table has a head of one entry before it, which is where the block begins.
 */
SEEP_INLINE const void *
cpu_dtv_block(void)
{
	const char *dtv;

	__asm__("mov %%fs:8, %0" : "=r"(dtv));
	return dtv - 16;
}

/*
 * Add in one instruction: atomic against signals on this thread, not against
 * other CPUs. A forked child whose copy of the word was wiped half-way ends
 * with a value that is neither READY nor BUSY, never with READY.
 */
SEEP_INLINE void
cpu_add_local(uint32_t *word, int32_t by)
{
	__asm__ volatile("addl %1, %0"
	                 : "+m"(*word)
	                 : "ir"(by)
	                 : "memory", "cc");
}

/* Likewise for a counter that only this thread writes and others read. */
SEEP_INLINE void
cpu_add_counter(uint64_t *word, uint64_t by)
{
	__asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(by) : "cc");
}

/* Adds to a counter of one byte and says whether it went round. */
SEEP_INLINE bool
cpu_add_goes_round(uint8_t *counter, uint8_t by)
{
	bool carry;

	__asm__ volatile("addb %2, %0"
	                 : "+m"(*counter), "=@ccc"(carry)
	                 : "iq"(by));
	return carry;
}

/* Takes `by` off a word, 1 if it is 0, and says whether it is below 0 now. */
SEEP_INLINE bool
cpu_spend(int64_t *word, uint64_t by)
{
	bool negative;

	__asm__ volatile("cmpq $1, %2\n\tsbbq %2, %0"
	                 : "+m"(*word), "=@ccs"(negative)
	                 : "r"(by));
	return negative;
}

/*
 * Writes a word as it is, in one instruction. A page that is read first and
 * written then faults twice: once for the zero page, once for its own.
 */
SEEP_INLINE void
cpu_touch(uint64_t *word)
{
	__asm__ volatile("orq $0, %0" : "+m"(*word) : : "cc");
}

/*
 * Raw system calls: no errno is touched and no other library's wrapper is
 * run. The kernel's answer comes back as it is: -errno on failure.
 */
SEEP_INLINE long
cpu_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile(
	    "syscall"
	    : "=a"(ret)
	    : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	    : "rcx", "r11", "memory");
	return ret;
}

SEEP_INLINE long
cpu_syscall3(long n, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall"
	                 : "=a"(ret)
	                 : "a"(n), "D"(a), "S"(b), "d"(c)
	                 : "rcx", "r11", "memory");
	return ret;
}

/* What was read before is older than what is read after: here it always is. */
SEEP_INLINE void
cpu_order_loads(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Does this thread have a shadow stack (CET)? A no-op on CPUs without. */
SEEP_INLINE bool
cpu_has_shadow_stack(void)
{
	uint64_t pointer = 0;

	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" /* rdsspq %rax */
	                 : "+a"(pointer));
	return pointer != 0;
}

SEEP_INLINE void
cpu_pause(void)
{
	__asm__ volatile("pause");
}

#endif
