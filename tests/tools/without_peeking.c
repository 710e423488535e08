/* without_peeking.c - runs a command that may not read the memory of other processes by process_vm_readv. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * usage: without_peeking COMMAND...
 * As where Yama forbids it: the call says EPERM. Yama also forbids to open
 * /proc/PID/mem, which a test does by a mount.
 */
int main(int argc, char **argv)
{
	struct sock_filter program[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {
	    .len = sizeof(program) / sizeof(program[0]), .filter = program};

	if (argc < 2)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return 1;
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
