/* sandbox.h - a strict seccomp filter: what malloc itself needs, and no more. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_SANDBOX_H
#define SEEP_TESTS_SANDBOX_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * From here on any other system call kills the process, in all its threads.
 * Not even getpid is allowed: ask before. False: the kernel refused.
 */
static inline bool sandbox_enter(void)
{
	static const int allowed[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group, SYS_brk,
	    SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_futex, SYS_clone,
	    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn};
	enum { N = sizeof(allowed) / sizeof(allowed[0]) };
	struct sock_filter code[2 * N + 2];
	int used = 0;

	code[used++] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < N; i++) {
		code[used++] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1);
		code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	struct sock_fprog filter = {(unsigned short)used, code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	    !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
}

#endif
