/* live_map.h - finds the blocks of a running process, and sums up its counters. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIVE_MAP_H
#define SEEP_LIVE_MAP_H

#include "base/std.h"
#include "format/format.h"
#include "format/seg_log.h"
#include "host/memory/foreign.h"
#include "kit/data/dict.h"
#include "kit/os/fault.h"
#include "segments/read/segment_copy.h"

/* ---- births: births of blocks in a process with an event log ---- */

/*
 * Cells of version 3 have a name in place of the birth, and a table in the
 * host's memory has the births (format/seg_log.h).
 */
struct births {
	struct log_birth *leaves[LOG_BIRTH_LEAVES]; /* NULL: not in use */
	uint32_t newest;                            /* the highest number that has an entry */
	uint32_t newest_tick;                       /* of that entry */
};

/*
 * Copies the table. Negative errno: it cannot be read. The caller calls
 * births_release() in any case.
 */
int births_read(struct births *b, struct foreign *memory, const struct seg_header *h);

/*
 * The tick at which the block with this name was born. A block that is younger
 * than the copy was born at the newest tick of the copy.
 */
uint32_t births_tick(const struct births *b, uint32_t name);

void births_release(struct births *b);

/* ---- sums: sums up the ledger's arrays by site id ---- */

/*
 * The sums of one site id over all arrays, before equal stacks are merged. Sums
 * do not wrap. The share of the peak in a single row may be negative, but the
 * sum should not be.
 */
struct sum_row {
	uint32_t id;
	uint32_t last_tick;
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
	uint64_t live_bytes; /* allocated - freed of all rows, modulo 2^64 */
	int64_t peak_bytes, peak_blocks;
	/* as in the rows; sizes from 2^32 - 1 on are in seg_info */
	uint64_t size_min, size_max;
	uint64_t samples, sampled_frees;
	seg_wide variance_allocated, variance_freed; /* variance of the bytes */
};

struct sums {
	struct sum_row *items; /* by id; ids where nothing happened: none */
	size_t count, room;
	struct dict index;
};

/*
 * Fills l, which is zero before. On -ENOMEM the caller still calls
 * sums_release().
 */
int sums_init(struct sums *l, const struct segment *seg);
void sums_release(struct sums *l);

/*
 * The sum of an id; added at the end, out of order, if it is new. NULL: no
 * memory.
 */
struct sum_row *sums_at(struct sums *l, uint32_t id);

/* Sorts them by id again. */
void sums_sort(struct sums *l);

/* ---- live_map: finds the blocks of a running process in its memory ---- */

/*
 * The process runs meanwhile: a block counts if its cell was set when it was
 * read. Pages that the process has never touched, or that are swapped out, are
 * not read, so this costs the process no memory.
 */
struct live_map_block {
	/* where it begins; if not live_map.is_exact, maybe 16 bytes further */
	uint64_t address;
	uint32_t site;
	uint32_t birth; /* tick; of an inherited one on the parent's clock */
	uint64_t size;
	bool size_known;
	bool is_inherited; /* allocated by the parent: its site is there */
};

struct live_map {
	/* called for each block, unless it is NULL; true: go on */
	bool (*each)(const struct live_map_block *b, void *arg);
	void *arg;
	struct foreign *memory; /* of the process; NULL: it is opened */
	bool wants_inherited;   /* each() also gets inherited blocks */
	bool is_list;           /* each() is all that is wanted: no counts */
	/* of the blocks of its own; allocations: blocks */
	struct sums counts;
	bool is_exact;    /* addresses are exact; false: an older collector */
	bool is_partial;  /* blocks may be missing: no time, swap, no room */
	bool bytes_known; /* false: the size of some block was not read */
	struct fault why; /* after a failure: a sentence, if there is one */
};

/*
 * Reads for about budget_ns; UINT64_MAX: to the end. Negative errno: nothing is
 * known (-EPERM: we may not read it; -ENOTSUP: not a live map that we know;
 * -ESRCH, -EFAULT: it ended meanwhile; -ETIMEDOUT: reading its memory takes too
 * long, see foreign.h; -ENOMEM: also if `each` returned false). m is zero but
 * for its first five fields; the caller calls live_map_release() in any case.
 */
int live_map_read(struct live_map *m, pid_t pid, const struct seg_header *h, uint64_t budget_ns);
void live_map_release(struct live_map *m);

#endif
