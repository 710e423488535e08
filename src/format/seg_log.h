/* seg_log.h - the event log: words of 8 bytes in chunks of shared memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEG_LOG_H
#define SEEP_SEG_LOG_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The log of a process is a pool of chunks in the file NAME.seg.log beside its
 * segment NAME.seg. A forked child whose segment is slot i of that file has the
 * pool 1 + i of the same log file. A pool is one page with its head, and chunks.
 * A chunk belongs to one thread at a time, which stores one word for most
 * events, one after the other. A word of zero is the end, and words behind it
 * mean nothing: the chunk is cleared in steps of LOG_CLEAR_WORDS, each before the
 * last word of the step before it is stored. So whoever reads a chunk that is
 * being filled reads one step, and the next one after that. When the chunk is full
 * the thread closes it, and a reader that has read all of it returns it by one
 * byte in the file NAME.seg.log.ctl; docs/LOG.md and docs/FORMAT.md say more.
 *
 * An allocation is named by its position: the number of the chunk, which no
 * other chunk of the process ever has, and the index of the word. The live map
 * has this name in place of the birth (live_cell_version 3). A block whose
 * allocation is not in the log has a name with an index below LOG_FIRST.
 */
#define LOG_MAGIC UINT64_C(0x01474f4c50454553) /* "SEEPLOG\1" */

enum {
	LOG_VERSION = 1,
	LOG_HEAD_BYTES = 4096,
	LOG_CHUNK_BYTES = 64 << 10,
	LOG_INDEX_BITS = 13,
	LOG_CHUNK_WORDS = 1 << LOG_INDEX_BITS,
	LOG_CLEAR_WORDS = 128,
	LOG_FIRST = 8, /* the index of the first word behind a chunk's head */
	LOG_NUMBER_BITS = 18,
	LOG_CHUNKS_MAX = 4096, /* of a pool */
	LOG_TICK_NS = 10000000,
	LOG_SITE_BITS = 26,
	LOG_SIZE_BITS = 36,
	LOG_PAYLOAD_BITS = 56,
	LOG_EVENT_WORDS = 4, /* of one event, at most */
};

#define LOG_INDEX_MASK   (LOG_CHUNK_WORDS - 1u)
#define LOG_SIZE_MASK    ((UINT64_C(1) << LOG_SIZE_BITS) - 1)
#define LOG_PAYLOAD_MASK ((UINT64_C(1) << LOG_PAYLOAD_BITS) - 1)
/* a size from here on is in the next word */
#define LOG_LARGE LOG_SIZE_MASK

/* The two topmost bits of a word. */
enum log_tag {
	LOG_TAG_ALLOC = 1, /* site 26 bits, size 36 */
	LOG_TAG_FREE = 2,  /* the name of the block: 31 bits */
	LOG_TAG_OTHER = 3, /* enum log_type 6 bits, payload 56 */
};

enum log_type {
	LOG_TICK = 1, /* LOG_TICK_NS since start_monotonic_ns */
	LOG_GAP = 2,  /* events of this thread that are not in the log */
	/*
	 * log_realloc_payload(): a block; then LOG_TAG_ALLOC with its new
	 * site and size
	 */
	LOG_REALLOC = 3,
	/* free of a block of the parent: its site; then LOG_SIZE */
	LOG_INHERITED = 4,
	/* free of a block whose allocation is not here: site; then LOG_SIZE */
	LOG_UNNAMED = 5,
	LOG_SIZE = 6,    /* size of the event before, in bytes */
	LOG_ADDRESS = 7, /* address of the allocation before */
	LOG_NOTHING = 8, /* an event that was not recorded after all */
	LOG_CHUNK = 9,   /* head of a chunk: its number */
	/*
	 * log_thread_payload(): the thread of this chunk has ended, and another
	 * one, with a higher number, stores the words from here on; then
	 * LOG_TICK. In pools alone.
	 */
	LOG_THREAD = 10,
};

/* At the beginning of a pool. */
struct log_head {
	uint64_t magic; /* written last */
	uint32_t version;
	uint32_t mode;    /* enum log_mode */
	uint8_t uuid[16]; /* of the segment that the log belongs to */
	uint32_t chunk_bytes;
	uint32_t chunk_count;
	uint32_t first_number; /* of the chunks of this process */
	uint32_t tick_ns;
	uint64_t start_monotonic_ns; /* as in the segment: tick 0 */
	/* where the pools of forked children begin in the file, and their size */
	uint64_t child_offset, child_bytes;
	uint32_t child_count;
	uint32_t pid;
	uint64_t entries; /* of a ring, see format/seg_flight.h; else 0 */
	uint64_t reserved[5];
};

enum log_mode {
	LOG_MODE_EVENTS = 1,
	LOG_MODE_ADDRESSES = 2, /* with LOG_ADDRESS behind each allocation */
};

/* At the beginning of a chunk; LOG_FIRST words. */
struct log_chunk {
	uint64_t head;   /* LOG_CHUNK and the number; 0: empty */
	uint32_t thread; /* its number in this process, from 1; 0: several */
	uint32_t tid;    /* 0: not known */
	uint64_t tick;   /* when it was opened, LOG_TICK_NS */
	uint32_t closed; /* index of the end, when no more words come; else 0 */
	/* of several threads: words that have been stored; of a ring
	 * (format/seg_flight.h): how often it was filled */
	uint32_t done;
	uint32_t use; /* the byte that returns this chunk */
	uint32_t reserved;
	uint64_t now;     /* of a ring: the time of its newest events, LOG_TICK_NS */
	uint8_t uuid[16]; /* as in log_head; else a dead child left it here */
};

_Static_assert(sizeof(struct log_head) == 128, "log_head");
_Static_assert(sizeof(struct log_chunk) == LOG_FIRST * sizeof(uint64_t), "log_chunk");

/*
 * When the blocks of a chunk were born. Names below LOG_FIRST are born at
 * first + index. From index at[i] on the tick is first + i + 1; 0: the chunk
 * ended before. Ticks are those of the segment (SEG_TICK_NS). The table is in the
 * host's private memory: seg_header.log_births is the address of
 * LOG_BIRTH_LEAVES pointers to LOG_BIRTH_ENTRIES of these.
 */
enum {
	LOG_BIRTH_STEPS = 14,
	LOG_BIRTH_LEAVES = 256,
	LOG_BIRTH_BITS = 10,
	LOG_BIRTH_ENTRIES = 1 << LOG_BIRTH_BITS,
};

struct log_birth {
	uint32_t first;
	uint16_t at[LOG_BIRTH_STEPS];
};

_Static_assert(sizeof(struct log_birth) == 32, "log_birth");
_Static_assert(
    LOG_BIRTH_LEAVES *LOG_BIRTH_ENTRIES == 1 << LOG_NUMBER_BITS, "an entry for each number");

static inline enum log_tag log_tag(uint64_t word)
{
	return (enum log_tag)(word >> 62);
}

static inline enum log_type log_type(uint64_t word)
{
	return (enum log_type)(word >> LOG_PAYLOAD_BITS & 63);
}

static inline uint64_t log_payload(uint64_t word)
{
	return word & LOG_PAYLOAD_MASK;
}

static inline uint64_t log_alloc_word(uint32_t site, uint64_t size)
{
	/* the tag beside the site: an addition, which needs no copy of it */
	return (uint64_t)(site + (1u << LOG_SITE_BITS)) << LOG_SIZE_BITS |
	    (size < LOG_LARGE ? size : LOG_LARGE);
}

static inline uint64_t log_free_word(uint32_t name)
{
	return UINT64_C(2) << 62 | name;
}

static inline uint64_t log_word(enum log_type type, uint64_t payload)
{
	return UINT64_C(3) << 62 | (uint64_t)type << LOG_PAYLOAD_BITS |
	    (payload & LOG_PAYLOAD_MASK);
}

/*
 * If several threads resize a block, their words are ordered by this: bits of a
 * counter of all reallocs of the process.
 */
enum { LOG_STAMP_BITS = 25 };

static inline uint64_t log_realloc_payload(uint32_t name, uint32_t stamp)
{
	return (uint64_t)(stamp & ((1u << LOG_STAMP_BITS) - 1)) << 31 | name;
}

static inline uint32_t log_stamp(uint64_t word)
{
	return (uint32_t)(log_payload(word) >> 31);
}

enum { LOG_TID_BITS = 24 };

static inline uint64_t log_thread_payload(uint32_t thread, uint32_t tid)
{
	return (uint64_t)thread << LOG_TID_BITS | (tid & ((1u << LOG_TID_BITS) - 1));
}

/* Is stamp a before stamp b? They are close to each other. */
static inline bool log_stamp_is_before(uint32_t a, uint32_t b)
{
	const uint32_t half = 1u << (LOG_STAMP_BITS - 1);

	return ((b - a) & (2 * half - 1)) - 1 < half - 1;
}

/* The name in a word of LOG_TAG_FREE or LOG_REALLOC. */
static inline uint32_t log_name(uint64_t word)
{
	return (uint32_t)word & INT32_MAX;
}

/* Of LOG_TAG_ALLOC. */
static inline uint32_t log_site(uint64_t word)
{
	return (uint32_t)(word >> LOG_SIZE_BITS) & ((1u << LOG_SITE_BITS) - 1);
}

static inline uint64_t log_size(uint64_t word)
{
	return word & LOG_SIZE_MASK;
}

/* Is the allocation of this block in the log? */
static inline bool log_is_named(uint32_t name)
{
	return (name & LOG_INDEX_MASK) >= LOG_FIRST;
}

static inline uint32_t log_birth_tick(const struct log_birth *b, uint32_t name)
{
	uint32_t index = name & LOG_INDEX_MASK, i = 0;

	if (index < LOG_FIRST)
		return b->first + index;
	while (i < LOG_BIRTH_STEPS && b->at[i] && b->at[i] <= index)
		i++;
	return b->first + i;
}

/*
 * How long a reader waits after a look that has read so many words of one
 * process: less if its threads fill several chunks meanwhile, because words in
 * pages and cache lines that were used a moment ago cost the host less time.
 * `ms` is how long the reader has waited before that look.
 */
static inline uint32_t log_wait_ms(uint64_t words, uint32_t ms)
{
	enum { USUAL_MS = 10, BUSY_MS = 2, BUSY_CHUNKS = 4 };

	return words * USUAL_MS >= (uint64_t)BUSY_CHUNKS * LOG_CHUNK_WORDS * (ms ? ms : 1)
	    ? BUSY_MS
	    : USUAL_MS;
}

#endif
