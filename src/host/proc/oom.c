/* oom.c - has the OOM killer of the kernel killed processes in our cgroup? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc/oom.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of the line "oom_kill N". */
static bool read_count(const char *path, uint64_t *ret)
{
	FILE *f = fopen(path, "re");
	char line[128];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		found = strncmp(line, "oom_kill ", 9) == 0;
		if (found)
			*ret = strtoull(line + 9, NULL, 10);
	}
	if (f)
		(void)fclose(f);
	return found;
}

/* /proc/self/cgroup: "0::/path" (v2) or "4:memory:/path" (v1). */
uint64_t oom_kills(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX], path[PATH_MAX + 64];
	uint64_t count = 0;

	while (f && fgets(line, sizeof(line), f)) {
		char *group = strchr(line, ':');
		char *at = group ? strchr(group + 1, ':') : NULL;

		if (!at)
			continue;
		*at++ = '\0';
		at[strcspn(at, "\n")] = '\0';
		if (strcmp(group, ":memory") == 0)
			snprintf(
			    path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.oom_control", at);
		else if (group[1] == '\0')
			snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.events", at);
		else
			continue;
		if (read_count(path, &count))
			break;
	}
	if (f)
		(void)fclose(f);
	return count;
}
