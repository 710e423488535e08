/* ledger.h - the counters of sites, and the peak, in O(1) per event. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEDGER_H
#define SEEP_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"
#include "collector/thread.h"

/*
 * The ledger consists of arrays of rows in the segment, indexed by site. Each of
 * the arrays 0 to 15, and from SEG_ARRAYS on, has one thread that writes it, with
 * plain stores. (From SEG_ARRAYS on the segment has other numbers for them:
 * SEG_MORE_ARRAYS and up.) The others are shared by threads and written with
 * atomic operations: by nested events, and by threads for which no array is
 * left. A thread that ends leaves its array to the next one. A reader adds up the
 * rows of a site. ledger_hit.h has what hooks do inline.
 *
 * The peak (research/hotpath.md 5). An epoch is the time from one maximum of the
 * live bytes of the process to the next. When a row is about to change for the
 * first time in an epoch, its live figures are saved first: they are what the
 * site had when the maximum was reached. A row that has not changed in the epoch
 * still has these figures. So the figures of each site at the peak are known at
 * any time, for one comparison per event.
 *
 * The live bytes of the process are the sum of one word per array. They have to
 * be added up only when they may exceed the peak. If one array is in use, that
 * is when its own word does, and the result is exact. If n arrays are in use,
 * threads are granted parts of the headroom (peak minus total): each takes half
 * of what nobody else has, but at least total / (512 n), and adds up again when
 * it has grown by so much. If little is left, it changes the guard half of
 * ledger_word, which makes all grants void: each thread takes a new one at its
 * next event, before it grows. So threads that do not run have none for long,
 * and all grants together exceed the headroom by 1/512 of the total, and by
 * 1/1024 for those that are left as they are. Frees need no such check.
 * Epoch and guard are in one word, so that both are checked with one load of a
 * word that stays in the cache as long as nothing changes.
 */

enum {
	LEDGER_ARRAYS = SEG_ARRAYS + SEG_MORE_COUNT,
	LEDGER_TABLES = LEDGER_ARRAYS * 3 + 3,
};

/* Has the array one thread that writes it? */
SEEP_INLINE bool ledger_is_owned(uint32_t array)
{
	return array < SEG_OWNED_ARRAYS || array >= SEG_ARRAYS;
}

/* epoch << 32 | guard */
extern SEEP_HIDDEN uint64_t ledger_word;

/*
 * Makes an empty ledger for up to SITES_MAX sites from first_id on, at the start
 * and in a forked child. False if there is no memory.
 */
bool ledger_init(uint32_t first_id);

/*
 * Gives a thread an array of its own, or one of the shared arrays. False if
 * there is no memory.
 */
bool ledger_claim(struct thread *t, uint32_t array);
bool ledger_share(struct thread *t, uint32_t array);

/* For ledger_hit.h: a row that is not open, a new share, a new peak. */
struct seg_row *ledger_row_slow(struct thread *t, uint32_t site);
void ledger_sync(struct thread *t);
void ledger_peak(struct thread *t);

/* Includes a size in the smallest and largest size of a row. */
void ledger_sizes(struct seg_row *row, uint32_t site, uint64_t size);

/*
 * Counts the death of a block that was `age` ticks old, at least one, in the
 * array of `t`; NULL for a thread that has no array.
 */
void ledger_age(struct thread *t, uint32_t site, uint32_t age);

/*
 * Notes that a block of the site was freed by the caller with this return
 * address. Only frees that have looked at the clock call it, as a sample of all
 * frees.
 */
void ledger_freed_by(uint32_t site, uint64_t pc);

/* The live bytes of the process, all threads together. */
int64_t ledger_live_bytes(void);

/*
 * For rows that several threads write, with atomic operations: the row of a site
 * in a table of rows, whose figures at the last peak are saved, and what counts
 * an allocation or a free there. NULL: no room, or the site is one of a parent's.
 */
struct seg_row *ledger_row_in(struct segment_table *rows, uint32_t site);
void ledger_row_add(struct seg_row *row, uint32_t site, uint64_t bytes);
void ledger_row_sub(struct seg_row *row, uint64_t bytes);

/*
 * Count an event of a thread that shares an array, with atomic operations. If t
 * is NULL, they use the last array, as nested events do. False if there is no
 * room; the caller counts the loss.
 */
bool ledger_alloc_shared(struct thread *t, uint32_t site, uint64_t size);
bool ledger_free_shared(struct thread *t, uint32_t site, uint64_t size);

/*
 * Count a sampled block, which stands for sample_weight(size) blocks. Any
 * thread; NULL if it is nested or has no array. With atomic operations, because
 * samples are rare.
 */
bool ledger_sampled_alloc(struct thread *t, uint32_t site, uint64_t size);
bool ledger_sampled_free(struct thread *t, uint32_t site, uint64_t size);

/* Counts the free of a block that a forked child has from its parent. */
void ledger_inherited(uint32_t site, uint64_t size);

/* Is this a site of the parent? */
bool ledger_is_inherited(uint32_t site);

/* The tables in use, at most LEDGER_TABLES. Returns their number. */
size_t ledger_tables(struct segment_table **ret_tables, size_t max);

/*
 * The number of allocations and frees so far, estimated if the process is
 * sampled. 0 if counting them would take longer than until_ns.
 */
uint64_t ledger_events(uint64_t until_ns);

/* The sums of all rows. For small ledgers: a forked child's first events. */
struct ledger_sums {
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
};
struct ledger_sums ledger_sums(void);

/*
 * Adds a block that is live at the tick `now` to the table that the destructor
 * writes. False if there is no room.
 */
bool ledger_fold_live(uint32_t site, uint64_t size, uint32_t birth, uint32_t now);

#endif
