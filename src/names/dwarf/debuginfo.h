/* debuginfo.h - DWARF: which functions, inlined ones too, are at an address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DEBUGINFO_H
#define SEEP_DEBUGINFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
