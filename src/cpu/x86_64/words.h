/* words.h - x86-64: updates of a word in one instruction, order, time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CPU_X86_64_WORDS_H
#define SEEP_CPU_X86_64_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

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
 * Writes a word as it is, in one instruction, and says whether it is 0. A page
 * that is read first and written then faults twice: once for the zero page,
 * once for its own.
 */
SEEP_INLINE bool
cpu_touch(uint64_t *word)
{
	bool is_zero;

	__asm__ volatile("orq $0, %0" : "+m"(*word), "=@ccz"(is_zero));
	return is_zero;
}

/* What was read before is older than what is read after: here it always is. */
SEEP_INLINE void
cpu_order_loads(void)
{
	__asm__ volatile("" : : : "memory");
}

SEEP_INLINE void
cpu_pause(void)
{
	__asm__ volatile("pause");
}

/* A number that differs from call to call: the cycle counter. */
SEEP_INLINE uint64_t
cpu_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
