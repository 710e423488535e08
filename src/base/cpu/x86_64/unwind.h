/* unwind.h - x86-64: what unwinding must know about registers and stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UNWIND_H
#define SEEP_UNWIND_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/attr.h"

/*
 * DWARF's numbers of the registers that an unwind rule can express. BASE is
 * rbx, from which the loader computes its CFA while it binds a symbol lazily.
 */
enum { CPU_DWARF_BASE = 3, CPU_DWARF_FP = 6, CPU_DWARF_SP = 7, CPU_DWARF_RA = 16 };

/* A call leaves the return address right below the sp after the return. */
enum { CPU_RETURN_BYTES = 8 };

/*
 * The CFA of the lazy PLT, as the linker writes it: rsp + 8, plus 8 if the low
 * four bits of rip are at least 11.
 */
#define CPU_PLT_EXPRESSION \
	{ \
		0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 \
	}

SEEP_INLINE int64_t cpu_plt_cfa(uint64_t pc)
{
	return (pc & 15) >= 11 ? 16 : 8;
}

/* Where the kernel's rt_sigframe has registers of the interrupted code. */
enum {
	CPU_SIGNAL_FP = 120,
	CPU_SIGNAL_BASE = 128,
	CPU_SIGNAL_SP = 160,
	CPU_SIGNAL_PC = 168,
};

/* The stack pointer of a context that makecontext() has prepared. */
SEEP_INLINE uint64_t cpu_context_sp(const ucontext_t *c)
{
	return (uint64_t)c->uc_mcontext.gregs[REG_RSP];
}

/* Does this thread have a shadow stack (CET)? A no-op on CPUs without. */
SEEP_INLINE bool cpu_has_shadow_stack(void)
{
	uint64_t pointer = 0;

	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" /* rdsspq %rax */
	                 : "+a"(pointer));
	return pointer != 0;
}

#endif
