/* events.h - the events of a log: every free finds its allocation. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EVENTS_H
#define SEEP_EVENTS_H

#include "base/std.h"
#include "recording/log/logcode.h"

enum events_kind {
	EVENTS_ALLOC,
	EVENTS_FREE,
	EVENTS_REALLOC,   /* a free of old_site and an allocation of site */
	EVENTS_INHERITED, /* free of a block of the parent: site is its site */
	EVENTS_UNLOGGED,  /* free of a block whose allocation was lost */
	EVENTS_GAP,       /* events that are not in the log: count */
};

struct events_event {
	const struct logcode_head *process;
	enum events_kind kind;
	uint64_t tick; /* LOG_TICK_NS since the process started */
	uint32_t thread, tid;
	uint32_t name; /* of the block; 0: none */
	uint32_t site;
	uint64_t size;
	uint64_t address; /* 0: not logged */
	/* of EVENTS_FREE and EVENTS_REALLOC: what the block was */
	bool was_found; /* false: the log does not have its allocation */
	uint32_t old_site;
	uint64_t old_size;
	uint64_t old_address; /* 0: not logged */
	uint64_t born;        /* tick */
	uint64_t count;
	/*
	 * Of these, if was_found: is it freed or resized by the thread that
	 * allocated or resized it last, and how many allocations has that thread
	 * made since? Lost events count as allocations. Not known after
	 * events_skip().
	 */
	bool is_same_thread;
	uint32_t between;
	/*
	 * Of an allocation, free or realloc: a number that `each` may set, and
	 * that stays with the block; 0 at first.
	 */
	uint64_t *mark;
};

/*
 * Keeps the blocks that live. Logs are untrusted: words that make no sense are
 * skipped and counted, and there are at most as many blocks as words were fed.
 */
struct events;

/*
 * `each` is called for each event; a result other than 0 ends the feeding. NULL:
 * nobody is.
 */
typedef int events_each(void *context, const struct events_event *e);
int events_new(events_each *each, void *context, struct events **ret);
void events_free(struct events *e); /* NULL is fine */

/*
 * Milliseconds from base_ns (CLOCK_MONOTONIC) to a tick of a process; 0 if it is
 * before.
 */
uint64_t events_time_ms(const struct logcode_head *process, uint64_t tick, uint64_t base_ns);

/*
 * Before the first entry: events later than until_ms after base_ns are left out,
 * and so are frees of blocks whose allocation is left out.
 */
void events_cut(struct events *e, uint64_t base_ns, uint64_t until_ms);

/* Before the first entry: counts by site are kept. */
void events_count_sites(struct events *e);

/* One entry. The result of `each`, or -ENOMEM. */
int events_feed(struct events *e, const struct logcode *c);

/*
 * The same by its index: `each` is not called. All of its events must be before
 * the cut. -ENOMEM.
 */
struct logindex;
int events_skip(struct events *e, const struct logindex *x);

/* An entry of which all events are later than the cut, by its index. -ENOMEM. */
int events_drop(struct events *e, const struct logindex *x);

struct events_sums {
	uint64_t allocations, frees; /* a realloc is one of each */
	uint64_t inherited, unlogged, lost;
	uint64_t orphans; /* frees of what was never allocated */
	uint64_t strange; /* words that make no sense */
};
struct events_sums events_sums(const struct events *e);

/* What is known of one process; valid until the next entry. */
struct events_process {
	struct events_sums sums;
	const struct logblocks *blocks; /* that live */
	const struct logsites *sites;   /* empty without events_count_sites() */
	bool is_whole;                  /* nothing of it was left out by events_cut() */
	/* allocations and frees that were; a realloc is one of each */
	uint64_t left_out;
};

/* False: the log has nothing of it. */
bool events_process(const struct events *e, const uint8_t uuid[16], struct events_process *ret);

#endif
