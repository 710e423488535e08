/* by_type.h - live blocks by C++ type. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BY_TYPE_H
#define SEEP_BY_TYPE_H

#include "findings/by_type_find.h"
#include "findings/census_view.h"
#include "recording/parts/census.h"
#include "recording/parts/inventory.h"
#include "kit/data/dict.h"

/* How a type is known. */
enum by_type_basis {
	BY_TYPE_VTABLE, /* the block begins with its vtable */
	BY_TYPE_SHARED, /* a control block of shared_ptr has it, or points there */
	BY_TYPE_FRAMES, /* template arguments of the allocating functions */
};

struct by_type_row {
	char *name;
	const char *container; /* of BY_TYPE_FRAMES; NULL: not known */
	int basis;             /* enum by_type_basis */
	uint64_t blocks, bytes;
	uint64_t old_blocks, old_bytes; /* of the other moment */
	/* of BY_TYPE_VTABLE: where its vtable is; NULL: in several places */
	const char *module; /* path */
	uint64_t offset;    /* of the vtable from where the module begins */
};

struct by_type_sum {
	uint64_t blocks, bytes;
};

struct by_type {
	struct by_type_row *rows; /* largest first; compared: largest growth */
	size_t count, room;
	struct by_type_sum all, none, filtered;
	/* blocks that have a type in both ways, which are equal or not */
	uint64_t both_agree, both_differ;
	bool is_compared;
	struct by_type_sum old_all, old_none;
	uint64_t taken_ns, old_taken_ns; /* since 1970 */
	struct dict find;
};

/*
 * From the census of p, which has types. What functions say is in f, or, if that
 * is NULL, in the stacks of v, whose filters count. Not sorted: by_type_settle()
 * follows. -ENOMEM.
 */
int by_type_make(const struct process *p, const struct census *c, const struct census_view *v,
    const struct by_type_find *f, struct by_type *ret);
void by_type_release(struct by_type *t);

/* Adds a row that was stored, or one of another moment. -ENOMEM. */
int by_type_add(struct by_type *t, const char *name, const char *container, int basis,
    uint64_t blocks, uint64_t bytes);
int by_type_add_old(struct by_type *t, const char *name, const char *container, int basis,
    uint64_t blocks, uint64_t bytes);

/* Adds what a recording has stored, of this moment or of the other one. -ENOMEM. */
int by_type_add_inventory(struct by_type *t, const struct inventory *v, bool is_old);

/* Sorts the rows, when all are there. */
void by_type_settle(struct by_type *t);

/* "vtable", "shared_ptr", "frames"; the other way round -1: none of these */
const char *by_type_basis_key(int basis);
int by_type_basis_of(const char *key);

#endif
