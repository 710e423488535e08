/* debuginfo.h - DWARF: which functions, inlined ones too, are at an address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_DEBUGINFO_H
#define SEEP_NAMES_DEBUGINFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * libdw reads the format; how an address is found is our own: clang and rustc
 * write no .debug_aranges, which libdw goes by, and its scopes walk a whole
 * unit for each address.
 */
struct debuginfo;

/* Texts are valid during the call. */
struct debuginfo_frame {
	const char *name;  /* linkage name, else the plain one; or NULL */
	const char *scope; /* "a::b" of a plain name, or NULL */
	const char *file;  /* or NULL */
	const char *dir;   /* what a relative file is relative to, or NULL */
	uint32_t line;     /* 0: not known */
	bool inlined;      /* into the next */
};

/*
 * `alt` is what .gnu_debugaltlink names, or NULL; both must outlive the
 * result. `elf` is changed: see objfile_hide_unneeded(). -ENODATA: no DWARF;
 * -ENOMEM.
 */
int debuginfo_new(Elf *elf, Elf *alt, struct debuginfo **ret);

/* NULL is fine. */
void debuginfo_free(struct debuginfo *d);

/*
 * Called for each address that something is known about, with its number and
 * what is there, innermost first. Non-zero: stop. count may be 1 with a name
 * of NULL: file and line of code that belongs to no function.
 */
typedef int debuginfo_found(void *context, size_t number,
    const struct debuginfo_frame *frames, size_t count);

/*
 * Addresses are in order. They are answered unit by unit, so in another
 * order; each once. 0, -ENOMEM, or what found() returned.
 */
int debuginfo_resolve(struct debuginfo *d, const uint64_t *addresses,
    size_t count, debuginfo_found *found, void *context);

/* Units whose .dwo file was not found, so far. */
size_t debuginfo_missing_units(const struct debuginfo *d);

#endif
