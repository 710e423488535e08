/* hostile_worker.c - a worker that has dropped its privileges takes away every shared page that it can reach, on a full medium; its master must live. */
/* SPDX-License-Identifier: Apache-2.0 */
/* usage: hostile_worker BALLAST fork|clone EVENTS: BALLAST is a file on the medium of the segments */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/many_stacks.h"

enum { NOBODY = 65534, MAPPINGS = 64 };

static void fill(int fd)
{
	static const char zeros[4096];

	while (write(fd, zeros, sizeof(zeros)) == sizeof(zeros))
		;
}

static int take_away(unsigned long from, unsigned long bytes)
{
	return mprotect((void *)from, bytes, PROT_READ | PROT_WRITE) == 0 &&
	    madvise((void *)from, bytes, MADV_REMOVE) == 0;
}

static int attack(int fd, int events)
{
	unsigned long range[MAPPINGS][2];
	int count = 0, taken = 0;
	char line[600];
	FILE *f;

	for (int i = 0; i < events; i++)
		many_stacks(i, 3, 100);
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		return 1;
	fill(fd);
	f = fopen("/proc/self/maps", "re");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, ".seg") && count < MAPPINGS &&
		    sscanf(line, "%lx-%lx", &range[count][0], &range[count][1]) == 2)
			count++;
	for (int i = 0; i < count; i++) {
		void *all = mremap((void *)range[i][0], 0, 1UL << 31, MREMAP_MAYMOVE);

		taken += take_away(range[i][0], range[i][1] - range[i][0]);
		if (all != MAP_FAILED)
			taken += take_away((unsigned long)all, 1UL << 31);
	}
	fill(fd);
	fprintf(stderr, "# %d mappings, %d taken away\n", count, taken);
	return 0;
}

int main(int argc, char **argv)
{
	pid_t pid;
	int status, fd;

	fd = argc < 4 ? -1 : open(argv[1], O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return 2;
	for (int i = 0; i < 100; i++)
		many_stacks(i, 5, 100);
	pid = strcmp(argv[2], "clone") ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(attack(fd, atoi(argv[3])));
	waitpid(pid, &status, 0);
	printf("worker %#x\n", status);
	for (int i = 0; i < 5; i++) {
		pid = fork();
		if (pid == 0)
			_exit(0);
		waitpid(pid, &status, 0);
	}
	for (int i = 0; i < 3000; i++)
		many_stacks(i, 10, 100);
	puts("the master lives");
	return 0;
}
