/* sample.h - Poisson sampling by bytes: when, and what a sample stands for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SAMPLE_H
#define SEEP_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/hash.h"
#include "format/format.h"

/*
 * Points are placed at random on the stream of allocated bytes, `rate` bytes
 * apart on average, and a block that contains a point is recorded. A block of s
 * bytes is thus recorded with probability p(s) = 1 - exp(-s / rate), and stands
 * for 1 / p(s) blocks of its size: sums of that weight are unbiased for every
 * size. The weight depends on the size alone, so a free has the same weight as
 * the allocation. All arithmetic is fixed point: no libm, no floating-point
 * registers.
 */

/* Once; 0 turns sampling off. False: no memory for the filter. */
bool sample_init(uint64_t rate_bytes);
uint64_t sample_rate(void);

/* Bytes to the next point; *rng is the caller's state, any value but 0. */
int64_t sample_distance(uint64_t *rng);

/* 1 / p(size) as 48.16 fixed point, at least 1. Size 0 counts as 1. */
uint64_t sample_weight(uint64_t size);

/*
 * size^2 w (w - 1): what a block of this size adds to the variance of the
 * estimated bytes.
 */
seg_wide sample_variance(uint64_t size, uint64_t weight);

/*
 * A counting filter over addresses answers most frees: if it says no, the block
 * was not sampled. There are three filters, of 2^12, 2^15 and 2^18 counters,
 * each with all samples. The smallest that is sparse enough is asked, so that a
 * program with few samples keeps its cache. The filter of 2^b begins at 2^b, so
 * one word says both where it is and how large. Counters stay at 255 once they
 * reach it. Updates are atomic, because a lost count would hide a free, which
 * would look like a leak.
 */
enum { SAMPLE_BITS_MIN = 12, SAMPLE_BITS_STEP = 3, SAMPLE_BITS_MAX = 18 };
extern SEEP_HIDDEN uint8_t *sample_filter;
extern SEEP_HIDDEN uint32_t sample_bits; /* of the filter to ask */

SEEP_INLINE uint8_t *sample_slot(const void *p, uint32_t bits)
{
	return &sample_filter[(UINT64_C(1) << bits) |
	    hash_word((uint64_t)(uintptr_t)p) >> (-bits & 63)];
}

SEEP_INLINE bool sample_maybe(const void *p)
{
	return LOAD(sample_slot(p, LOAD(&sample_bits))) != 0;
}

void sample_enter(const void *p);
void sample_remove(const void *p);

#endif
