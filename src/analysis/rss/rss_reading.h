/* rss_reading.h - where the resident memory of a running process is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RSS_READING_H
#define SEEP_RSS_READING_H

#include "base/std.h"
#include "kit/os/fault.h"
#include "recording/parts/rss_account.h"
#include "session/process/process.h"

/*
 * Reads smaps, the live map and the state of the heap's pages, all from
 * outside: the process makes no system call and has no page fault for it. If
 * its memory cannot be read, the account has no split of the heap, and
 * ret->lack is the reason. Of a process of our own whose mappings cannot be read
 * either there are sums of three kinds (RSS_NO_SMAPS).
 *
 * p->running_pid runs. The process goes on meanwhile; what has changed is
 * ret->moved_bytes. *ret is for rss_account_release().
 * -EACCES: we may not look at all; -ESRCH: it has ended, or become another
 * program; -ETIMEDOUT; -ENODATA: no kernel tells; -ENOMEM.
 */
int rss_reading_read(const struct process *p, struct rss_account *ret, struct fault *where);

/* The same for a process whose struct shall keep it: p->rss_account. */
int rss_reading_attach(struct process *p, struct fault *where);

/* "the system does not let seep read ...": why there is no split, and what to do. */
const char *rss_reading_why(uint32_t lack);

/* ---- rss_pages: shares resident pages of a heap out among its blocks ---- */

/* Whole pages, or any bytes: [start, end). */
struct rss_range {
	uint64_t start, end;
};

struct rss_block {
	uint64_t address, size;
	uint32_t who; /* number in rss_pages.shares */
};

/* What is added up for each owner of blocks. */
struct rss_share {
	uint64_t blocks, live, holds, thin;
};

struct rss_pages {
	uint64_t page_bytes; /* a power of two */
	bool is_glibc;       /* headers and rounding are known exactly */
	struct rss_share *shares;
	size_t share_count;
	/* sums over all pages that were shared out */
	uint64_t live, rounding, partly, free;
	uint64_t fills[RSS_FILLS];
	/* free and partly free bytes where `arena` said yes */
	uint64_t arena_free;
	size_t at; /* of the next block */
};

/*
 * Sorts by address, and makes blocks end where the next one begins: of two that
 * overlap, one was freed while they were read. Implausible ones are left out.
 * Returns how many are left.
 */
size_t rss_pages_settle(struct rss_block *blocks, size_t count);

/*
 * Shares out the resident pages in `run`, which is [start, end) of whole pages.
 * Runs come in ascending order, and the blocks are settled. Each page belongs
 * to the blocks on it, in proportion to their bytes there; shares of a page add
 * up to the page.
 */
void rss_pages_share(struct rss_pages *p, const struct rss_block *blocks, size_t count,
    struct rss_range run, bool is_arena);

/*
 * Which part of a mapping is heap, from the blocks in it: all of it, or where
 * the allocator is glibc's, the mappings of large blocks and the heaps of 64 MiB
 * in which other blocks are, because the kernel joins neighbouring mappings. The
 * first block not below `area` is at *at, which moves behind the area. Ranges
 * are appended to `ret`, sorted. -ENOMEM.
 */
struct rss_ranges {
	struct rss_range *at;
	size_t count, room;
};
int rss_pages_heap(struct rss_range area, uint64_t page_bytes, bool is_glibc,
    const struct rss_block *blocks, size_t count, size_t *at, struct rss_ranges *ret);

/* Appends a range, or extends the last one if they touch. -ENOMEM. */
int rss_pages_add(struct rss_ranges *r, uint64_t start, uint64_t end);

/* A mapping of glibc for one large block begins 16 bytes before it. */
bool rss_pages_is_mapped(const struct rss_block *b, uint64_t page_bytes);

#endif
