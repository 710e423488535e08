/* mlocked.c - locks all its memory, now and in future: same outcome bare and traced, no flood of locked pages. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../lib/resident.h"

int main(void)
{
	static void *held[1000];
	int locked = mlockall(MCL_CURRENT | MCL_FUTURE);
	int error = locked ? errno : 0, failed = 0;

	for (int i = 0; i < 1000; i++) {
		held[i] = malloc(4000);
		failed += !held[i];
		if (held[i])
			memset(held[i], 1, 4000);
	}
	for (int i = 0; i < 1000; i += 2)
		free(held[i]);
	printf("mlockall %d error %d failed %d\n", locked, error, failed);
	printf("# resident %ld KiB\n", resident_kib());
	return 0;
}
