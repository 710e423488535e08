/* cpu.h - what depends on the CPU: one file per architecture behind it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BASE_CPU_H
#define SEEP_BASE_CPU_H

#if defined(__x86_64__)
#include "base/cpu_x86_64.h"
#else
#error "seep's collector knows x86-64 only so far: add base/cpu_<arch>.h"
#endif

#endif
