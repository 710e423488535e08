/* logpool.h - the chunks of the event log: a file, its mapping, who has which. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGPOOL_H
#define SEEP_LOGPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "format/seg_log.h"

/*
 * The file NAME.seg.log is beside the segment NAME.seg and as safe (place.h):
 * made at the start, mapped, closed, 0400. Behind the pool of the process it has
 * room for those of forked children, as the segment's file has slots. A child
 * with a segment file of its own has a log file of its own, too.
 *
 * What readers write is one byte for each chunk in NAME.seg.log.ctl, which is
 * mapped read-only. If the byte has the value that the chunk's head asks for, the
 * chunk is free again. Whatever else is written there costs parts of the log.
 */
struct logpool {
	struct log_head *head; /* NULL: there is none */
	uint32_t chunk_count;
	uint64_t bytes;          /* mapped at head */
	uint64_t chunk_bytes;    /* LOG_CHUNK_BYTES, or of a ring */
	const uint8_t *returned; /* one byte for each chunk */
	uint8_t *states;         /* private: enum logpool_state */
	uint8_t *uses;           /* private: what returns a chunk */
	uint8_t *made;           /* private: its pages exist */
	uint32_t *closed;        /* private: the order in which they were */
};

extern SEEP_HIDDEN struct logpool logpool;

/* Why logpool_create() returned false: enum seg_log_lack, errno or 0. */
struct logpool_lack {
	uint32_t why, error;
};
extern SEEP_HIDDEN struct logpool_lack logpool_lack;

/*
 * Makes the files beside the segment `name` in the directory `dir`. At the start,
 * and for a child with its own files. False: there is no log.
 */
bool logpool_create(long dir, const char *name);

/* Writes the head; the segment has its uuid. */
void logpool_publish(uint32_t first_number, uint64_t start_ns);

/*
 * Takes a free chunk and clears its first words. NULL: there is none. *ret_index
 * is for the other functions.
 */
struct log_chunk *logpool_take(uint64_t words, uint32_t *ret_index);

/*
 * The same for the flight recorder, which has no reader: if none is free, the
 * chunk that was closed first.
 */
struct log_chunk *logpool_take_oldest(uint32_t *ret_index);

/* It was not used after all. */
void logpool_give_back(uint32_t index);

/* No more words come: the chunk ends at this index. */
void logpool_close(uint32_t index, uint32_t end);

SEEP_INLINE struct log_chunk *logpool_chunk_of(struct log_head *head, uint32_t index)
{
	return (struct log_chunk *)(void *)((uint8_t *)head + LOG_HEAD_BYTES +
	    index * logpool.chunk_bytes);
}

SEEP_INLINE struct log_chunk *logpool_chunk(uint32_t index)
{
	return logpool_chunk_of(logpool.head, index);
}

/*
 * In a forked child: unmaps the parent's pool, as segment_leave() does with the
 * segment. With `keeps_file`, pools of this family's file can be mapped later.
 */
void logpool_leave(bool keep, bool keeps_file);

/*
 * In a forked child: maps the pool for this slot, so that logpool_enter() needs
 * no system call if it gets the same one.
 */
void logpool_prepare(uint32_t slot);

/* The child has this slot. */
void logpool_enter(uint32_t slot);

/* Which pool of the file this is: 0, or 1 + slot. */
uint32_t logpool_number(void);

#endif
