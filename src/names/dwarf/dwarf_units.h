/* dwarf_dwarf_units.h - which DWARF unit contains the code at an address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DWARF_UNITS_H
#define SEEP_DWARF_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct units_unit {
	Dwarf_Die die;   /* has ranges and lines */
	Dwarf_Die split; /* has the functions: the same, or from a .dwo */
	const char *dir; /* the directory where it was compiled, or NULL */
	bool has_ranges;
};

struct units_range;

/* All zero before dwarf_units_init(). */
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

/*
 * Uses each unit's own ranges, because not every compiler writes
 * .debug_aranges. -ENOMEM.
 */
int dwarf_units_init(struct units *u, Dwarf *dwarf, Elf *elf);
void dwarf_units_release(struct units *u);

/* Number of the unit that has code there, or UNITS_NONE. */
uint32_t dwarf_units_find(const struct units *u, uint64_t address);

/*
 * Is this the start of real code? Linkers leave the ranges of code that they
 * dropped, moved to address 0 or 1, where they may cover real code. So a range
 * that does not begin in an executable segment is ignored.
 */
bool dwarf_units_is_code(const struct units *u, uint64_t start, uint64_t end);

#endif
