/* units.h - which unit of DWARF the code at an address is from. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_UNITS_H
#define SEEP_NAMES_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct units_unit {
	Dwarf_Die die;   /* has ranges and lines */
	Dwarf_Die split; /* has the functions: the same, or from a .dwo */
	const char *dir; /* where it was compiled, or NULL */
	bool has_ranges;
};

struct units_range;

/* All zero before units_init(). */
struct units {
	struct units_unit *list;
	size_t count, room;
	size_t missing;             /* units whose .dwo was not found */
	struct units_range *ranges; /* by start */
	size_t range_count, range_room;
	struct units_range *code; /* executable segments */
	size_t code_count;
};

enum { UNITS_NONE = UINT32_MAX };

/* From each unit's own ranges: not everybody writes .debug_aranges. -ENOMEM. */
int units_init(struct units *u, Dwarf *dwarf, Elf *elf);
void units_release(struct units *u);

/* Number of the unit that has code there, or UNITS_NONE. */
uint32_t units_find(const struct units *u, uint64_t address);

/*
 * Linkers leave the ranges of code that they dropped, moved to address 0 or 1,
 * where they may cover code that is there: what does not begin in an
 * executable segment is none.
 */
bool units_is_code(const struct units *u, uint64_t start, uint64_t end);

#endif
