/* owned.h - memory that belongs to the allocator, and so holds no root. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OWNED_H
#define SEEP_OWNED_H

#include "host/memory/foreign.h"
#include "format/format.h"
#include "analysis/leaks/heap.h"
#include "host/memory/address_ranges.h"
#include "host/proc/roots.h"

/*
 * Freed blocks keep what was in them, and the allocator's lists point into
 * blocks. glibc's memory is known exactly: "[heap]", the heaps of other arenas,
 * which chunks of theirs name, and the mappings of large chunks. Of another
 * allocator the pages with live blocks are, and what is known of jemalloc. Where blocks are unknown, only the
 * blocks themselves are, and all between them counts as roots.
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

#endif
