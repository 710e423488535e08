/* seg_flight.h - the flight recorder: the last events of each thread, in rings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEG_FLIGHT_H
#define SEEP_SEG_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/seg_log.h"

/*
 * With SEEP_LOG=last the chunks of a pool (format/seg_log.h) are rings, one for each
 * thread: log_head.version is FLIGHT_VERSION, chunk_bytes is the size of a ring,
 * entries the number of its entries. Behind struct log_chunk a ring has
 * entries of two words. A thread fills one after the other and begins again at
 * the first. The next one to be filled has no first word (0), and the oldest one
 * is behind it.
 *
 * An entry is stored in this order: its second word, a zero into the first word
 * of the next entry, its own first word. So a process that is killed at any
 * instruction leaves whole entries and one, or two in a row, without a first
 * word.
 *
 * The ring of thread 0 has the events of signal handlers that interrupted a
 * hook. Several threads store there. Entries come in pairs: FLIGHT_NUMBER, whose
 * second word is the tid, and an event. The pair number n is the pair
 * n % (entries / 2) of the ring, and a reader sorts them by n. FLIGHT_SIZE and
 * FLIGHT_BY are not in that ring.
 */
struct flight_entry {
	uint64_t what;  /* 0: none */
	uint64_t where; /* address 47 bits, FLIGHT_RESIZED, time 16 bits */
};

enum {
	FLIGHT_VERSION = 2,
	FLIGHT_EVENTS = 8192, /* of a thread, unless SEEP_LOG=last:N says so */
	FLIGHT_EVENTS_MIN = 16,
	FLIGHT_EVENTS_MAX = 1 << 20,
	FLIGHT_RINGS = 32, /* that the pool has room for, at least */
	FLIGHT_RINGS_MIN = 4,
	FLIGHT_ADDRESS_BITS = 47,
	FLIGHT_TIME_BITS = 16,  /* of the time in LOG_TICK_NS */
	FLIGHT_FREED_BITS = 28, /* of a size */
};

/* A block leaves, or gets, its address because it was resized. */
#define FLIGHT_RESIZED      (UINT64_C(1) << FLIGHT_ADDRESS_BITS)
#define FLIGHT_TIME_SHIFT   (FLIGHT_ADDRESS_BITS + 1)
#define FLIGHT_ADDRESS_MASK (FLIGHT_RESIZED - 1)
#define FLIGHT_FREED_MASK   ((UINT64_C(1) << FLIGHT_FREED_BITS) - 1)
/* a size from here on is in the entry before, which is FLIGHT_SIZE */
#define FLIGHT_FREED_LARGE FLIGHT_FREED_MASK

/* The two topmost bits of the first word. */
enum flight_tag {
	FLIGHT_ALLOC = 1, /* as LOG_TAG_ALLOC: site 26 bits, size 36 */
	/* site of the allocation 26 bits, flight_age_code() 8, size 28 */
	FLIGHT_FREE = 2,
	FLIGHT_OTHER = 3, /* enum flight_type 6 bits, payload 56 */
};

enum flight_type {
	FLIGHT_SIZE = 1,    /* of the entry behind it, in bytes */
	FLIGHT_BY = 2,      /* site of the stack that frees; the free is behind */
	FLIGHT_UNKNOWN = 3, /* free of an address at which no block begins */
	FLIGHT_TIME = 4,    /* after a pause: LOG_TICK_NS, all bits */
	FLIGHT_NUMBER = 5,  /* of a pair, in the ring of thread 0 */
};

/* log_head.mode */
enum flight_mode {
	FLIGHT_MODE_LAST = 3,
	FLIGHT_MODE_FREES = 4, /* with FLIGHT_BY before each free */
};

static inline uint64_t flight_alloc_word(uint32_t site, uint64_t size)
{
	return log_alloc_word(site, size);
}

static inline uint64_t flight_free_word(uint32_t site, uint32_t age_code, uint64_t size)
{
	return (uint64_t)FLIGHT_FREE << 62 | (uint64_t)site << LOG_SIZE_BITS |
	    (uint64_t)age_code << FLIGHT_FREED_BITS |
	    (size < FLIGHT_FREED_LARGE ? size : FLIGHT_FREED_LARGE);
}

static inline uint64_t flight_word(enum flight_type type, uint64_t payload)
{
	return (uint64_t)FLIGHT_OTHER << 62 | (uint64_t)type << LOG_PAYLOAD_BITS |
	    (payload & LOG_PAYLOAD_MASK);
}

static inline uint64_t flight_where(uint64_t address, uint64_t time, bool is_resized)
{
	return (address & FLIGHT_ADDRESS_MASK) | (is_resized ? FLIGHT_RESIZED : 0) |
	    time << FLIGHT_TIME_SHIFT;
}

/*
 * An age in SEG_TICK_NS as 8 bits: exact below 8, then the three bits behind the
 * highest one, so at most an eighth too small.
 */
static inline uint32_t flight_age_code(uint32_t age)
{
	uint32_t high;

	if (age < 8)
		return age;
	high = 31 - (uint32_t)__builtin_clz(age);
	return (high - 2) << 3 | (age >> (high - 3) & 7);
}

static inline uint32_t flight_age(uint32_t code)
{
	return code < 8 ? code : (8 | (code & 7)) << ((code >> 3) - 1);
}

/* Bytes of a ring with so many entries. */
static inline uint64_t flight_ring_bytes(uint32_t entries)
{
	uint64_t bytes = sizeof(struct log_chunk) + (uint64_t)entries * sizeof(struct flight_entry);

	return (bytes + LOG_HEAD_BYTES - 1) & ~(uint64_t)(LOG_HEAD_BYTES - 1);
}

/* How many entries N events may take, with the one that is empty. */
static inline uint32_t flight_entries(uint32_t events, bool frees)
{
	return events * (frees ? 2 : 1) + 2;
}

_Static_assert(sizeof(struct flight_entry) == 16, "flight_entry");
_Static_assert(FLIGHT_TIME_SHIFT + FLIGHT_TIME_BITS == 64, "words");
_Static_assert(LOG_SIZE_BITS == 8 + FLIGHT_FREED_BITS, "words");

#endif
