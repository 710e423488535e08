/* filter.c - the system calls that the jail may use. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/cpu/elf_machine.h"
#include "names/jail/jail.h"
#include "kit/os/callfilter.h"

#define REFUSE       CALLFILTER_RETURN(SECCOMP_RET_ERRNO | EPERM)
#define TRAP(number) CALLFILTER_EQUAL(number, 0, 1), CALLFILTER_RETURN(SECCOMP_RET_TRAP)

/* A call whose argument must have a certain value. */
#define ALLOW_WITH(number, argument, value) \
	CALLFILTER_EQUAL(number, 0, 4), CALLFILTER_LOAD(args[argument]), \
	    CALLFILTER_EQUAL(value, 0, 1), CALLFILTER_RETURN(SECCOMP_RET_ALLOW), REFUSE

/* Memory that cannot be executed: the third argument is the protection. */
#define ALLOW_DATA(number) \
	CALLFILTER_EQUAL(number, 0, 4), CALLFILTER_LOAD(args[2]), \
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0), \
	    CALLFILTER_RETURN(SECCOMP_RET_ALLOW), REFUSE

static const struct sock_filter program[] = {
    CALLFILTER_BEGIN(CPU_AUDIT_ARCH),
    /* needed by libelf, libdw, zlib and malloc to read and to compute */
    CALLFILTER_ALLOW(SYS_read),
    CALLFILTER_ALLOW(SYS_pread64),
    CALLFILTER_ALLOW(SYS_lseek),
    CALLFILTER_ALLOW(SYS_fstat),
    CALLFILTER_ALLOW(SYS_close),
    ALLOW_DATA(SYS_mmap),
    ALLOW_DATA(SYS_mprotect),
    CALLFILTER_ALLOW(SYS_munmap),
    CALLFILTER_ALLOW(SYS_mremap),
    CALLFILTER_ALLOW(SYS_madvise),
    CALLFILTER_ALLOW(SYS_brk),
    CALLFILTER_ALLOW(SYS_futex),
    CALLFILTER_ALLOW(SYS_getrandom),
    CALLFILTER_ALLOW(SYS_clock_gettime),
    /* answers and questions to the parent, and descriptors from it */
    CALLFILTER_EQUAL(SYS_write, 0, 5),
    CALLFILTER_LOAD(args[0]),
    CALLFILTER_EQUAL(JAIL_FD, 1, 0),
    CALLFILTER_EQUAL(FILTER_SANITIZED ? 2 : JAIL_FD, 0, 1),
    CALLFILTER_RETURN(SECCOMP_RET_ALLOW),
    REFUSE,
    ALLOW_WITH(SYS_recvmsg, 0, JAIL_FD),
    /* libelf checks whether a descriptor is open */
    CALLFILTER_EQUAL(SYS_fcntl, 0, 5),
    CALLFILTER_LOAD(args[1]),
    CALLFILTER_EQUAL(F_GETFL, 1, 0),
    CALLFILTER_EQUAL(F_GETFD, 0, 1),
    CALLFILTER_RETURN(SECCOMP_RET_ALLOW),
    REFUSE,
    /* these calls are not executed: see trap.h */
    TRAP(SYS_openat),
    TRAP(SYS_newfstatat),
    TRAP(SYS_readlinkat),
#ifdef SYS_open
    TRAP(SYS_open),
    TRAP(SYS_readlink),
#endif
    CALLFILTER_ALLOW(SYS_rt_sigreturn),
    CALLFILTER_ALLOW(SYS_rt_sigprocmask), /* abort() */
    CALLFILTER_ALLOW(SYS_rt_sigaction),
    CALLFILTER_ALLOW(SYS_restart_syscall),
    CALLFILTER_ALLOW(SYS_exit),
    CALLFILTER_ALLOW(SYS_exit_group),
#if FILTER_SANITIZED
    CALLFILTER_ALLOW(SYS_getpid),
    CALLFILTER_ALLOW(SYS_gettid),
    CALLFILTER_ALLOW(SYS_sched_yield),
    CALLFILTER_ALLOW(SYS_sigaltstack),
#endif
    REFUSE,
};

int filter_install(void)
{
	const struct sock_fprog filter = {
	    .len = sizeof(program) / sizeof(program[0]),
	    .filter = (struct sock_filter *)(uintptr_t)program,
	};

	/*
	 * Valgrind runs inside this process. It maps its translations as
	 * executable and opens files, so the filter would kill it.
	 */
	if (cpu_is_simulated())
		return -EOPNOTSUPP;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		return -errno;
	return 0;
}
