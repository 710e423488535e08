/* room.h - makes an array larger when it is full. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROOM_H
#define SEEP_ROOM_H

#include "base/std.h"

/*
 * Makes room for one item more than count. `items` is the address of the
 * pointer to the array, which may move. Item numbers have 32 bits. On -ENOMEM
 * nothing has changed.
 */
static inline int room_make(void *items, size_t *room, size_t count, size_t size)
{
	size_t more = *room ? *room * 2 : 16;
	void *array, *bigger;

	if (count < *room)
		return 0;
	if (more > UINT32_MAX)
		return -ENOMEM;
	memcpy(&array, items, sizeof(array));
	bigger = reallocarray(array, more, size);
	if (!bigger)
		return -ENOMEM;
	memcpy(items, &bigger, sizeof(bigger));
	*room = more;
	/* cppcheck-suppress memleak ; the caller owns it */
	return 0;
}

#endif
