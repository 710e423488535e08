/* room.h - makes an array of items larger, when it is full. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_ROOM_H
#define SEEP_NAMES_ROOM_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* Room for one more than count; *items moves. -ENOMEM leaves all as it was. */
static inline int
room_make(void **items, size_t *room, size_t count, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void *bigger;

	if (count < *room)
		return 0;
	bigger = reallocarray(*items, more, size);
	if (!bigger)
		return -ENOMEM;
	*items = bigger;
	*room = more;
	return 0;
}

#endif
