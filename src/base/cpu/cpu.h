/* cpu.h - what depends on the CPU; a new one is a new folder beside x86_64. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CPU_H
#define SEEP_CPU_H

#if defined(__x86_64__)
#include "base/cpu/x86_64/caller.h"
#include "base/cpu/x86_64/code.h"
#include "base/cpu/x86_64/syscall.h"
#include "base/cpu/x86_64/unwind.h"
#include "base/cpu/x86_64/cpu_words.h"
#else
#error "seep's collector knows x86-64 only so far: add cpu/<arch>/"
#endif

#endif
