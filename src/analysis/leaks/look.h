/* look.h - one look at the memory of a process: its blocks and who points to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOOK_H
#define SEEP_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/memory/foreign.h"
#include "session/process/process.h"
#include "format/format.h"
#include "kit/os/fault.h"
#include "analysis/leaks/heap.h"
#include "analysis/holders/root_notes.h"
#include "host/memory/threads.h"

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

#endif
