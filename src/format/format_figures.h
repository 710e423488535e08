/* format_figures.h - rows of a segment that count: blocks, bytes, ages, marks, samples. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FORMAT_FIGURES_H
#define SEEP_FORMAT_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "format/format_words.h"

/*
 * One line of one ledger array. A block may be freed by another thread than the
 * one that allocated it, so a single row may have more frees than allocations;
 * only the sum over all arrays is right for a site. Value at the peak = (epoch
 * == low 32 of header.peak_epoch) ? snap : allocated - freed.
 */
struct seg_row {
	uint64_t allocations;
	uint64_t allocated_bytes;
	uint64_t frees;
	uint64_t freed_bytes;
	int64_t snap_bytes;
	int64_t snap_blocks;
	uint32_t epoch;
	uint32_t last_tick; /* of the last allocation here */
	uint32_t size_min;  /* both stop at 2^32 - 1 */
	uint32_t size_span; /* size_max - size_min; valid if allocations > 0 */
};

/*
 * Rarely needed numbers of a site, relaxed atomics. A site may have several
 * records, which are to be added up, or none.
 */
struct seg_info {
	/*
	 * Deaths at an age of 2^(4+i) .. 2^(5+i) ticks; the last class has no
	 * upper bound. These are the low 32 bits; ages_high has the others: see
	 * seg_deaths().
	 */
	uint32_t ages[SEG_AGE_BUCKETS];
	uint64_t size_max; /* the true maximum if it does not fit 32 bits */
	/*
	 * Who frees these blocks: return addresses of free(), taken from the
	 * frees that look at the clock (about one in 60). These are the four
	 * most frequent ones by the Space-Saving algorithm: a new address
	 * replaces the rarest one and takes over its count, so counts are too
	 * high rather than too low. All are halved before one overflows. A
	 * frame of 0 is an unused entry.
	 */
	uint64_t freed_by[SEG_FREERS];
	uint16_t freed_by_count[SEG_FREERS];
	/* rows of older segments end here: SEG_INFO_OLD_BYTES */
	uint32_t ages_high[SEG_AGE_BUCKETS];
	/* the smallest block of 2^32 - 1 bytes and more; 0: there is none */
	uint64_t size_min;
	uint32_t site; /* of SEG_EXT_SITE_INFO; 0: an unused record */
	uint32_t reserved_32;
	uint64_t reserved_more[4];
};

/* Deaths in one class of ages. */
static inline uint64_t seg_deaths(const struct seg_info *info, uint32_t i)
{
	return (uint64_t)info->ages_high[i] << 32 | info->ages[i];
}

/*
 * Deaths at an age of 2^i .. 2^(i+1) - 1 ticks, the last class below
 * SEG_YOUNG_TICKS. As with seg_row, only the sum over all arrays is right for a
 * site.
 */
struct seg_ages {
	uint64_t deaths[SEG_AGE_STEPS];
};

struct seg_inherited {
	uint64_t frees;
	uint64_t freed_bytes;
};

/*
 * Blocks that were live at exit: the destructor folds them from the live map.
 * Fields of 32 bits stop at 2^32 - 1; their sum is then below `blocks`.
 */
struct seg_live {
	uint32_t ages[SEG_AGE_BUCKETS]; /* as in seg_info, of live blocks */
	uint32_t young;                 /* younger than SEG_YOUNG_TICKS */
	uint32_t pad;
	uint64_t blocks;
	uint64_t bytes;
	uint64_t size_min;
	uint64_t size_max;
	uint64_t reserved;
	/* by size, see seg_size_class(); missing in rows of older segments */
	uint32_t sizes[SEG_SIZE_CLASSES];
	/* by birth, see seg_birth_slot(); missing in rows of older segments */
	uint32_t births[SEG_BIRTH_SLOTS];
};

/* The slots are equal parts of the time from tick 0 to end_tick inclusive. */
static inline uint32_t seg_birth_slot(uint32_t birth, uint32_t end_tick)
{
	if (birth >= end_tick)
		return SEG_BIRTH_SLOTS - 1;
	return (uint32_t)((uint64_t)birth * SEG_BIRTH_SLOTS / ((uint64_t)end_tick + 1));
}

/*
 * Class i has 2^i .. 2^(i+1) - 1 bytes; class 0 also has size 0, and the last
 * class has no upper bound.
 */
static inline uint32_t seg_size_class(uint64_t size)
{
	uint32_t bits = size ? 63 - (uint32_t)__builtin_clzll(size) : 0;

	return bits < SEG_SIZE_CLASSES ? bits : SEG_SIZE_CLASSES - 1;
}

/* Which of ages[] an age of at least SEG_YOUNG_TICKS belongs to. */
static inline uint32_t seg_age_bucket(uint32_t age)
{
	uint32_t i = 27 - (uint32_t)__builtin_clz(age | SEG_YOUNG_TICKS);

	_Static_assert(SEG_YOUNG_TICKS == 1 << 4, "bucket 0 begins there");
	return i < SEG_AGE_BUCKETS ? i : SEG_AGE_BUCKETS - 1;
}

/* Which of seg_ages.deaths[] an age of 1 .. SEG_YOUNG_TICKS - 1 belongs to. */
static inline uint32_t seg_age_step(uint32_t age)
{
	_Static_assert(1 << SEG_AGE_STEPS == SEG_YOUNG_TICKS, "no gap");
	return (31 - (uint32_t)__builtin_clz(age | 1)) & (SEG_AGE_STEPS - 1);
}

struct seg_mark {
	uint64_t sequence; /* 1, 2, ...: written last; 0: being written */
	uint32_t tick;
	uint32_t kind;     /* enum seg_mark_kind */
	uint32_t after_ns; /* ns since the tick began */
	char label[SEG_LABEL_BYTES];
};
enum seg_mark_kind {
	SEG_MARK_SNAPSHOT = 1, /* last of all: this file is a snapshot */
	SEG_MARK_PROGRAM = 2,  /* seep_mark() */
	SEG_MARK_TAKEN = 3,    /* the process begins to write a snapshot */
	SEG_MARK_DEEPBIND = 4, /* it loads module `label` past the hooks */
};

/* The name of a pool of seep_alloc(); two rows may have the same one. */
struct seg_pool {
	uint32_t name_bytes; /* without the NUL, written last */
	uint32_t first_tick;
	char name[SEG_POOL_BYTES]; /* cut if longer */
};

/*
 * Sampled mode: raw samples and weighted figures, fixed point with 16 bits of
 * fraction. The rows of the ledger then hold the weighted figures, rounded
 * down. Figures and variances have 128 bits: the low 64 first. Rows of older
 * segments have only those (SEG_SAMPLE_OLD_BYTES).
 */
struct seg_sample {
	uint64_t samples;
	uint64_t sampled_frees;
	uint64_t weighted_count;
	uint64_t weighted_bytes;
	uint64_t weighted_frees;
	uint64_t weighted_freed_bytes;
	/* sums of s^2 w (w - 1): the variance of the estimated bytes */
	uint64_t variance_allocated;
	uint64_t variance_freed;

	uint64_t weighted_count_high;
	uint64_t weighted_bytes_high;
	uint64_t weighted_frees_high;
	uint64_t weighted_freed_bytes_high;
	uint64_t variance_allocated_high;
	uint64_t variance_freed_high;
	uint64_t reserved[2];
};

typedef unsigned __int128 seg_wide;

static inline seg_wide seg_wide_of(uint64_t low, uint64_t high)
{
	return (seg_wide)high << 64 | low;
}

_Static_assert(sizeof(struct seg_row) == 64, "row");
_Static_assert(sizeof(struct seg_info) == 256, "info");
_Static_assert(offsetof(struct seg_info, ages_high) == SEG_INFO_OLD_BYTES,
    "what older readers know of an info");
_Static_assert(sizeof(struct seg_ages) == 32, "ages");
_Static_assert(sizeof(struct seg_live) == 384, "live");
_Static_assert(offsetof(struct seg_live, births) == 256, "what older readers know of a living one");
_Static_assert(sizeof(struct seg_mark) == 64, "mark");
_Static_assert(sizeof(struct seg_sample) == 128, "sample");
_Static_assert(offsetof(struct seg_sample, weighted_count_high) == SEG_SAMPLE_OLD_BYTES,
    "what older readers know of a sample");
_Static_assert(sizeof(struct seg_pool) == 128, "pool");

#endif
