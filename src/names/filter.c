/* filter.c - the system calls that are left in the jail. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "names/jail.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what)       BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE             RETURN(SECCOMP_RET_ERRNO | EPERM)
#define EQUAL(value, t, f) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), t, f)
#define ALLOW(number)      EQUAL(number, 0, 1), RETURN(SECCOMP_RET_ALLOW)
#define TRAP(number)       EQUAL(number, 0, 1), RETURN(SECCOMP_RET_TRAP)

/*
 * With one argument that must have a certain value. The kernel looks at the
 * lower half of these arguments alone, and so do we.
 */
#define ALLOW_WITH(number, argument, value) \
	EQUAL(number, 0, 4), LOAD(args[argument]), EQUAL(value, 0, 1), \
	    RETURN(SECCOMP_RET_ALLOW), REFUSE

/* Memory that cannot be executed; the protection is the third argument. */
#define ALLOW_DATA(number) \
	EQUAL(number, 0, 4), LOAD(args[2]), \
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0), \
	    RETURN(SECCOMP_RET_ALLOW), REFUSE

static const struct sock_filter program[] = {
    LOAD(arch),
    EQUAL(ARCH, 1, 0),
    RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    /* what libelf, libdw, zlib and malloc need to read and to compute */
    ALLOW(SYS_read),
    ALLOW(SYS_pread64),
    ALLOW(SYS_lseek),
    ALLOW(SYS_fstat),
    ALLOW(SYS_close),
    ALLOW_DATA(SYS_mmap),
    ALLOW_DATA(SYS_mprotect),
    ALLOW(SYS_munmap),
    ALLOW(SYS_mremap),
    ALLOW(SYS_madvise),
    ALLOW(SYS_brk),
    ALLOW(SYS_futex),
    ALLOW(SYS_getrandom),
    ALLOW(SYS_clock_gettime),
    /* answers and questions to the parent, and descriptors from it */
    EQUAL(SYS_write, 0, 5),
    LOAD(args[0]),
    EQUAL(JAIL_FD, 1, 0),
    EQUAL(FILTER_SANITIZED ? 2 : JAIL_FD, 0, 1),
    RETURN(SECCOMP_RET_ALLOW),
    REFUSE,
    ALLOW_WITH(SYS_recvmsg, 0, JAIL_FD),
    /* libelf asks whether a descriptor is one */
    EQUAL(SYS_fcntl, 0, 5),
    LOAD(args[1]),
    EQUAL(F_GETFL, 1, 0),
    EQUAL(F_GETFD, 0, 1),
    RETURN(SECCOMP_RET_ALLOW),
    REFUSE,
    /* not run: see trap.h */
    TRAP(SYS_openat),
    TRAP(SYS_newfstatat),
    TRAP(SYS_readlinkat),
#ifdef SYS_open
    TRAP(SYS_open),
    TRAP(SYS_readlink),
#endif
    ALLOW(SYS_rt_sigreturn),
    ALLOW(SYS_rt_sigprocmask), /* abort() */
    ALLOW(SYS_rt_sigaction),
    ALLOW(SYS_restart_syscall),
    ALLOW(SYS_exit),
    ALLOW(SYS_exit_group),
#if FILTER_SANITIZED
    ALLOW(SYS_getpid),
    ALLOW(SYS_gettid),
    ALLOW(SYS_sched_yield),
    ALLOW(SYS_sigaltstack),
#endif
    REFUSE,
};

/*
 * Valgrind runs inside of this process: it maps what it translates executable
 * and opens files, and dies of the filter. Its client request says so; on a
 * processor these instructions do nothing.
 */
static bool
is_simulated(void)
{
#if defined(__x86_64__)
	volatile unsigned long request[6] = {0x1001};
	unsigned long result = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
	                 "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
	                 "xchgq %%rbx, %%rbx"
	                 : "+d"(result)
	                 : "a"(&request[0])
	                 : "cc", "memory");
	return result != 0;
#else
	return false;
#endif
}

int
filter_install(void)
{
	const struct sock_fprog filter = {
	    .len = sizeof(program) / sizeof(program[0]),
	    .filter = (struct sock_filter *)(uintptr_t)program,
	};

	if (is_simulated())
		return -EOPNOTSUPP;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return -errno;
	return 0;
}

#else

int
filter_install(void)
{
	return -ENOSYS;
}

#endif
