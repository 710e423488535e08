/* by_type.h - live blocks by C++ type. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BY_TYPE_H
#define SEEP_BY_TYPE_H

#include "kit/data/dict.h"
#include "names/find/names.h"
#include "recording/parts/census.h"
#include "recording/parts/inventory.h"
#include "session/load/session.h"
#include "view/sites/view.h"
#include "view/stacks/fingerprint.h"

/* ---- by_type_find: what allocating functions say of the types of blocks, by their innermost
 * frames alone ---- */

/*
 * A large program has very many sites with long stacks, and a view names all of
 * them. Types only need the few innermost frames of sites with live blocks, so
 * only these are looked up; more of them where the first do not decide.
 */
struct by_type_find;

/*
 * For all sites of a census of p. Texts are those of names, which must outlive
 * it. -ENOMEM.
 */
int by_type_find_new(const struct session *s, const struct process *p, struct names *names,
    const struct census *c, struct by_type_find **ret);

/* NULL is fine. */
void by_type_find_free(struct by_type_find *f);

/* false: the functions of this site do not say, or it is not in the census. */
bool by_type_find_site(const struct by_type_find *f, uint32_t site, struct element *ret);

/* ---- census_view: the stacks of the sites in a census ---- */

/* Of the process, then of ancestors whose blocks it has inherited. */
struct census_view {
	struct view **views;
	size_t count;
	bool is_filtered; /* the options leave sites out */
};

/* Do these options leave sites out? */
bool census_view_filters(const struct view_options *options);

/*
 * Selected and shaped by options (metric, figures and group do not matter).
 * -ENOMEM.
 */
int census_view_make(const struct session *s, const struct process *p, struct names *names,
    const struct view_options *options, struct census_view *ret);
void census_view_release(struct census_view *v);

/*
 * The site with this id of the process's census, and the view that has it;
 * NULL: it was filtered, or its process is not in the session.
 */
const struct view_site *census_view_find(
    const struct census_view *v, uint32_t id, const struct view **ret);

/* ---- by_type: live blocks by C++ type ---- */

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

/* ---- spare: what the sites of a process could give back ---- */

struct spare_line {
	struct census_spare sum;
	const struct view *view;      /* NULL: the stack is not known */
	const struct view_site *site; /* likewise */
};

struct spare {
	struct spare_line *lines; /* largest sum of bytes first */
	size_t count;
	struct census_spare all;      /* of these lines */
	struct census_spare filtered; /* of those left out */
};

/* From a census that has it; borrows both. -ENOMEM. */
int spare_make(const struct census *c, const struct census_view *v, struct spare *ret);
void spare_release(struct spare *s);

#endif
