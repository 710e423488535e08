/* seg_own_memory.h - the table of the collector's own memory in a host. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEG_OWN_MEMORY_H
#define SEEP_SEG_OWN_MEMORY_H

#include <stdint.h>

/*
 * A search for pointers must not take the collector's memory for the host's: it
 * holds copies of words of the host's stacks. The table is in the host's
 * private memory, at seg_header.ours_table, and lists each mapping that the
 * collector has made and that is of no file, with the data of its libraries.
 * Mappings of its files are not in it: they are all mappings of the file that
 * is mapped at seg_header.own_address, and of that at control_address.
 *
 * A reader copies the table three times. An entry whose sequence is even and
 * the same in the first and the last copy is what the second copy has.
 */
enum {
	OWN_MEMORY_MAX = 2048, /* entries; others are only counted */
	OURS_ENTRY_BYTES = 32,
};

enum own_memory_kind {
	OWN_MEMORY_NONE = 0,    /* the entry is free */
	OWN_MEMORY_FOREVER = 1, /* may grow at both ends; never unmapped */
	OWN_MEMORY_FOR_NOW = 2,
};

struct own_memory_entry {
	uint64_t start, end; /* whole pages: [start, end) */
	uint32_t kind;       /* enum own_memory_kind */
	uint32_t sequence;   /* odd: being changed */
	uint64_t reserved;
};

_Static_assert(sizeof(struct own_memory_entry) == OURS_ENTRY_BYTES, "entry");

#endif
