/* module.h - loaded objects: ranges, unwind tables, names, build-ids. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MODULE_H
#define SEEP_MODULE_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "format/format.h"

/*
 * A module enters the table when a walk first meets an address in it, and never
 * leaves the table. If the object is unloaded, it is marked gone. Another
 * object that is mapped there later becomes a module of its own, unless its
 * build-id, name and address are the same. Lock-free; a signal handler may call
 * everything here but module_init().
 *
 * All reads from an object's memory are within the readable segment that holds
 * its unwind tables. The object cannot be unloaded meanwhile, because an
 * address of it is on the caller's stack.
 */
struct module {
	uint64_t start, end; /* mapped range */
	uint64_t base;       /* load bias */
	const void *link_map;
	const uint8_t *eh_hdr;          /* .eh_frame_hdr, NULL: none that we can read */
	const uint8_t *seg_lo, *seg_hi; /* segment that contains it */
	const int32_t *table;           /* sorted (function, FDE) offsets */
	uint32_t table_count;
	uint64_t text_lo, text_hi; /* readable code; empty: none */
	const char *name;          /* private copy, because link maps come and go */
	struct seg_module row;     /* as the segment has it, for forked children */
	uint32_t number;           /* 1.. ; goes into frames */
	uint32_t verified;         /* generation in which it was last compared */
	uint32_t older;            /* number of the next in its chain: module.c */
	uint32_t life;             /* in which process of a chain of forks it has a row */
	uint32_t written;          /* 1: row and name are in the segment */
};

/* Once; find_object is _dl_find_object, exe the path of the executable. */
bool module_init(void *find_object, const char *exe);

/*
 * The module of an address on the caller's stack. NULL if the address is in no
 * module (JIT code), or if the table is full. If this finds that a known module
 * is gone, it changes module_gen.
 */
const struct module *module_of(uint64_t pc);

/*
 * Something may have been unloaded, so the name and build-id of each module are
 * compared before it is trusted again.
 */
void module_distrust(void);

/*
 * The generation. It changes in module_distrust(), and when a module is found
 * gone. Unwind rules and memos of older generations are not trusted.
 */
extern SEEP_HIDDEN uint32_t module_gen;

/* A forked child writes the table anew into its own segment. */
bool module_restart(void);

/* The tables of this file, for segment_move(). */
extern SEEP_HIDDEN struct segment_table module_table, module_strings;

/* Do two addresses belong to one loaded object? Start-up. */
bool module_same(const void *a, const void *b);

/* Where the object with this address is mapped; false if none has it. */
bool module_range(const void *p, uint64_t *ret_start, uint64_t *ret_end);

/*
 * The executable's link map; NULL if it is not found. fn is _dl_find_object.
 * Start-up.
 */
const struct link_map *module_of_executable(void *fn);

/* Range of our own code, to recognise our frames on a stack. */
bool module_is_own(uint64_t pc);

#endif
