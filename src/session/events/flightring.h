/* flightring.h - the entries of one ring of a flight recorder, as events. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FLIGHTRING_H
#define SEEP_FLIGHTRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/seg_flight.h"

enum flightring_kind {
	FLIGHTRING_ALLOC,
	FLIGHTRING_FREE,
	FLIGHTRING_UNKNOWN, /* free of an address at which no block begins */
};

struct flightring_event {
	enum flightring_kind kind;
	bool is_resized; /* by realloc: the block comes from, or goes */
	uint64_t tick;   /* LOG_TICK_NS since the process started */
	uint64_t address;
	uint64_t size;
	uint32_t site; /* of the allocation; 0: not known */
	uint32_t by;   /* of a free: site of the stack that freed; 0: none */
	uint32_t age;  /* of a free: SEG_TICK_NS, at most an eighth too small */
	uint32_t tid;  /* 0: not known */
};

struct flightring {
	uint32_t thread; /* from 1 on; 0: signal handlers inside a hook */
	uint32_t tid;
	bool has_ended;                  /* and another thread has its place */
	struct flightring_event *events; /* by time */
	size_t count;
	uint64_t strange; /* entries that make no sense, left out */
};

/*
 * Untrusted: `count` entries of a ring with this head. Fills *ret, whose memory
 * flightring_release() frees. -ENOMEM.
 */
int flightring_decode(const struct log_chunk *head, const struct flight_entry *entries,
    size_t count, struct flightring *ret);
void flightring_release(struct flightring *r);

#endif
