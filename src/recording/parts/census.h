/* census.h - all live blocks of a process: their types, and what could be given back. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CENSUS_H
#define SEEP_CENSUS_H

#include "base/std.h"

/*
 * `seep leaks --types` and `--insight` make one of these from the memory of a
 * running process. It holds numbers and names of types, never a byte of the
 * heap.
 */
enum census_basis {
	CENSUS_NONE = 0,   /* no type is known from the memory */
	CENSUS_VTABLE = 1, /* the block begins with a vtable of this class */
	CENSUS_SHARED = 2, /* a control block of shared_ptr has it, or points to it */
};

/* Blocks of one site that have one type; name NULL: CENSUS_NONE. */
struct census_type {
	uint32_t site; /* id in the process's segment, inherited ones too */
	uint32_t basis;
	uint64_t blocks, bytes;
	const char *name;
	/* of CENSUS_VTABLE: address of the vtable, 0: several, or not known */
	uint64_t vtable;
};

/* What one site could give back. */
struct census_spare {
	uint32_t site;
	/* copies of other blocks: of several equal ones all but the first */
	uint64_t equal_blocks, equal_bytes;
	/* large blocks with whole pages that were never written */
	uint64_t unwritten_blocks, unwritten_bytes;
	/* blocks that end with zeros, and the bytes of these in memory */
	uint64_t tail_blocks, tail_bytes;
};

struct census {
	uint64_t blocks, bytes;  /* all that were counted */
	uint64_t refused_blocks; /* of the live map, implausible */
	uint64_t unread_blocks;  /* their memory could not be read */
	uint64_t taken_ns;       /* when: since 1970 */
	bool has_types, has_spare;
	bool is_partial;           /* blocks are unknown, as where a verdict says so */
	struct census_type *types; /* by site, then name */
	size_t type_count;
	struct census_spare *spare; /* by site */
	size_t spare_count;
	uint64_t equal_groups; /* different contents of equal blocks */
	char *text;            /* where names are */
};

void census_release(struct census *c);

#endif
