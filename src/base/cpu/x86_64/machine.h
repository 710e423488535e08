/* machine.h - x86-64: its names in ELF, seccomp and glibc; a stopped call. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MACHINE_H
#define SEEP_MACHINE_H

#include <elf.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <ucontext.h>

#include "base/attr.h"

#define CPU_NAME        "x86-64"           /* in messages */
#define CPU_LIBRARY_DIR "x86_64-linux-gnu" /* of Debian, below /lib */

enum { CPU_ELF_MACHINE = EM_X86_64 }; /* e_machine */

/* The stack pointer among the words of NT_PRSTATUS: rsp in sys/user.h. */
enum { CPU_STACK_POINTER_WORD = 19 };

/*
 * Words of a thread's control block, where the thread pointer points. Two of them
 * are its own address; thread-local storage is below it.
 */
enum { CPU_TCB_SELF_WORDS = 2, CPU_TCB_DTV_WORD = 1 };
#define CPU_TCB_SELF ((const int[CPU_TCB_SELF_WORDS]){0, 2})

#define CPU_AUDIT_ARCH AUDIT_ARCH_X86_64 /* seccomp_data.arch */

/*
 * The arguments of a system call that a filter has stopped with SIGSYS, and the
 * result that the interrupted code will see. `c` is the handler's context.
 */
enum { CPU_CALL_ARGS = 4 };

SEEP_INLINE void cpu_call_args(const ucontext_t *c, unsigned long ret_args[CPU_CALL_ARGS])
{
	const greg_t *r = c->uc_mcontext.gregs;

	ret_args[0] = (unsigned long)r[REG_RDI];
	ret_args[1] = (unsigned long)r[REG_RSI];
	ret_args[2] = (unsigned long)r[REG_RDX];
	ret_args[3] = (unsigned long)r[REG_R10];
}

SEEP_INLINE void cpu_call_answer(ucontext_t *c, long result)
{
	c->uc_mcontext.gregs[REG_RAX] = result;
}

/*
 * Does Valgrind simulate this process? These instructions are its client
 * request RUNNING_ON_VALGRIND; on a CPU they change nothing.
 */
SEEP_INLINE bool cpu_is_simulated(void)
{
	volatile unsigned long request[6] = {0x1001};
	unsigned long result = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
	                 "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
	                 "xchgq %%rbx, %%rbx"
	                 : "+d"(result)
	                 : "a"(&request[0])
	                 : "cc", "memory");
	return result != 0;
}

#endif
