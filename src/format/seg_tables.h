/* seg_tables.h - the tables of a segment: names, sizes of rows, order of reading. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEG_TABLES_H
#define SEEP_SEG_TABLES_H

#include <stdbool.h>

#include "format/format.h"

/*
 * Each table is listed once: its kind, its name, and the minimum number of
 * bytes of a row. Rows of the oldest segments have this size; newer ones may
 * have more.
 * The order is that in which a segment of a running process is read: a table
 * that refers to another comes before it. The collector writes in the opposite
 * order (a module before the node that names it, a node before its site), so
 * everything that an id read earlier refers to is there when its table is read
 * later.
 */
#define TABLES(TABLE) \
	TABLE(LEDGER, "ledger", sizeof(struct seg_row)) \
	TABLE(SAMPLE, "sample", SEG_SAMPLE_OLD_BYTES) \
	TABLE(INHERITED, "inherited", sizeof(struct seg_inherited)) \
	TABLE(LIVE, "live", offsetof(struct seg_live, sizes)) \
	TABLE(INFO, "info", SEG_INFO_OLD_BYTES) \
	TABLE(SITE_INFO, "site info", sizeof(struct seg_info)) \
	TABLE(AGES, "ages", sizeof(struct seg_ages)) \
	TABLE(MARK, "mark", sizeof(struct seg_mark)) \
	TABLE(SITE, "site", sizeof(struct seg_site)) \
	TABLE(POOL, "pool", sizeof(struct seg_pool)) \
	TABLE(INNER, "inner", sizeof(struct seg_inner)) \
	TABLE(NODE, "node", sizeof(struct seg_node)) \
	TABLE(MODULE, "module", sizeof(struct seg_module)) \
	TABLE(STRING, "string", 1)

#define TABLES_PLACE(kind, name, bytes) TABLES_PLACE_##kind,
enum { TABLES(TABLES_PLACE) TABLES_COUNT };
#undef TABLES_PLACE
_Static_assert((int)TABLES_COUNT == (int)SEG_EXT_SITE_INFO,
    "the kinds are numbered from 1 on: a new one needs a line above");

/* The i-th table to be read; i < TABLES_COUNT. */
static inline uint32_t tables_kind(uint32_t i)
{
#define TABLES_KIND(kind, name, bytes) SEG_EXT_##kind,
	static const uint8_t order[] = {TABLES(TABLES_KIND)};
#undef TABLES_KIND

	return order[i];
}

/* The minimum size of a row in bytes; 0: a kind of a later version. */
static inline uint32_t tables_row_min(uint32_t kind)
{
#define TABLES_BYTES(kind, name, bytes) [SEG_EXT_##kind] = (bytes),
	static const uint16_t least[] = {TABLES(TABLES_BYTES)};
#undef TABLES_BYTES

	return kind <= TABLES_COUNT ? least[kind] : 0;
}

/* Does the time line of a recording contain its rows, as they change? */
static inline bool tables_in_time_line(uint32_t kind)
{
	switch (kind) {
	case SEG_EXT_MARK:
	case SEG_EXT_SITE:
	case SEG_EXT_POOL:
	case SEG_EXT_INNER:
	case SEG_EXT_NODE:
	case SEG_EXT_MODULE:
	case SEG_EXT_STRING:
		return true;
	default:
		return false; /* the ledger has a form of its own there */
	}
}

/* "unknown" for a kind of a later version. */
static inline const char *tables_name(uint32_t kind)
{
	switch (kind) {
#define TABLES_NAME(kind, name, bytes) \
	case SEG_EXT_##kind: \
		return name;
		TABLES(TABLES_NAME)
#undef TABLES_NAME
	default:
		return "unknown";
	}
}

#endif
