/* foreign_child.c - ends helpers, and limits what they may do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/cpu/elf_machine.h"

#include "base/std.h"
#include "host/memory/foreign_parts.h"
#include "kit/os/callfilter.h"
#include "kit/os/helper.h"

enum {
	LEAVING_MOST = 16,
	LEFT_MOST = 4, /* helpers in D state, then no more are started */
	END_MS = 200   /* SIGKILL takes less, if it works at all */
};

static unsigned left_behind;

/* Killed, and not yet fetched: that can wait. */
static pid_t leaving[LEAVING_MOST];
static size_t leaving_count;

bool foreign_may_start(void)
{
	return left_behind < LEFT_MOST;
}

bool foreign_end(pid_t child)
{
	int status;

	(void)kill(child, SIGKILL);
	if (helper_wait(child, END_MS, &status))
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
