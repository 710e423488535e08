/* logcode.h - the event log as entries of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGCODE_H
#define SEEP_LOGCODE_H

#include "base/std.h"

/*
 * A run is a part of one chunk (format/seg_log.h): words that follow each other. The
 * runs of a process are in an order in which every free comes after its
 * allocation, and in which time increases but for about 10 ms. An entry has a
 * head, its runs, and the words of all runs as columns, because equal things
 * together are small when packed; docs/RECORDING.md describes every byte.
 */
struct logcode_head {
	uint8_t uuid[16]; /* of the process's segment */
	uint32_t version; /* 1 */
	uint32_t mode;    /* enum log_mode */
	uint32_t runs, words;
	uint64_t first_tick, last_tick; /* in LOG_TICK_NS */
	uint64_t start_monotonic_ns;    /* tick 0 */
	uint32_t pid;
	uint32_t first_number; /* of a chunk of this process */
};

struct logcode_run {
	uint32_t number, index; /* chunk, and place of the first word in it */
	uint32_t thread, tid;
	uint32_t words;
	uint32_t reserved;
	uint64_t tick; /* of the first word */
};

_Static_assert(sizeof(struct logcode_head) == 64, "logcode_head");
_Static_assert(sizeof(struct logcode_run) == 32, "logcode_run");

enum {
	LOGCODE_VERSION = 1,
	LOGCODE_WORDS_MAX = 4 << 20, /* of an entry */
};

/* Runs and the words of all of them, one after the other. */
struct logcode {
	struct logcode_head head;
	struct logcode_run *runs;
	uint64_t *words;
	size_t run_room, word_room;
};

/* Behind the head: the bytes of the entry, for free(). -ENOMEM. */
int logcode_pack(const struct logcode *c, uint8_t **ret, size_t *ret_len);

/*
 * The whole entry. -EBADMSG: it is damaged; -ENOTSUP: another version; -ENOMEM.
 * `ret` may have the arrays of an earlier call, which are used again.
 */
int logcode_unpack(struct logcode *ret, const void *bytes, size_t len);

void logcode_release(struct logcode *c);

/* Appends a word to the last run. -ENOMEM. */
int logcode_add_run(struct logcode *c, const struct logcode_run *run);
int logcode_add_word(struct logcode *c, uint64_t word);

/* ---- logindex: what a part of an event log changed: so it can be passed over ---- */

/*
 * An entry of a log may have an index right behind it: the time of its events,
 * and the difference between the blocks that lived before them and after them.
 * A reader who wants what comes later takes the index instead of the events. Most
 * blocks are freed soon, so an index is small; where it would not be, there is
 * none. docs/RECORDING.md describes every byte.
 *
 * It belongs to the last entry of a log before it, which it names by the size and
 * the checksum of the bytes as they are stored.
 */
struct logindex_head {
	uint64_t bytes; /* of the log's entry in the file, with its head */
	uint32_t version;
	uint32_t crc;                      /* of the payload of the log's entry */
	struct logcode_head log;           /* as it is there */
	uint32_t sites, born, moved, gone; /* how many follow */
	/* of all words of the entry, as struct events_sums has them */
	uint64_t allocations, frees, inherited, unlogged, lost;
	uint64_t orphans, strange;
};

/* Events of one site. A free is here if the entry says what it frees. */
struct logindex_site {
	uint32_t site, reserved;
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
};

/* A block that lives behind the entry. */
struct logindex_block {
	uint32_t name, site;
	uint64_t size;
	uint64_t tick; /* of its allocation; moved: of a realloc */
};

_Static_assert(sizeof(struct logindex_head) == 152, "logindex_head");
_Static_assert(sizeof(struct logindex_site) == 40, "logindex_site");
_Static_assert(sizeof(struct logindex_block) == 24, "logindex_block");

enum { LOGINDEX_VERSION = 1 };

/* The arrays are in the bytes that it was made from. */
struct logindex {
	struct logindex_head head;
	const struct logindex_site *sites;
	const struct logindex_block *born;  /* allocated in the entry */
	const struct logindex_block *moved; /* allocated before, and resized */
	const uint32_t *gone;               /* allocated before, and freed */
};

/*
 * `bytes` is aligned to 8 and must outlive *ret. -EBADMSG: its parts do not
 * fit; -ENOTSUP: another version.
 */
int logindex_open(struct logindex *ret, const void *bytes, size_t len);

#endif
