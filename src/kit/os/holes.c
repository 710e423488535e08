/* holes.c - does a file store the data that its tables claim, or holes? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/holes.h"

#include <errno.h>
#include <unistd.h>

enum { STRETCHES_MAX = 1 << 20 }; /* of 4 KiB, with holes between them: 8 GiB */

/* Does this range store `wanted` bytes or more? */
static bool stores(int fd, uint64_t base, uint64_t limit, uint64_t wanted)
{
	uint64_t end = base + limit, at = base, found = 0;

	for (int i = 0; i < STRETCHES_MAX && at < end && found < wanted; i++) {
		off_t data = lseek(fd, (off_t)at, SEEK_DATA), hole;

		if (data < 0)
			return errno != ENXIO; /* no more data, or no holes */
		if ((uint64_t)data >= end)
			break;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole <= data)
			return true;
		at = (uint64_t)hole < end ? (uint64_t)hole : end;
		found += at - (uint64_t)data;
	}
	return found >= wanted;
}

bool holes_allow(int fd, uint64_t base, uint64_t limit, uint64_t claimed)
{
	if (claimed <= HOLES_FREE || fd < 0)
		return true;
	return stores(fd, base, limit, (claimed - HOLES_FREE) / HOLES_FACTOR);
}
