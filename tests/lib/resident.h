/* resident.h - how much memory this process has in RAM. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_RESIDENT_H
#define SEEP_TESTS_RESIDENT_H

#include <stdio.h>

/* As /proc/self/statm has it; 0: it cannot be read. */
static inline long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long size, pages = 0;

	if (f && fscanf(f, "%ld %ld", &size, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * 4;
}

#endif
