/* flightread.h - reads the rings of a flight recorder. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FLIGHTREAD_H
#define SEEP_FLIGHTREAD_H

#include "base/std.h"
#include "format/seg_flight.h"

/*
 * The file is untrusted, and may belong to a process that runs. Whatever is in
 * it, one ring is in memory at a time, at most FLIGHTREAD_BYTES_MAX are read,
 * and reading ends.
 */
struct flightread;

#define FLIGHTREAD_BYTES_MAX (UINT64_C(4) << 30)

/*
 * As logread_open() without draining: -ENOENT, -ESTALE, -EBADMSG, -ENOTSUP.
 */
int flightread_open(
    int dir, const char *name, uint32_t pool, const uint8_t uuid[16], struct flightread **ret);
void flightread_close(struct flightread *r); /* NULL is fine */

/* The head of the pool. */
const struct log_head *flightread_head(const struct flightread *r);

/* Is this a sound head of a pool with rings? */
bool flightread_is_sound(const struct log_head *h);

/*
 * The next ring, by the number of its thread, the one of several threads last.
 * 1: *ret_head and *ret_entries (head.entries of them) are valid until the next
 * call; 0: there are no more; -ENOMEM. What cannot be read is left out, see
 * flightread_is_damaged().
 */
int flightread_next(
    struct flightread *r, struct log_chunk *ret_head, const struct flight_entry **ret_entries);
bool flightread_is_damaged(const struct flightread *r);

/* ---- flightring: the entries of one ring of a flight recorder, as events ---- */

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
