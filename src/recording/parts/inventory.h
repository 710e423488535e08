/* inventory.h - who held how much of a heap at one look, and its blocks by type. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INVENTORY_H
#define SEEP_INVENTORY_H

#include "base/std.h"

/*
 * `seep record --retained` and `--types` make one of these at each look, so that
 * a recording says who held the memory of a process that has ended; the last one
 * of a process counts. It holds numbers, and names of functions, variables,
 * threads and types, never a byte of the heap.
 */
struct inventory_sum {
	uint64_t blocks, bytes;
};

/* A site with live blocks. */
struct inventory_site {
	uint32_t id;          /* in the process's segment, inherited ones too; 0: none */
	const char *function; /* that allocates; NULL: not known */
	const char *held;     /* by whom most of them are held; NULL: nobody */
	struct inventory_sum live, retained;
};

/* What holds much, as words: a root, and the blocks on the way. */
struct inventory_holder {
	struct inventory_sum retained;
	const char *way;
};

/* On disk: the numbers never change their meaning. */
enum inventory_basis {
	INVENTORY_VTABLE = 0,
	INVENTORY_SHARED = 1,
	INVENTORY_FRAMES = 2,
	INVENTORY_BASES = 3,
};

struct inventory_type {
	const char *name;
	const char *container; /* of INVENTORY_FRAMES; NULL: not known */
	uint32_t basis;        /* enum inventory_basis */
	struct inventory_sum live;
};

struct inventory {
	bool has_holders, has_types;
	bool at_exit;                 /* the process was ending */
	bool is_partial;              /* some of its blocks are unknown */
	bool is_short;                /* small sites, holders or types were left out */
	uint64_t time_ns;             /* since the process began (tick 0) */
	uint64_t taken_ns;            /* since 1970 */
	struct inventory_sum all;     /* blocks that something holds */
	struct inventory_sum unheld;  /* to which no pointer was found */
	struct inventory_sum counted; /* by type */
	struct inventory_sum untyped; /* of these, without one */
	struct inventory_site *sites; /* by id */
	size_t site_count;
	struct inventory_holder *holders; /* by what they gather */
	size_t holder_count;
	struct inventory_type *types; /* by bytes */
	size_t type_count;
	char *text; /* the memory that texts point into; NULL: elsewhere */
};

enum {
	INVENTORY_SITES_MAX = 1 << 16,
	INVENTORY_HOLDERS_MAX = 1 << 10,
	INVENTORY_TYPES_MAX = 1 << 16,
	INVENTORY_TEXT_MAX = 8000, /* of one text; longer ones are cut */
};

/*
 * The bytes of an entry RECORDING_INVENTORY after the uuid of the process; the
 * caller frees them. -ENOMEM; -EFBIG beyond the limits above.
 */
int inventory_encode(const struct inventory *v, uint8_t **ret, size_t *ret_len);

/* Decodes untrusted bytes. -EBADMSG: they are damaged; -ENOMEM. */
int inventory_decode(const uint8_t *bytes, size_t len, struct inventory *ret);
void inventory_release(struct inventory *v);

/* The row of a site; NULL: it had no live block, or was left out. */
const struct inventory_site *inventory_find(const struct inventory *v, uint32_t id);

#endif
