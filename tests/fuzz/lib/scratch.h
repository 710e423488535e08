/* scratch.h - a directory of its own for an input of a fuzzer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_SCRATCH_H
#define SEEP_TESTS_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_MAX = 4096 };

/* Makes a new directory below TMPDIR. The caller removes it. */
static inline void scratch_make(char to[SCRATCH_MAX])
{
	const char *place = getenv("TMPDIR");
	int n =
	    snprintf(to, SCRATCH_MAX, "%s/seep-fuzz.XXXXXX", place && place[0] ? place : "/tmp");

	if (n < 0 || n >= SCRATCH_MAX || !mkdtemp(to))
		abort();
}

#endif
