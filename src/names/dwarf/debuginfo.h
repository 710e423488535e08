/* debuginfo.h - DWARF: which functions, inlined ones too, are at an address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DEBUGINFO_H
#define SEEP_DEBUGINFO_H

#include "base/std.h"

#include <elfutils/libdw.h>

/*
 * libdw reads the format, but the search for an address is our own. libdw uses
 * .debug_aranges, which clang and rustc do not write, and its functions for
 * scopes walk a whole unit for each address.
 */
struct debuginfo;

/* The texts are valid during the call. */
struct debuginfo_frame {
	const char *name;  /* linkage name, else the plain one; or NULL */
	const char *scope; /* "a::b" of a plain name, or NULL */
	const char *file;  /* or NULL */
	const char *dir;   /* what a relative file is relative to, or NULL */
	uint32_t line;     /* 0: not known */
	bool inlined;      /* this function is inlined into the next one */
};

/*
 * `alt` is the file that .gnu_debugaltlink names, or NULL; both must outlive
 * the result. `elf` is changed: see objfile_hide_unneeded(). -ENODATA: no
 * DWARF; -ENOMEM.
 */
int debuginfo_new(Elf *elf, Elf *alt, struct debuginfo **ret);

/* NULL is fine. */
void debuginfo_free(struct debuginfo *d);

/*
 * Called for each address about which something is known, with its number and
 * the functions there, innermost first. A result other than 0 stops. count may
 * be 1 with a name of NULL: file and line of code that belongs to no function.
 */
typedef int debuginfo_found(
    void *context, size_t number, const struct debuginfo_frame *frames, size_t count);

/*
 * `addresses` are sorted. They are answered unit by unit, so in another order,
 * each once. 0, -ENOMEM, or the result of found().
 */
int debuginfo_resolve(struct debuginfo *d, const uint64_t *addresses, size_t count,
    debuginfo_found *found, void *context);

/* Number of units whose .dwo file was not found so far. */
size_t debuginfo_missing_units(const struct debuginfo *d);

/* ---- dwarf_units: which DWARF unit contains the code at an address ---- */

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

/* ---- scopes: the namespaces and classes around a function of DWARF ---- */

/*
 * DWARF has no reference from a function to what contains it. So the path is
 * searched from the unit down. The lists of children on it are kept.
 */
struct scopes;

/* For functions of this unit. -ENOMEM. */
int scopes_new(const Dwarf_Die *unit, struct scopes **ret);

/* NULL is fine. */
void scopes_free(struct scopes *s);

/*
 * "a::b" for a function declared in class b of namespace a; NULL: it is in no
 * scope, or that is not known. Valid as long as s.
 */
const char *scopes_of(struct scopes *s, const Dwarf_Die *function);

#endif
