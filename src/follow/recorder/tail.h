/* tail.h - watches a segment: what is new since the last look. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TAIL_H
#define SEEP_TAIL_H

#include "segments/read/segfile.h"
#include "recording/file/codec.h"

/*
 * Remembers the sums of each site and the rows of each table that were written
 * last, so that a look costs little more than reading the ledger. The segment
 * is trusted no more than anywhere in the reader. Memory: about 56 bytes per
 * site and array extent, and the unfinished ends of the tables.
 */
struct tail;

/*
 * The bytes that all tails which share it may still use. It must outlive them.
 */
struct tail_room {
	size_t bytes;
};

/* `number` is the number of the process in the items. -ENOMEM. */
int tail_new(uint64_t number, struct tail_room *room, struct tail **ret);
void tail_free(struct tail *t);

/*
 * Looks at the segment in this slot and appends what is new as items: always
 * the totals, if they changed; with `rows` also header, ledger and tables.
 * Frees are read before allocations, as segment_copy_read() does. *ret_header is the
 * header that was read. Negative errno: some of the items may be missing, so
 * the caller drops them and the tail. -EFBIG: there is no room left for it.
 */
int tail_look(struct tail *t, const struct segfile *f, int slot, bool rows, struct codec_out *out,
    struct seg_header *ret_header);

/* Number of site ids seen so far. */
size_t tail_sites(const struct tail *t);

/* Rises if modules were added or have changed. */
uint64_t tail_module_changes(const struct tail *t);

/* Calls `each` for every module that has a path, as written last. */
void tail_modules(const struct tail *t,
    void (*each)(void *context, const struct seg_module *row, const char *path), void *context);

#endif
