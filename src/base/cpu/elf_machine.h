/* elf_machine.h - what the command must know of the CPU; the collector has cpu.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ELF_MACHINE_H
#define SEEP_ELF_MACHINE_H

#if defined(__x86_64__)
#include "base/cpu/x86_64/machine.h"
#else
#error "seep knows x86-64 only so far: add cpu/<arch>/"
#endif

#endif
