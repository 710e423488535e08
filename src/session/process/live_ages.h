/* live_ages.h - what only a running process knows: ages, mappings, resident pages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIVE_AGES_H
#define SEEP_LIVE_AGES_H

#include "base/std.h"
#include "recording/parts/rss_account.h"
#include "segments/read/segment_copy.h"
#include "session/process/process.h"

/*
 * Fills the ages of p's sites from the memory of the process, which runs as
 * p->running_pid; if we may not read it, they stay as they are. The sums differ
 * from the ledger's by what it allocates and frees meanwhile. -ENOMEM.
 */
int live_ages_read(struct process *p);

/*
 * The same, however long it takes. Negative errno if not all blocks could be
 * read: -ENODATA, or as of live_map_read().
 */
int live_ages_read_whole(struct process *p);

/* Of one site: blocks older than an age, and all blocks that were seen. */
struct live_ages_old {
	uint64_t blocks, bytes, all_blocks;
};

/*
 * Reads a running process again: fills ret, one entry for each of p's sites,
 * with the blocks older than so many ticks. Negative errno if we may not read
 * it, or if some of its blocks or sizes cannot be read (-ENODATA).
 */
int live_ages_older(const struct process *p, uint32_t ticks, struct live_ages_old *ret);

/* ---- mapped_pages: reads from a running process which mappings its callers have ---- */

/* What a site of mappings has now. */
struct mapped_site {
	uint64_t ranges, bytes;
	uint64_t resident_bytes, swapped_bytes;
};

/*
 * All mappings of a process that its collector knows (format/seg_mapped.h), and which
 * of their pages are in memory. The process runs meanwhile, so the figures
 * differ from those of its ledger by what happened in between.
 */
struct mapped {
	struct mapped_site *sites; /* by number of the site in the process */
	size_t count;
	bool is_partial; /* pages of the table were swapped out, or too many */
};

/*
 * Reads it into p->resident, which process_free() frees. -ESRCH: the process
 * does not run, or has ended meanwhile; -ENODATA: it has no such table; -EPERM,
 * -ETIMEDOUT and others as of foreign.h; -ENOMEM.
 */
int mapped_pages_read(struct process *p);

void mapped_pages_free(struct mapped *m);

/* ---- rss_table: an account of resident memory as a table of a snapshot ---- */

/* Adds it to the copy of a segment. -ENOMEM, -EFBIG. */
int rss_table_put(struct segment *seg, const struct rss_account *r);

/* -ENODATA: there is none; -EBADMSG: it is damaged; -ENOMEM. */
int rss_table_take(const struct segment *seg, struct rss_account *ret);

#endif
