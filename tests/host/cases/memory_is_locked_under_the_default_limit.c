/* memory_is_locked_under_the_default_limit.c - mlockall works for a small unprivileged program with a limit of 8 MiB, also in a forked child. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T94 */
/* also: mappings */
/* as: user */
/* ignore: other */
/* env: SEEP_LOG_POOL=1MiB */
/* the usual pool of 16 MiB is larger than this limit (docs/LOG.md) */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void try_flags(const char *who, int flags)
{
	void *volatile p = malloc(1000);

	free(p);
	printf("%s: mlockall(%d) %s\n", who, flags, mlockall(flags) ? strerror(errno) : "works");
	p = malloc(5000);
	printf("%s: malloc %s\n", who, p ? "works" : "fails");
	free(p);
	fflush(stdout);
	munlockall();
}

int main(void)
{
	struct rlimit r;
	int status;
	pid_t pid;

	getrlimit(RLIMIT_MEMLOCK, &r);
	if (r.rlim_cur < 8 << 20) {
		puts("the limit is lower than any distribution's");
		return 0;
	}
	r.rlim_cur = 8 << 20;
	setrlimit(RLIMIT_MEMLOCK, &r);
	try_flags("parent", MCL_CURRENT);
	try_flags("parent", MCL_CURRENT | MCL_FUTURE);
	pid = fork();
	if (pid == 0) {
		try_flags("child", MCL_CURRENT);
		try_flags("child", MCL_FUTURE);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}
