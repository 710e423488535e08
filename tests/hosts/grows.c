/* grows.c - keeps so many blocks of 1 KiB, in so many milliseconds: snapshots by growth and by time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "seep.h"

/* grows BLOCKS MILLISECONDS: spread evenly, a hundred blocks at a time */
int main(int argc, char **argv)
{
	int blocks = argc > 1 ? atoi(argv[1]) : 0;
	int ms = argc > 2 ? atoi(argv[2]) : 0;
	int steps = blocks / 100 ? blocks / 100 : 1;

	for (int i = 0; i < blocks; i++) {
		void *p = malloc(1024);

		__asm__ volatile("" : "+r"(p) : : "memory");
		if (i == blocks / 10)
			seep_mark("a tenth");
		if (ms && i % 100 == 99)
			usleep((useconds_t)(ms * 1000 / steps));
	}
	return 0;
}
