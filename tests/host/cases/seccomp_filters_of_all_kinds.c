/* seccomp_filters_of_all_kinds.c - filters that kill, trap or refuse a call which the host's allocator does not need do no harm, whatever the collector calls. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T95 */
/* also: mappings */
/* seconds: 120 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/many_stacks.h"

static const struct {
	const char *name;
	int number;
} calls[] = {
    {"madvise", SYS_madvise},
    {"mprotect", SYS_mprotect},
    {"mremap", SYS_mremap},
    {"munmap", SYS_munmap},
};

static const struct {
	const char *name;
	uint32_t answer;
} actions[] = {
    {"kill", SECCOMP_RET_KILL_PROCESS},
    {"trap", SECCOMP_RET_TRAP},
    {"EPERM", SECCOMP_RET_ERRNO | EPERM},
    {"ENOMEM", SECCOMP_RET_ERRNO | ENOMEM},
    {"nothing", SECCOMP_RET_ERRNO | 0},
};

static int install(const struct sock_filter *code, size_t count)
{
	struct sock_fprog filter = {(unsigned short)count, (struct sock_filter *)code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int forbid(int number, uint32_t answer)
{
	const struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, answer),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return install(code, sizeof(code) / sizeof(code[0]));
}

/* What glibc's malloc needs in a program with one thread, and the end. */
static int allow_malloc(uint32_t answer)
{
	static const int allowed[] = {
	    SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_write, SYS_exit_group, SYS_rt_sigreturn};
	struct sock_filter code[2 * sizeof(allowed) / sizeof(allowed[0]) + 2];
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	return install(code, n);
}

/* New stacks, and a heap that grows by 16 MiB; nothing is freed. */
static void work(void)
{
	for (int i = 0; i < 160; i++) {
		void *p = many_stacks(i, 7, 1000);

		if (p)
			memset(p, 1, 1000);
	}
	for (int i = 0; i < 16000; i++)
		many_stacks(5, 3, 1000);
}

static void try_filter(const char *call, const char *action, int number, uint32_t answer)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		/* as a program that has done its work for a while */
		for (int i = 0; i < 300; i++)
			free(many_stacks(i % 3, 2, 50));
		if (number < 0 ? allow_malloc(answer) : forbid(number, answer))
			_exit(77);
		work();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("%s: %s: %#x\n", call, action, status);
	fflush(stdout);
}

int main(void)
{
	for (size_t a = 0; a < sizeof(actions) / sizeof(actions[0]); a++) {
		for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++)
			try_filter(
			    calls[c].name, actions[a].name, calls[c].number, actions[a].answer);
		try_filter("all but malloc's", actions[a].name, -1, actions[a].answer);
	}
	return 0;
}
