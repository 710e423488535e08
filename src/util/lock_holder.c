/* lock_holder.c - which process holds an flock() on a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "util/lock_holder.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/sysmacros.h>

/* "1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF"; "->" before who waits. */
static bool
is_of(const char *line, const struct stat *st, int *ret_pid)
{
	unsigned major_number, minor_number;
	unsigned long long inode;

	return sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%llu", ret_pid,
	           &major_number, &minor_number, &inode) == 4 &&
	    major_number == major(st->st_dev) &&
	    minor_number == minor(st->st_dev) && inode == st->st_ino;
}

pid_t
lock_holder_find(const struct stat *st)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256];
	int pid = 0;
	bool found = false;

	if (!f)
		return 0;
	while (!found && fgets(line, sizeof(line), f))
		found = is_of(line, st, &pid);
	(void)fclose(f);
	return found && pid > 0 ? pid : 0;
}
