/* script.h - what a replay does: for each thread a list of words in a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCRIPT_H
#define SEEP_SCRIPT_H

#include "base/std.h"

/*
 * The command makes a script out of an event log, once, and seep-replay-run
 * performs it, once for each run of each allocator. The file has a head, the
 * chunks of all threads, and a table of windows. It has no name and lives as
 * long as the command, so its version is that of the two programs.
 *
 * A block is in a slot, a word of the performer's own memory that has its
 * address. Slots are used again. A slot counts what happens to it, and each word
 * that concerns it has the count at which it is its turn. So a free waits for
 * its allocation, whichever thread makes it. What a word waits for comes before
 * it in the log, therefore nobody waits for ever.
 *
 * Threads stay together by windows: a part of the log of 10 ms or more. A thread
 * enters a window when all threads have left the last but one before it.
 */
#define SCRIPT_MAGIC UINT64_C(0x0152435350454553) /* "SEEPSCR\1" */

enum {
	SCRIPT_CHUNK_WORDS = 2048, /* of a chunk, at most; read at once */
	SCRIPT_OP_BITS = 4,
	SCRIPT_SLOT_BITS = 28,
	SCRIPT_TURN_BITS = 16,
	SCRIPT_SIZE_BITS = 16,
	SCRIPT_OP_WORDS = 4, /* of one operation, at most */
	SCRIPT_CARRIERS_MAX = 1024,
	SCRIPT_PATH_BYTES = 512,
};

/* A size from here on is in the next word. */
#define SCRIPT_LARGE ((UINT64_C(1) << SCRIPT_SIZE_BITS) - 1)

/* The lowest bits of a word. */
enum script_op {
	SCRIPT_END = 1, /* of the thread */
	SCRIPT_JUMP,    /* payload: where the next chunk is, in words */
	SCRIPT_MALLOC,
	SCRIPT_CALLOC,
	SCRIPT_ALIGNED, /* last word: the alignment */
	SCRIPT_REALLOC, /* last word: the old size */
	SCRIPT_FREE,
	SCRIPT_WINDOW, /* payload: its number */
	SCRIPT_TIME,   /* payload: ticks of 10 ms since the first event */
	/* payload: number of a carrier; then a word: where its chunk is */
	SCRIPT_SPAWN,
};

/*
 * A carrier is what a thread of the replay needs. There are as many as threads
 * of the log live at the same time. Number 0 is the main thread's.
 */
struct script_head {
	uint64_t magic;
	uint64_t slots, windows;
	uint64_t windows_at; /* byte: a u32 for each, how many threads are in it */
	uint64_t main_at;    /* chunk of the main thread, in words */
	uint32_t carriers;
	uint32_t reserved;
};

/* What the performer writes to its pipe at the end. */
struct script_result {
	uint64_t magic;
	uint64_t user_ns, system_ns, wall_ns;
	uint64_t minor_faults, major_faults;
	uint64_t own_bytes;                  /* anonymous, before the first operation */
	uint64_t peak_bytes;                 /* anonymous, with own_bytes */
	uint64_t final_bytes;                /* the same at the end */
	uint64_t refused;                    /* allocations that the allocator refused */
	uint64_t error;                      /* errno; 0: all was done */
	char malloc_path[SCRIPT_PATH_BYTES]; /* the object that has malloc */
};

enum script_mode {
	SCRIPT_PROBE,   /* load, and say what malloc is */
	SCRIPT_MEASURE, /* make what the performer needs, and no operation */
	SCRIPT_PERFORM,
};

static inline enum script_op script_op(uint64_t word)
{
	return (enum script_op)(word & ((1u << SCRIPT_OP_BITS) - 1));
}

static inline uint64_t script_payload(uint64_t word)
{
	return word >> SCRIPT_OP_BITS;
}

static inline uint64_t script_word(enum script_op op, uint64_t payload)
{
	return payload << SCRIPT_OP_BITS | (uint64_t)op;
}

static inline uint64_t script_block_word(
    enum script_op op, uint32_t slot, uint16_t turn, uint64_t size)
{
	return script_word(op, slot) | (uint64_t)turn << (SCRIPT_OP_BITS + SCRIPT_SLOT_BITS) |
	    (size < SCRIPT_LARGE ? size : SCRIPT_LARGE) << (64 - SCRIPT_SIZE_BITS);
}

static inline uint32_t script_slot(uint64_t word)
{
	return (uint32_t)(word >> SCRIPT_OP_BITS) & ((1u << SCRIPT_SLOT_BITS) - 1);
}

static inline uint16_t script_turn(uint64_t word)
{
	return (uint16_t)(word >> (SCRIPT_OP_BITS + SCRIPT_SLOT_BITS));
}

static inline uint64_t script_size(uint64_t word)
{
	return word >> (64 - SCRIPT_SIZE_BITS);
}

/* ---- script_writer: writes a script into a file without a name ---- */

/* The words of one thread; those of its last chunk are in memory. */
struct script_stream {
	uint64_t *words;
	uint32_t used, room; /* of this chunk */
	uint64_t at;         /* of the chunk in the file, in words */
};

struct script_writer {
	int fd;
	uint64_t end; /* of what is taken in the file, in words */
};

/*
 * The file is in TMPDIR or /tmp, or in memory if there can be none. The caller
 * closes w->fd. -errno.
 */
int script_writer_init(struct script_writer *w);

/* Begins the words of a thread; stream->at is where they will be. -ENOMEM. */
int script_writer_open(struct script_writer *w, struct script_stream *s);

/* Appends an operation of up to SCRIPT_OP_WORDS words. -errno of writing. */
int script_writer_put(
    struct script_writer *w, struct script_stream *s, const uint64_t *words, uint32_t count);

/* Appends SCRIPT_END. The stream may be opened again. -errno of writing. */
int script_writer_close(struct script_writer *w, struct script_stream *s);

/* Writes the table of windows and the head. -errno. */
int script_writer_finish(
    struct script_writer *w, struct script_head *head, const uint32_t *windows, size_t count);

#endif
