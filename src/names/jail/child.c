/* child.c - waits for the end of a child process, or kills it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jail/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "kit/os/clock.h"

enum { KILLED_MS = 1000 };

#define MS UINT64_C(1000000) /* in ns */

static bool has_ended(pid_t pid, unsigned ms, int *ret_status)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + ms * MS;
	struct timespec pause = {.tv_nsec = 20000};

	for (;;) {
		pid_t got = waitpid(pid, ret_status, WNOHANG);

		/* an error: somebody else has already waited for it */
		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		if (clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < (long)(10 * MS))
			pause.tv_nsec *= 2;
	}
}

bool child_end(pid_t pid, unsigned grace_ms, int *ret_status)
{
	if (grace_ms > 0 && has_ended(pid, grace_ms, ret_status))
		return true;
	(void)kill(pid, SIGKILL);
	return has_ended(pid, KILLED_MS, ret_status);
}
