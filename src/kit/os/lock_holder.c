/* lock_holder.c - which process holds an flock() on a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/lock_holder.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* "1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF"; "->" before who waits. */
static bool is_of(const char *line, const struct stat *st, pid_t *ret_pid)
{
	char file[64], *at;
	int words = 3; /* before the pid */

	line = strstr(line, ": FLOCK ");
	if (!line)
		return false;
	for (line += 2; words > 0; words--) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	*ret_pid = (pid_t)strtol(line, &at, 10);
	(void)snprintf(file, sizeof(file), " %02x:%02x:%llu ", major(st->st_dev), minor(st->st_dev),
	    (unsigned long long)st->st_ino);
	return strncmp(at, file, strlen(file)) == 0;
}

pid_t lock_holder_find(const struct stat *st)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256];
	pid_t pid = 0;
	bool found = false;

	if (!f)
		return 0;
	while (!found && fgets(line, sizeof(line), f))
		found = is_of(line, st, &pid);
	(void)fclose(f);
	return found && pid > 0 ? pid : 0;
}
