/* foreign_child.c - starts and ends helpers, and limits what they may do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu/elf_machine.h"
#include "host/memory/foreign_parts.h"
#include "kit/os/callfilter.h"
#include "kit/os/clock.h"

enum {
	FIRST_FD = 3,
	ASIDE_FD = 64, /* above all descriptors that a helper keeps */
	LEAVING_MOST = 16,
	LEFT_MOST = 4,     /* helpers in D state, then no more are started */
	END_NS = 200000000 /* SIGKILL takes less, if it works at all */
};

static unsigned left_behind;

/* Killed, and not yet fetched: that can wait. */
static pid_t leaving[LEAVING_MOST];
static size_t leaving_count;

bool foreign_may_start(void)
{
	return left_behind < LEFT_MOST;
}

/*
 * Waits for the end of a child, at most until then, and fetches its status.
 * false: it still runs.
 */
static bool await_end(pid_t child, uint64_t until_ns, int *ret_status)
{
	const struct timespec nap = {.tv_nsec = 100000};

	for (;;) {
		pid_t got = waitpid(child, ret_status, WNOHANG);

		if (got == child || (got < 0 && errno != EINTR))
			return true;
		if (clock_ns(CLOCK_MONOTONIC) > until_ns)
			return false;
		(void)nanosleep(&nap, NULL);
	}
}

bool foreign_end(pid_t child)
{
	int status;

	(void)kill(child, SIGKILL);
	if (await_end(child, clock_ns(CLOCK_MONOTONIC) + END_NS, &status))
		return true;
	left_behind++;
	return false;
}

void foreign_dismiss(pid_t child)
{
	size_t kept = 0;
	int status;

	(void)kill(child, SIGKILL);
	for (size_t i = 0; i < leaving_count; i++)
		if (waitpid(leaving[i], &status, WNOHANG) == 0)
			leaving[kept++] = leaving[i];
	leaving_count = kept;
	if (leaving_count == LEAVING_MOST)
		(void)foreign_end(child);
	else if (waitpid(child, &status, WNOHANG) == 0)
		leaving[leaving_count++] = child;
}

static void close_above(int last)
{
	if (syscall(SYS_close_range, (unsigned)last + 1, ~0U, 0) == 0)
		return;
	for (int fd = last + 1; fd < 1024; fd++) /* before Linux 5.9 */
		(void)close(fd);
}

static void keep_descriptors(int *const *fds, size_t count)
{
	int next = FIRST_FD, null;

	/* first out of the way: one may have the number that another gets */
	for (size_t i = 0; i < count; i++)
		if (*fds[i] >= 0)
			*fds[i] = fcntl(*fds[i], F_DUPFD, ASIDE_FD);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < FIRST_FD; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			(void)close(fd);
	for (size_t i = 0; i < count; i++)
		if (*fds[i] >= 0)
			*fds[i] = dup2(*fds[i], next++);
	close_above(next - 1);
}

void foreign_enter(int *const *fds, size_t count)
{
	const struct rlimit none = {0, 0};
	sigset_t mask;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&mask);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)setrlimit(RLIMIT_CORE, &none); /* it would hold foreign memory */
	(void)prctl(PR_SET_DUMPABLE, 0);
	keep_descriptors(fds, count);
}

void foreign_confine(pid_t pid)
{
	struct sock_filter program[] = {
	    CALLFILTER_BEGIN(CPU_AUDIT_ARCH),
	    CALLFILTER_ALLOW(SYS_read),
	    CALLFILTER_ALLOW(SYS_pread64),
	    CALLFILTER_ALLOW(SYS_write),
	    CALLFILTER_ALLOW(SYS_clock_nanosleep),
	    CALLFILTER_ALLOW(SYS_clock_gettime),
	    CALLFILTER_ALLOW(SYS_getrusage),
	    CALLFILTER_ALLOW(SYS_exit_group),
	    CALLFILTER_EQUAL(SYS_ioctl, 0, 4),
	    CALLFILTER_LOAD(args[1]),
	    CALLFILTER_EQUAL((uint32_t)FOREIGN_PAGEMAP_SCAN, 0, 1),
	    CALLFILTER_RETURN(SECCOMP_RET_ALLOW),
	    CALLFILTER_RETURN(SECCOMP_RET_ERRNO | EPERM),
	    /* the low half of a pid is all of it */
	    CALLFILTER_EQUAL(SYS_process_vm_readv, 0, 3),
	    CALLFILTER_LOAD(args[0]),
	    CALLFILTER_EQUAL((uint32_t)pid, 0, 1),
	    CALLFILTER_RETURN(SECCOMP_RET_ALLOW),
	    CALLFILTER_RETURN(SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog filter = {
	    .len = sizeof(program) / sizeof(program[0]),
	    .filter = program,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
