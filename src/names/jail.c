/* jail.c - what the process that reads foreign files may do: very little. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

static void
limit(int what, rlim_t value)
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

/* Address space in use; a forked child begins with all of its parent's. */
static uint64_t
mapped_bytes(void)
{
	char text[128] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
close_all_but(int keep_fd)
{
	int most = 1024;

	if (keep_fd > 3)
		(void)syscall(SYS_close_range, 3, keep_fd - 1, 0);
	if (syscall(SYS_close_range, keep_fd + 1, ~0U, 0) == 0)
		return;
	for (int fd = 3; fd < most; fd++) /* before Linux 5.9 */
		if (fd != keep_fd)
			(void)close(fd);
}

#ifdef ARCH

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define ALLOW(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
	    RETURN(SECCOMP_RET_ALLOW)

/* All that libc, libelf, libdw and zlib need to read files and compute. */
static void
filter_calls(void)
{
	static const struct sock_filter program[] = {
	    LOAD(arch),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
	    RETURN(SECCOMP_RET_KILL_PROCESS),
	    LOAD(nr),
	    ALLOW(SYS_read),
	    ALLOW(SYS_pread64),
	    ALLOW(SYS_readv),
	    ALLOW(SYS_write),
	    ALLOW(SYS_writev),
	    ALLOW(SYS_close),
	    ALLOW(SYS_fstat),
	    ALLOW(SYS_newfstatat),
#ifdef SYS_stat
	    ALLOW(SYS_stat),
	    ALLOW(SYS_lstat),
	    ALLOW(SYS_readlink),
	    ALLOW(SYS_access),
#endif
	    ALLOW(SYS_statx),
	    ALLOW(SYS_readlinkat),
	    ALLOW(SYS_faccessat),
	    ALLOW(SYS_lseek),
	    ALLOW(SYS_fcntl),
	    ALLOW(SYS_mmap),
	    ALLOW(SYS_munmap),
	    ALLOW(SYS_mremap),
	    ALLOW(SYS_mprotect),
	    ALLOW(SYS_madvise),
	    ALLOW(SYS_brk),
	    ALLOW(SYS_futex),
	    ALLOW(SYS_getrandom),
	    ALLOW(SYS_clock_gettime),
	    ALLOW(SYS_sched_yield),
	    ALLOW(SYS_getpid),
	    ALLOW(SYS_gettid),
	    ALLOW(SYS_rt_sigreturn),
	    ALLOW(SYS_rt_sigprocmask),
	    ALLOW(SYS_rt_sigaction),
	    ALLOW(SYS_sigaltstack),
	    ALLOW(SYS_exit),
	    ALLOW(SYS_exit_group),
	    /* openat() for reading; open() is not what glibc calls */
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
	    LOAD(args[2]),
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
	        O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 1, 0),
	    RETURN(SECCOMP_RET_ALLOW),
	    RETURN(SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog filter = {
	    .len = sizeof(program) / sizeof(program[0]),
	    .filter = (struct sock_filter *)(uintptr_t)program,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

#else

static void
filter_calls(void)
{
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

#endif

void
jail_enter(int keep_fd, uint64_t memory_bytes, unsigned seconds)
{
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	close_all_but(keep_fd);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, 256);
	limit(RLIMIT_CPU, seconds);
	limit(RLIMIT_FSIZE, 0); /* a pipe is no file */
	if (!SANITIZED)
		limit(RLIMIT_AS, mapped_bytes() + memory_bytes);
	filter_calls();
}
