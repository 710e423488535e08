/* logindex.h - what a part of an event log changed: so it can be passed over. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGINDEX_H
#define SEEP_LOGINDEX_H

#include <stddef.h>
#include <stdint.h>

#include "recording/log/logcode.h"

/*
 * An entry of a log may have an index right behind it: the time of its events,
 * and the difference between the blocks that lived before them and after them.
 * A reader who wants what comes later takes the index instead of the events. Most
 * blocks are freed soon, so an index is small; where it would not be, there is
 * none. docs/RECORDING.md describes every byte.
 *
 * It belongs to the last entry of a log before it, which it names by the size and
 * the checksum of the bytes as they are stored.
 */
struct logindex_head {
	uint64_t bytes; /* of the log's entry in the file, with its head */
	uint32_t version;
	uint32_t crc;                      /* of the payload of the log's entry */
	struct logcode_head log;           /* as it is there */
	uint32_t sites, born, moved, gone; /* how many follow */
	/* of all words of the entry, as struct events_sums has them */
	uint64_t allocations, frees, inherited, unlogged, lost;
	uint64_t orphans, strange;
};

/* Events of one site. A free is here if the entry says what it frees. */
struct logindex_site {
	uint32_t site, reserved;
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
};

/* A block that lives behind the entry. */
struct logindex_block {
	uint32_t name, site;
	uint64_t size;
	uint64_t tick; /* of its allocation; moved: of a realloc */
};

_Static_assert(sizeof(struct logindex_head) == 152, "logindex_head");
_Static_assert(sizeof(struct logindex_site) == 40, "logindex_site");
_Static_assert(sizeof(struct logindex_block) == 24, "logindex_block");

enum { LOGINDEX_VERSION = 1 };

/* The arrays are in the bytes that it was made from. */
struct logindex {
	struct logindex_head head;
	const struct logindex_site *sites;
	const struct logindex_block *born;  /* allocated in the entry */
	const struct logindex_block *moved; /* allocated before, and resized */
	const uint32_t *gone;               /* allocated before, and freed */
};

/*
 * `bytes` is aligned to 8 and must outlive *ret. -EBADMSG: its parts do not
 * fit; -ENOTSUP: another version.
 */
int logindex_open(struct logindex *ret, const void *bytes, size_t len);

#endif
