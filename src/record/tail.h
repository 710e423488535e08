/* tail.h - a segment watched over time: what is new since the last look. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_TAIL_H
#define SEEP_RECORD_TAIL_H

#include "reader/segfile.h"
#include "trace/codec.h"

/*
 * Remembers the sums of each site and the rows of each table that were written
 * last, so that a look costs little more than reading the ledger. The segment
 * is trusted no more than anywhere in the reader. Memory: about 56 bytes per
 * site and array extent, and the unfinished ends of the tables.
 */
struct tail;

/* What the tails that share it may still take: bytes. Outlives them. */
struct tail_room {
	size_t bytes;
};

/* `number` is what the items call the process. -ENOMEM. */
int tail_new(uint64_t number, struct tail_room *room, struct tail **ret);
void tail_free(struct tail *t);

/*
 * Looks at the segment in this slot and puts what is new as items: always the
 * totals, if they changed; with `rows` also header, ledger and tables. Frees
 * are read before allocations, as segment_read() does. *ret_header gets the
 * header seen. Negative errno: what was put may miss a part; the caller drops it
 * and the tail. -EFBIG: there is no room left for it.
 */
int tail_look(struct tail *t, const struct segfile *f, int slot, bool rows,
    struct codec_out *out, struct seg_header *ret_header);

/* Ids of sites met so far. */
size_t tail_sites(const struct tail *t);

/* Rises when modules have come, or changed. */
uint64_t tail_module_changes(const struct tail *t);

/* Calls `each` for every module with a path, as written last. */
void tail_modules(const struct tail *t,
    void (*each)(void *context, const struct seg_module *row, const char *path),
    void *context);

#endif
