/* scrub.h - for hosts that lose blocks: no old pointer is left on the stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_SCRUB_H
#define SEEP_TESTS_SCRUB_H

#include <stddef.h>

/* Overwrites the stack below its caller. */
static __attribute__((noinline, noclone)) void scrub(void)
{
	volatile char below[64 << 10];

	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0;
}

#endif
