/* look.h - looks at the memory of a process, and what is lost in all of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOOK_H
#define SEEP_LOOK_H

#include "base/std.h"
#include "analysis/holders/root_notes.h"
#include "analysis/leaks/heap.h"
#include "format/format.h"
#include "host/memory/foreign.h"
#include "host/memory/threads.h"
#include "kit/os/fault.h"
#include "session/process/process.h"

/*
 * The process runs on meanwhile, unless its threads are stopped. It makes no
 * system call and gets no page for it. Its memory is read in pieces with rests
 * between them, so that a thread that maps or unmaps memory hardly ever waits
 * for us.
 */
struct look_options {
	uint64_t max_bytes; /* of our memory */
	bool with_swapped;
	/*
	 * Blocks may be missing in the live map: what is between the others then
	 * counts as roots.
	 */
	bool heads_only;
	/* no thread will ever use its stack below the stack pointer again */
	bool skip_dead;
	const struct threads_stop *stop; /* NULL: the threads run */
	bool is_waiting;                 /* for us, at its end: read without rests */
	/* called when its memory has been read; NULL: not */
	void (*read_done)(void *context);
	void *context;
	struct root_notes *notes;      /* shown all roots, if not NULL */
	const struct process *process; /* needed for these */
};

struct look_seen {
	uint64_t blocks, bytes, refused_blocks;
	uint64_t ignored_blocks, ignored_bytes; /* seep_ignore() */
	/* bytes that were not read, by cause */
	uint64_t swapped_bytes, unreadable_bytes, device_bytes, ring_bytes;
	/*
	 * Of shared memory that this process has not touched. A forked child
	 * may have inherited pointers in it.
	 */
	uint64_t unseen_shared_bytes;
	uint64_t read_bytes, root_bytes;
	bool heads_only; /* asked for, or pages of the live map are missing */
	bool is_moving;  /* at the end a block was being resized */
};

/*
 * *ret is judged. -ESRCH: the process has ended, or became another program:
 * nothing is known. -EPERM: we may not look. -ETIMEDOUT: its memory does not
 * come. -ENOTSUP: not a live map that has exact addresses. -E2BIG: more than
 * max_bytes, see `where`. -ENOMEM.
 */
int look_take(pid_t pid, const struct seg_header *header, const struct look_options *o,
    struct heap **ret, struct look_seen *ret_seen, struct fault *where);

/*
 * Only the blocks, without a look at what is in them: *ret has no pointers and
 * is not judged. Of `o` only max_bytes counts. Errors as above.
 */
int look_blocks(pid_t pid, const struct seg_header *header, const struct look_options *o,
    struct foreign *memory, struct heap **ret, struct look_seen *ret_seen, struct fault *where);

/* ---- looks: several looks at a running process: what is lost in all of them ---- */

/*
 * The process runs on while it is read, so that one look may miss a pointer
 * that moves. But a block that is lost stays lost. So a block is a candidate
 * only as long as no look finds it held: the same address, site and birth, born
 * before the first look began. It is lost if nothing at all pointed to it in any
 * of the looks, or in the last LOOKS_MIN: what a function left behind below the
 * stack pointer may go away. Else it is possible.
 *
 * A site is not trusted with a leak where its candidates were seen held again
 * (it moves pointers while we look), or were freed after they had seemed lost
 * more than once (it keeps pointers in a form that we do not see).
 */
enum {
	LOOKS_MIN = 3,
	LOOKS_MAX = 12,
	LOOKS_MOVES_PERCENT = 5, /* of a site's candidates, seen held again */
};

/* Of one site, in all looks so far. */
struct looks_site {
	uint32_t site;
	/* candidates: nothing points to them */
	uint64_t blocks, bytes;
	uint64_t direct, cycle, indirect;
	uint64_t direct_bytes, cycle_bytes, indirect_bytes;
	uint32_t first_birth, last_birth;
	/* held through weak pointers alone, in this look or that */
	uint64_t possible_blocks, possible_bytes;
	uint32_t possible_first_birth, possible_last_birth;
	uint32_t weak; /* bits: 1 << enum heap_weak */
	/* what seemed lost before */
	uint64_t held_again, freed_late;
	bool moves, hides;
};

struct looks;

/* first_tick: the tick at which the first look began. -ENOMEM. */
int looks_new(uint32_t first_tick, struct looks **ret);
void looks_free(struct looks *l);

/* One more look, which heap_judge() has judged. -ENOMEM. */
int looks_add(struct looks *l, const struct heap *h);

/*
 * Would another look change nothing? There were at least LOOKS_MIN, and the
 * last two lost no candidate but by a free.
 */
bool looks_are_enough(const struct looks *l);
int looks_count(const struct looks *l);

/* After the last look: sites with candidates or possible blocks, by site. */
int looks_sites(const struct looks *l, struct looks_site **ret, size_t *ret_count);

/*
 * Calls `visit` for each lost block, by address, until it returns something else
 * than 0, which is the answer.
 */
int looks_each_lost(const struct looks *l,
    int (*visit)(const struct heap_block *b, enum heap_role role, void *context), void *context);

/* Is this block of the last look lost, as told above? */
bool looks_is_lost(const struct looks *l, const struct heap_block *b);

#endif
