/* guest.h - who takes part in the loop of a reader that lives long. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_GUEST_H
#define SEEP_GUEST_H

#include "follow/engine/engine.h"
#include "segments/find/gather.h"

/*
 * `seep watch` looks at all processes again and again. A server and a sender of
 * profiles want the same looks, so they are guests of its loop instead of
 * looking a second time. All calls come from the one thread of that loop, and
 * none may block.
 */
enum { GUEST_FDS = 256 }; /* descriptors that one may have open */

struct guest {
	void *context;
	/*
	 * The engine exists and has not looked yet. Negative errno, with words:
	 * the loop does not begin.
	 */
	int (*begin)(void *context, struct engine *l, struct fault *where);
	/* After each engine_look(). */
	void (*looked)(void *context);
	/* Who came or ended was found: after each engine_look_at_roster(). */
	void (*met)(void *context);
	/* Readable when step() has something to do; -1: never. */
	int (*fd)(void *context);
	/* At most so long until step() is called, in ms; -1: any time. */
	int (*wait_ms)(void *context);
	/* After each wait, whatever ended it. */
	void (*step)(void *context);
	/*
	 * Segments of processes that have ended, at most GATHER_KEYS, which go
	 * as soon as it has read them. Both NULL: it does not mind.
	 */
	void (*offer)(void *context, const struct live_key *keys, size_t count);
	/*
	 * Has it read all of the last offer? It must answer yes after a while,
	 * whatever happens.
	 */
	bool (*has_read)(void *context);
	/* The loop has ended; the engine still exists. */
	void (*end)(void *context);
};

#endif
