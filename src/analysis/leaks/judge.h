/* judge.h - looks at a process until it is certain what is lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JUDGE_H
#define SEEP_JUDGE_H

#include "base/std.h"
#include "analysis/holders/grown.h"
#include "analysis/holders/root_notes.h"
#include "analysis/leaks/heap.h"
#include "format/format.h"
#include "host/memory/address_ranges.h"
#include "host/memory/foreign.h"
#include "kit/os/fault.h"
#include "recording/parts/verdicts.h"
#include "session/process/process.h"

struct judge_options {
	uint64_t max_bytes; /* of our memory; 0: a quarter of what is left */
	bool with_swapped;
	bool stop;       /* the threads, for the length of each look */
	bool is_waiting; /* at its end, until it was looked at: no rests */
	/*
	 * It waits at its end, with no other thread: blocks of any age are
	 * judged, and what is below its stack pointer holds nothing.
	 */
	bool at_end;
	/* else: only blocks of an earlier tick are judged; 0: than now */
	uint32_t born_before;
	/* of the last look, for judge_detach_heap(); NULL: not wanted */
	struct root_notes *notes;
};

/* What a reader wants to know beyond the verdicts. */
struct judge_about {
	uint64_t pause_ns;   /* for how long threads were stopped, at most */
	uint64_t threads;    /* that were stopped */
	uint64_t read_bytes; /* in the last look */
	struct fault why;    /* words for verdicts.reason, where it has some */
};

struct judge;

/*
 * A process that runs as `pid` and has this segment. Only blocks that were born
 * before this call are judged. Borrows p. -ENOMEM.
 */
int judge_new(
    const struct process *p, pid_t pid, const struct judge_options *o, struct judge **ret);
void judge_free(struct judge *j);

/*
 * One look. After a failure there are no more: judge_finish() has the reason.
 * Where one look was whole and a later one was not, there is no verdict either:
 * a process that ends makes all its blocks seem lost.
 */
int judge_look(struct judge *j);

/* Have there been enough looks? */
bool judge_is_certain(const struct judge *j);

/*
 * With options.notes, the judged heap of the last look, for heap_free(): as a
 * graph it tells who holds what (held.h). NULL: there was no look.
 */
struct heap *judge_detach_heap(struct judge *j);

/* What it may allocate: max_bytes, or what that was by default. */
uint64_t judge_max_bytes(const struct judge *j);

/*
 * What was found; for verdicts_release(). `proof`: one look is enough, because
 * no thread ran meanwhile. -ENOMEM; all else is in ret->reason.
 */
int judge_finish(struct judge *j, bool proof, struct verdicts *ret, struct judge_about *ret_about);

/* enum verdict_reason of a look that failed. */
uint32_t judge_reason(int err, const struct seg_header *h);

/* As judge_options.max_bytes: `asked`, or the default for 0. */
uint64_t judge_memory(uint64_t asked);

/* Has the process blocks that its live map does not have? */
bool judge_lacks_blocks(const struct seg_header *h);

/* ---- fresh: blocks that a process has got while it was looked at ---- */

/*
 * A look lists the blocks first and reads memory then. A program that puts new
 * items in front of a list meanwhile would lose all of it in every look: the
 * head of the list leads to a block that was not there yet, and nobody sees
 * that this one leads to the others. So the blocks are listed once more at the
 * end of a look. Those that are not in `heap`, or are others at the same
 * address, are roots; and `heap` learns where they begin. A block that realloc
 * has moved keeps its birth, so births say nothing here.
 *
 * Those are also added to `grown`, if it is not NULL, and settled there.
 *
 * *ret, empty before, is settled. budget_ns as of live_map_read(); `most`: so
 * many blocks at most. -E2BIG: more; -ENOMEM; all else as of live_map_read().
 */
int fresh_ranges(pid_t pid, struct foreign *memory, const struct seg_header *header,
    struct heap *heap, uint64_t budget_ns, size_t most, struct ranges *ret, struct grown *grown,
    struct fault *where);

#endif
