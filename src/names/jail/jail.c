/* jail.c - takes rights away from the process that reads foreign files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail/jail.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/cpu/elf_machine.h"
#include "kit/os/callfilter.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self  446
#endif

enum {
	NOBODY = 65534,
	DESCRIPTORS = 256,
	LANDLOCK_ALL = (1 << 13) - 1, /* every right of its first version */
};

/*
 * Above all ids that systems hand out. The pid is added, so that two of these
 * processes cannot signal each other, and no other process has the same id.
 */
#define OWN_ID UINT32_C(0xf0000000)

static void limit(int what, rlim_t value)
{
	struct rlimit r;

	if (getrlimit(what, &r) < 0)
		return;
	if (r.rlim_max != RLIM_INFINITY && value > r.rlim_max)
		value = r.rlim_max;
	r.rlim_cur = value;
	r.rlim_max = value;
	(void)setrlimit(what, &r);
}

/* Address space in use; a forked child starts with that of its parent. */
static uint64_t mapped_bytes(void)
{
	char text[128] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void close_from(unsigned first)
{
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
	for (unsigned fd = first; fd < 1024; fd++) /* before Linux 5.9 */
		(void)close((int)fd);
}

/* fd becomes JAIL_FD; 0 to 2 become /dev/null; all others are closed. */
static int keep_one_descriptor(int fd)
{
	int nowhere;

	if (fd != JAIL_FD && dup2(fd, JAIL_FD) < 0)
		return -errno;
	close_from(JAIL_FD + 1);
	nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++) {
		if (FILTER_SANITIZED && i == 2)
			continue;
		if (nowhere < 0 || dup2(nowhere, i) < 0)
			(void)close(i);
	}
	if (nowhere > JAIL_FD)
		close(nowhere);
	return 0;
}

static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {0};

	return syscall(SYS_capget, &head, sets) < 0 ||
	    (sets[0].effective | sets[0].permitted | sets[1].effective | sets[1].permitted) != 0;
}

/*
 * A user namespace may know no id but 0. Then only the capabilities are given
 * up, which are what makes root privileged.
 */
static int drop_privileges(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[2] = {0};
	const uid_t own = OWN_ID + (uid_t)getpid();

	if (geteuid() == 0) {
		(void)setgroups(0, NULL);
		/*
		 * FORTIFY requires the result to be used; has_capabilities()
		 * checks it below
		 */
		(void)!(setresgid(own, own, own) < 0 && setresgid(NOBODY, NOBODY, NOBODY) < 0);
		(void)!(setresuid(own, own, own) < 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0);
	}
	if (has_capabilities())
		(void)syscall(SYS_capset, &head, none);
	return has_capabilities() ? -EPERM : 0;
}

/*
 * Landlock is a second barrier behind the filter, which lets no file be opened
 * at all, and the first one if the kernel has no filters. Older kernels have
 * neither.
 */
static void forbid_files(void)
{
	const uint64_t rights = LANDLOCK_ALL;
	long fd = syscall(SYS_landlock_create_ruleset, &rights, sizeof(rights), 0);

	if (fd < 0)
		return;
	(void)syscall(SYS_landlock_restrict_self, fd, 0);
	close((int)fd);
}

static void default_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

int jail_enter(int fd, uint64_t memory_bytes, unsigned seconds)
{
	int err, worst;

	default_signals();
	worst = keep_one_descriptor(fd);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, DESCRIPTORS);
	limit(RLIMIT_CPU, seconds);
	limit(RLIMIT_FSIZE, 0); /* a socket is no file */
	if (!FILTER_SANITIZED)
		limit(RLIMIT_AS, mapped_bytes() + memory_bytes);
	/* this flag, if inherited, would make all readable memory executable */
	(void)personality(
	    (unsigned long)personality(0xffffffff) & ~(unsigned long)READ_IMPLIES_EXEC);
	err = drop_privileges();
	worst = worst < 0 ? worst : err;
	/* after the change of ids, which resets both settings */
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	err = trap_install(JAIL_FD);
	worst = worst < 0 ? worst : err;
	forbid_files();
	err = filter_install();
	return worst < 0 ? worst : err;
}

/* ---- filter: the system calls that the jail may use ---- */

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
    /* these calls are not executed: see jail.h */
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
