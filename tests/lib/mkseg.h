/* mkseg.h - builds segments by hand, for tests of the reader. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_MKSEG_H
#define SEEP_TESTS_MKSEG_H

#include <stddef.h>
#include <stdint.h>

#include "format/format.h"

enum { MKSEG_ROWS = 1024, MKSEG_STRINGS = 8192 };

#define MKSEG_FRAME(module, address) ((uint64_t)(module) << 48 | (address))

/* A segment in the making; out of memory or room ends the test program. */
struct mkseg;

/* Pid 4242, exe /bin/host, one thread, no extents. */
struct mkseg *mkseg_new(void);

/* The same with room for so many rows in each table, not MKSEG_ROWS. */
struct mkseg *mkseg_new_rows(uint32_t rows);

void mkseg_free(struct mkseg *m);

/* To be changed at will before mkseg_finish(). */
struct seg_header *mkseg_header(struct mkseg *m);

/* Each gives the number of the new record, from 1 on. */
uint32_t mkseg_module(struct mkseg *m, const char *path, uint64_t base);
uint32_t mkseg_node(struct mkseg *m, uint64_t frame, uint32_t parent, uint32_t flags);
uint32_t mkseg_inner(struct mkseg *m, const uint64_t *frames, uint32_t n, uint32_t flags);

/* Records by number, zero until filled; valid as long as m. */
struct seg_module *mkseg_module_at(struct mkseg *m, uint32_t number);
struct seg_node *mkseg_node_at(struct mkseg *m, uint32_t number);
struct seg_site *mkseg_site(struct mkseg *m, uint32_t id);
struct seg_row *mkseg_row(struct mkseg *m, uint32_t array, uint32_t id);
struct seg_info *mkseg_info(struct mkseg *m, uint32_t id);
/* One more record, as collectors of today make them. */
struct seg_info *mkseg_site_info(struct mkseg *m, uint32_t id);
struct seg_ages *mkseg_ages(struct mkseg *m, uint32_t array, uint32_t id);
struct seg_live *mkseg_live(struct mkseg *m, uint32_t id);
/* A row as long as that of an older collector: what is behind is not there. */
struct seg_live *mkseg_live_of(struct mkseg *m, uint32_t id, uint32_t bytes);
struct seg_sample *mkseg_sample(struct mkseg *m, uint32_t array, uint32_t id);
struct seg_pool *mkseg_pool(struct mkseg *m, uint32_t number);

/* The table of a kind as an older collector wrote it: shorter rows. */
void mkseg_shorten(struct mkseg *m, uint32_t kind, uint32_t row_bytes);

/* A site of malloc with these frames (innermost first) and the next id. */
uint32_t mkseg_stack(struct mkseg *m, const uint64_t *frames, uint32_t n);

/* A row: n blocks of size allocated, `frees` of them freed. */
void mkseg_book(
    struct mkseg *m, uint32_t array, uint32_t id, uint64_t n, uint64_t size, uint64_t frees);

/* A forked child for the next slot; its bytes are copied. */
void mkseg_child(struct mkseg *m, const void *bytes, size_t len);

/* So many children found no slot. */
void mkseg_untraced(struct mkseg *m, uint64_t n);

/* The file; for free(). */
void *mkseg_finish(struct mkseg *m, size_t *ret_len);

/* Finishes, reads and frees m; for session_free(). Must succeed. */
struct session;
struct session *mkseg_load(struct mkseg *m);

#endif
