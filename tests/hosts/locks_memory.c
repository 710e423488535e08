/* locks_memory.c - locks all its memory with these flags, prints whether that works and how many blocks it gets then, and sleeps. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int flags = argc > 1 ? atoi(argv[1]) : MCL_CURRENT;
	int blocks = argc > 2 ? atoi(argv[2]) : 0;
	int got = 0;

	if (flags)
		printf("mlockall %s\n", mlockall(flags) ? strerror(errno) : "works");
	for (int i = 0; i < blocks; i++)
		got += malloc(4000) != NULL;
	printf("blocks %d\n", got);
	fflush(stdout);
	for (;;)
		pause();
}
