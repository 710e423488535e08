/* bytes.c - memcpy and its relatives, for the calls that the compiler makes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

/*
 * Those of libc can be replaced by the host's own (loader.h). All calls of the
 * collector end here, because these are hidden. Nothing that is called often
 * copies much, so words are quick enough. The Makefile keeps the compiler from
 * making calls of these loops.
 */
typedef uint64_t __attribute__((may_alias, aligned(1))) word;

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's */

SEEP_HIDDEN void *memcpy(void *to, const void *from, size_t bytes)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
		*(word *)(void *)t = *(const word *)(const void *)f;
		t += sizeof(word);
		f += sizeof(word);
	}
	while (bytes--)
		*t++ = *f++;
	return to;
}

SEEP_HIDDEN void *memmove(void *to, const void *from, size_t bytes)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if ((uintptr_t)t - (uintptr_t)f >= bytes)
		return memcpy(to, from, bytes); /* which goes upwards */
	while (bytes--)
		t[bytes] = f[bytes];
	return to;
}

SEEP_HIDDEN void *memset(void *to, int c, size_t bytes)
{
	const word all = UINT64_C(0x0101010101010101) * (uint8_t)c;
	uint8_t *t = to;

	for (; bytes >= sizeof(word); bytes -= sizeof(word)) {
		*(word *)(void *)t = all;
		t += sizeof(word);
	}
	while (bytes--)
		*t++ = (uint8_t)c;
	return to;
}

SEEP_HIDDEN int memcmp(const void *one, const void *other, size_t bytes)
{
	const uint8_t *a = one, *b = other;

	for (; bytes; bytes--, a++, b++)
		if (*a != *b)
			return *a - *b;
	return 0;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
