/* cpu.h - what depends on the CPU; a new one is a new folder beside x86_64. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CPU_H
#define SEEP_CPU_H

#include <stdint.h>

#include "base/attr.h"
#if defined(__x86_64__)
#include "base/cpu/x86_64/caller.h"
#include "base/cpu/x86_64/code.h"
#include "base/cpu/x86_64/syscall.h"
#include "base/cpu/x86_64/unwind.h"
#include "base/cpu/x86_64/cpu_words.h"
#else
#error "seep's collector knows x86-64 only so far: add cpu/<arch>/"
#endif

/* Where the page of this address begins. */
SEEP_INLINE uint64_t cpu_page_down(uint64_t at)
{
	return at & ~(uint64_t)(CPU_PAGE - 1);
}

/* The first page that does not begin before it; or bytes, in whole pages. */
SEEP_INLINE uint64_t cpu_page_up(uint64_t at)
{
	return cpu_page_down(at + CPU_PAGE - 1);
}

#endif
