/* symbols.h - the functions of one ELF file, sorted by address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_SYMBOLS_H
#define SEEP_NAMES_SYMBOLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keeps its own copy of the symbols. */
struct symbols;

/*
 * From .symtab, or from .dynsym if `dynamic`. -ENODATA: it has none; -EFBIG;
 * -ENOMEM.
 */
int symbols_new(Elf *elf, bool dynamic, struct symbols **ret);

/* NULL is fine. */
void symbols_free(struct symbols *s);

/*
 * Name of the function that contains the address; NULL: none. *ret_file: the
 * source file of a local function, or NULL. Valid as long as s.
 */
const char *symbols_name(
    const struct symbols *s, uint64_t address, const char **ret_file);

#endif
