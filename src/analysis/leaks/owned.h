/* owned.h - memory with rules of its own: the allocator's, the kernel's, blocks being resized. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OWNED_H
#define SEEP_OWNED_H

#include "base/std.h"
#include "analysis/leaks/heap.h"
#include "format/format.h"
#include "format/seg_resizing.h"
#include "host/memory/address_ranges.h"
#include "host/memory/foreign.h"
#include "host/proc/roots.h"

/*
 * Freed blocks keep what was in them, and the allocator's lists point into
 * blocks. glibc's memory is known exactly: "[heap]", the heaps of other arenas,
 * which chunks of theirs name, and the mappings of large chunks. Of another
 * allocator the pages with live blocks are, and what is known of jemalloc. Where blocks are
 * unknown, only the blocks themselves are, and all between them counts as roots.
 *
 * A chunk's header may have changed since its block was listed, so it only
 * counts where it makes sense.
 */
struct owned;

enum { OWNED_HEADER = 16 }; /* bytes before a block */

/* Borrows both as long as it lives. -ENOMEM. */
int owned_new(const struct heap *heap, const struct seg_header *header, struct owned **ret);
void owned_free(struct owned *o);

/* Memory in ascending order, in which headers of blocks may be. -ENOMEM. */
int owned_note_headers(struct owned *o, uint64_t address, const uint8_t *bytes, size_t len);

/*
 * What is no root: the allocator's memory, and ours. Settled. -ENOMEM, or as of
 * foreign_read().
 */
int owned_settle(struct owned *o, pid_t pid, struct foreign *memory,
    const struct roots_areas *areas, bool blocks_only, struct ranges *ret, struct fault *where);

/* ---- jemalloc_memory: the memory that jemalloc keeps for itself ---- */

/*
 * jemalloc describes each run of pages in a record outside of it, which points
 * to the first block there; and each thread has arrays of free blocks, whose
 * unused ends point to blocks that are in use again. Taken for roots, these
 * would hold lost blocks. The records lie in large pieces of memory, each of
 * which begins with its own description, so they can be found and checked
 * (jemalloc 5). Where there is nothing of the kind, nothing is added. -ENOMEM,
 * or as of foreign_read().
 */
int jemalloc_memory_ranges(struct foreign *memory, const struct roots_areas *areas,
    struct ranges *ret, struct fault *where);

/* Is this page, at `address`, the beginning of such a piece? Its range. */
bool jemalloc_memory_is_base(
    uint64_t address, const void *page, struct range *ret, uint64_t *ret_used_end);

/* A record of pages; false: it is none. */
bool jemalloc_memory_is_record(const void *bytes, struct range *ret);

/* ---- kernel_words: pointers of a process that only the kernel keeps ---- */

/*
 * A server may give the address of a connection to epoll and keep it nowhere
 * else; likewise the value that a POSIX timer brings along. /proc shows both.
 */
typedef int kernel_word(uint64_t word, void *context);

struct kernel_seen {
	uint64_t epoll_words, timer_words;
	uint64_t not_read; /* files beyond a bound, or that could not be read */
	bool has_io_uring; /* its rings are shared with the kernel: not read */
};

/*
 * Calls `visit` for each word until it returns something else than 0, which is
 * then the answer. -EACCES, -ESRCH: we may not look, or it is gone.
 */
int kernel_words(pid_t pid, kernel_word *visit, void *context, struct kernel_seen *ret);

/* The words of one file: fdinfo of an epoll descriptor, and timers. */
int kernel_words_parse_epoll(const char *text, kernel_word *visit, void *context, uint64_t *count);
int kernel_words_parse_timers(const char *text, kernel_word *visit, void *context, uint64_t *count);

/* ---- moving_blocks: blocks that a process is resizing right now ---- */

/*
 * Such a block is in no live map, but in a note of its thread (format/seg_resizing.h).
 * Whoever resizes it has a pointer to it, so its contents are roots.
 *
 * The notes change while they and the contents are read. If they are the same
 * before and after the contents were read, the contents are those of the block.
 * Otherwise it may have moved on; memory that it has left usually still has its
 * contents, but the allocator may have written into it. So both are read again,
 * up to MOVING_ROUNDS times, and all that was found counts.
 */
enum {
	MOVING_ROUNDS = 16,
	MOVING_PAGES_MAX = 1024, /* of a made-up list of pages, without end */
};

/* Notes that were ever used, in the order of their pages. */
struct moving {
	struct resizing_note *notes;
	size_t count, room;
};

/*
 * Replaces what *m has. An older collector has no notes. -ENOMEM, or as of
 * foreign_read().
 */
int moving_blocks_read(
    struct foreign *memory, const struct seg_header *h, struct moving *m, struct fault *where);
void moving_blocks_release(struct moving *m);

bool moving_blocks_is_same(const struct moving *a, const struct moving *b);

/* Is a block being resized? */
bool moving_blocks_any(const struct moving *m);

#endif
