/* cpu_words.h - x86-64: updates of a word in one instruction, order, time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CPU_WORDS_H
#define SEEP_CPU_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/*
 * Adds in one instruction, so a signal on this thread cannot come in between;
 * another CPU can. If a fork wipes the word between two calls, it ends with a
 * value that is neither READY nor BUSY.
 */
SEEP_INLINE void cpu_add_local(uint32_t *word, int32_t by)
{
	__asm__ volatile("addl %1, %0" : "+m"(*word) : "ir"(by) : "memory", "cc");
}

/* Likewise for a counter that only this thread writes and others read. */
SEEP_INLINE void cpu_add_counter(uint64_t *word, uint64_t by)
{
	__asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(by) : "cc");
}

/* Adds to a counter of one byte and says whether it overflowed. */
SEEP_INLINE bool cpu_add_goes_round(uint8_t *counter, uint8_t by)
{
	bool carry;

	__asm__ volatile("addb %2, %0" : "+m"(*counter), "=@ccc"(carry) : "iq"(by));
	return carry;
}

/*
 * Subtracts `by`, or 1 if that is 0, and says whether the word is below 0 now.
 */
SEEP_INLINE bool cpu_spend(int64_t *word, uint64_t by)
{
	bool negative;

	__asm__ volatile("cmpq $1, %2\n\tsbbq %2, %0" : "+m"(*word), "=@ccs"(negative) : "r"(by));
	return negative;
}

/*
 * Writes a word without changing it, in one instruction, and says whether it is
 * 0. A page that is read first and written later faults twice, once for the zero
 * page and once for its own.
 */
SEEP_INLINE bool cpu_touch(uint64_t *word)
{
	bool is_zero;

	__asm__ volatile("orq $0, %0" : "+m"(*word), "=@ccz"(is_zero));
	return is_zero;
}

/*
 * Returns the value, which the compiler must have in a register here. So a load
 * of it keeps its place among the other volatile operations, and is not moved
 * to where the value is needed.
 */
SEEP_INLINE uint64_t cpu_in_turn(uint64_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

/* Loads before this come before loads after it. On x86-64 that is always so. */
SEEP_INLINE void cpu_order_loads(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Zeroes so many words; much faster than a loop where they are in no cache. */
SEEP_INLINE void cpu_zero(uint64_t *to, uint64_t words)
{
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(UINT64_C(0)) : "memory");
}

SEEP_INLINE void cpu_pause(void)
{
	__asm__ volatile("pause");
}

/* The cycle counter, as a number that differs from call to call. */
SEEP_INLINE uint64_t cpu_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
