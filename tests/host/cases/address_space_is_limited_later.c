/* address_space_is_limited_later.c - a program that sets RLIMIT_AS for itself gets the memory that it would get bare, except for the collector's share. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T92 */
/* also: mappings */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, LIMIT = 256 };

/* How many MiB there are, in blocks of this size. */
static int fill(size_t size)
{
	size_t total = 0;
	void *volatile p;

	while ((p = malloc(size)))
		total += size;
	return (int)(total / MIB);
}

/* In a child: what a limit leaves behind is of no use to others. */
static void try_size(size_t size, int least)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct rlimit r = {(rlim_t)LIMIT * MIB, (rlim_t)LIMIT * MIB};

		if (setrlimit(RLIMIT_AS, &r))
			_exit(2);
		_exit(fill(size) >= least ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	printf("blocks of %zu: %s\n", size, status ? "too few" : "enough");
	fflush(stdout);
}

int main(void)
{
	struct rlimit r = {(rlim_t)LIMIT * MIB, (rlim_t)LIMIT * MIB};

	/* of small blocks the live map has a quarter, and glibc a header each */
	try_size(1000, LIMIT * 7 / 10);
	try_size(40000, LIMIT * 95 / 100 - 8);
	try_size(300000, LIMIT * 95 / 100 - 8);
	setrlimit(RLIMIT_AS, &r);
	printf(
	    "in the first process: %s\n", fill(MIB) >= LIMIT * 95 / 100 - 8 ? "enough" : "too few");
	return 0;
}
