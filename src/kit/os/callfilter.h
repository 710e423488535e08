/* callfilter.h - instructions from which seccomp programs are built. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CALLFILTER_H
#define SEEP_CALLFILTER_H

#include "base/std.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

/*
 * Elements of an array of struct sock_filter. A jump skips `t` or `f` of the
 * instructions that follow it; an ALLOW has two instructions. For most
 * arguments the kernel uses only the lower 32 bits, and so does
 * CALLFILTER_LOAD.
 */
#define CALLFILTER_LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define CALLFILTER_RETURN(what)       BPF_STMT(BPF_RET | BPF_K, (what))
#define CALLFILTER_EQUAL(value, t, f) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), t, f)
#define CALLFILTER_ALLOW(number) \
	CALLFILTER_EQUAL(number, 0, 1), CALLFILTER_RETURN(SECCOMP_RET_ALLOW)

/*
 * The beginning of a program: it kills the process if a call uses the ABI of
 * another CPU, then it loads the number of the call.
 */
#define CALLFILTER_BEGIN(arch_wanted) \
	CALLFILTER_LOAD(arch), CALLFILTER_EQUAL(arch_wanted, 1, 0), \
	    CALLFILTER_RETURN(SECCOMP_RET_KILL_PROCESS), CALLFILTER_LOAD(nr)

#endif
