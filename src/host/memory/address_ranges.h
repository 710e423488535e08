/* address_ranges.h - sets of addresses, what is mapped there, and one pass over them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ADDRESS_RANGES_H
#define SEEP_ADDRESS_RANGES_H

#include "base/std.h"
#include "host/memory/foreign.h"

struct range {
	uint64_t start, end; /* [start, end) */
};

/* After address_ranges_settle(): sorted, and no two of them touch. */
struct ranges {
	struct range *at;
	size_t count, room;
};

/* In any order; they may overlap. Empty ranges are left out. -ENOMEM. */
int address_ranges_add(struct ranges *r, uint64_t start, uint64_t end);

void address_ranges_settle(struct ranges *r);

/* What is in a and not in b, which are both settled. *ret begins empty. */
int address_ranges_subtract(const struct ranges *a, const struct ranges *b, struct ranges *ret);

/* Of a settled set. */
bool address_ranges_hold(const struct ranges *r, uint64_t address);
uint64_t address_ranges_bytes(const struct ranges *r);

void address_ranges_release(struct ranges *r);

/* ---- foreign_areas: what kind of mapping an address of a process belongs to ---- */

enum foreign_area {
	FOREIGN_AREA_NONE,      /* not mapped when we looked */
	FOREIGN_AREA_ANONYMOUS, /* no file */
	FOREIGN_AREA_SHARED,    /* shared memory of any kind */
	FOREIGN_AREA_FILE,      /* any other file */
	FOREIGN_AREA_DEVICE,    /* may be: to read it may do something */
};

/* For the helper: after this call no memory is allocated. */
struct foreign_areas;

/*
 * `maps` and `mounts` are descriptors of /proc/PID/maps and mountinfo; -1: none.
 * shm_device as in struct foreign_helper. NULL: no memory.
 */
struct foreign_areas *foreign_areas_new(int maps, int mounts, uint64_t shm_device);

/*
 * The kind of the page at this address; reads the mappings at the first call.
 */
enum foreign_area foreign_areas_at(struct foreign_areas *a, uint64_t address);

/* ---- pass: one linear pass over the memory of a process ---- */

/*
 * Ranges of any size are gathered, read together, and shown in the order in
 * which they came. Of large ones it is asked first which pages are there, so
 * that reserves of many gigabytes cost next to nothing.
 */
struct pass_visitor {
	/* memory that was read: not 0 ends the pass */
	int (*scan)(void *context, int tag, uint64_t address, const uint8_t *bytes, size_t len);
	/* and that was not; kind: enum foreign_page, never FOREIGN_UNTOUCHED */
	void (*unread)(void *context, uint64_t address, uint64_t bytes, int kind);
	void *context;
};

struct pass;

/* Borrows all until pass_free(). -ENOMEM. */
int pass_new(struct foreign *memory, const struct pass_visitor *visitor, struct fault *where,
    struct pass **ret);

/* [start, end), of any alignment. Errors as of foreign_read(), or `scan`. */
int pass_add(struct pass *p, int tag, uint64_t start, uint64_t end);

/* The same for memory of which nearly all pages are there. */
int pass_add_dense(struct pass *p, int tag, uint64_t start, uint64_t end);

/* Reads what is left. */
int pass_flush(struct pass *p);
void pass_free(struct pass *p);

#endif
