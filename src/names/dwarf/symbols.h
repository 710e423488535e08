/* symbols.h - the functions or variables of one ELF file, sorted by address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SYMBOLS_H
#define SEEP_SYMBOLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keeps its own copy of the symbols. */
struct symbols;

enum symbols_kind {
	SYMBOLS_CODE, /* functions */
	SYMBOLS_DATA, /* variables */
	SYMBOLS_TLS,  /* thread-local ones: offsets, not addresses */
};

/*
 * From .symtab, or from .dynsym if `dynamic`. -ENODATA: it has none; -EFBIG;
 * -ENOMEM.
 */
int symbols_new(Elf *elf, bool dynamic, enum symbols_kind kind, struct symbols **ret);

/* NULL is fine. */
void symbols_free(struct symbols *s);

/*
 * Name of the function that contains the address; NULL: none. *ret_file: the
 * source file of a local function, or NULL. Valid as long as s.
 */
const char *symbols_name(const struct symbols *s, uint64_t address, const char **ret_file);

/* Have several functions of C++ that address? Any of them may have been called. */
bool symbols_is_folded(const struct symbols *s, uint64_t address);

/* A variable, and which of its bytes the address is. */
struct symbols_variable {
	const char *name;
	const char *file; /* of a local one; or NULL */
	uint64_t offset;
	bool is_local; /* the linker does not let others see it */
};

/* Of SYMBOLS_DATA or SYMBOLS_TLS; false: the address is in no variable. */
bool symbols_variable(const struct symbols *s, uint64_t address, struct symbols_variable *ret);

#endif
