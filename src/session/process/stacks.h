/* stacks.h - the call stacks of a segment, each kept once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_STACKS_H
#define SEEP_STACKS_H

#include "segments/read/segment_copy.h"

/*
 * The collector may store one stack twice, if two threads race. Here equal
 * stacks have equal numbers. A stack whose frames refer to nothing, or whose
 * parents form a circle, ends with STACKS_UNKNOWN.
 */
struct stacks;

/* Beyond the flags of the format: the record is missing or makes no sense. */
enum { STACKS_UNKNOWN = 1 << 16 };

enum { STACKS_MAX_FRAMES = 4096 }; /* what stacks_frames() gives at most */

/* Keeps seg, which must outlive the calls of stacks_intern(). */
int stacks_new(const struct segment *seg, struct stacks **ret);

/* NULL is fine. */
void stacks_free(struct stacks *s);

/* After the last stacks_intern(): frees what only that function needs. */
void stacks_close(struct stacks *s);

/*
 * The number of the stack that consists of these two halves; numbers begin at
 * 0. -ENOMEM.
 */
int stacks_intern(struct stacks *s, uint32_t inner, uint32_t node, uint32_t *ret);

/*
 * Frames of a stack, innermost first, as in the format; at most max. Returns
 * how many; *ret_flags gets enum seg_node_flags and STACKS_UNKNOWN.
 */
size_t stacks_frames(
    const struct stacks *s, uint32_t stack, uint64_t *frames, size_t max, uint32_t *ret_flags);

/* The flags alone, of the whole stack. */
uint32_t stacks_flags(const struct stacks *s, uint32_t stack);

/*
 * Which of these frames were reached by a guess, because the code of the frame
 * before has no unwind information (SEG_NODE_GUESSED). count: as
 * stacks_frames() returned.
 */
void stacks_guessed(const struct stacks *s, uint32_t stack, bool *ret, size_t count);

/* All frames that occur, in order and each once; for free(). -ENOMEM. */
int stacks_all_frames(const struct stacks *s, uint64_t **ret, size_t *ret_count);

#endif
