/* what_it_takes.c - prints what the kernel charges this small process and a forked child for: address space, memory, commit, data, locked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static long status_kib(const char *name)
{
	char line[256];
	long kib = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kib = atol(line + strlen(name));
	if (f)
		fclose(f);
	return kib;
}

/* Writable private mappings: what strict overcommit (mode 2) charges. */
static long commit_kib(void)
{
	unsigned long from, to;
	char line[512], mode[8];
	long kib = 0;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && mode[1] == 'w' &&
		    mode[3] == 'p')
			kib += (long)((to - from) >> 10);
	if (f)
		fclose(f);
	return kib;
}

static void show(const char *who)
{
	for (int i = 0; i < 20; i++) {
		void *volatile p = malloc(30);

		free(p);
	}
	printf("%s size %ld rss %ld commit %ld data %ld", who, status_kib("VmSize:"),
	    status_kib("VmRSS:"), commit_kib(), status_kib("VmData:"));
}

/* Last of all: it makes everything resident. */
static void lock(void)
{
	printf(" locked %ld\n", mlockall(MCL_CURRENT) ? -1 : status_kib("VmLck:"));
	fflush(stdout);
}

int main(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		show("child");
		lock();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	show("parent");
	lock();
	return 0;
}
