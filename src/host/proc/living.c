/* living.c - a process whose first thread has ended is seen through another one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc/living.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The letter behind the name, which may contain anything; '\0': none. */
static char state_of(int directory, const char *name)
{
	char path[64], text[512], *end;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%.32s/stat", name);
	fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	if (!end || end[1] != ' ')
		return '\0';
	return end[2];
}

static bool has_ended(char state)
{
	return state == '\0' || state == 'Z' || state == 'X';
}

pid_t living_thread(pid_t pid)
{
	char path[64], name[16];
	const struct dirent *e;
	pid_t found = pid;
	DIR *tasks;

	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	(void)snprintf(path, sizeof(path), "/proc/%s/task", name);
	tasks = opendir(path);
	if (!tasks)
		return pid;
	if (has_ended(state_of(dirfd(tasks), name)))
		while (found == pid && (e = readdir(tasks)))
			if (isdigit((unsigned char)e->d_name[0]) &&
			    !has_ended(state_of(dirfd(tasks), e->d_name)))
				found = (pid_t)strtol(e->d_name, NULL, 10);
	(void)closedir(tasks);
	return found > 0 ? found : pid;
}
