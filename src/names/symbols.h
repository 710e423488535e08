/* symbols.h - the functions of one ELF file, sorted by address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_SYMBOLS_H
#define SEEP_NAMES_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

/* Keeps no descriptor and no mapping: the file may change or go. */
struct symbols;

/*
 * The file is untrusted. build_id_bytes == 0: not known, any file will do.
 * -ESTALE: the file has another build-id; -ENOEXEC: not ELF; -ENODATA: it has
 * no symbols; -EINVAL: not a regular file; -ENOMEM; or as open() says.
 */
int symbols_open(const char *path, const uint8_t *build_id,
    size_t build_id_bytes, struct symbols **ret);

/* NULL is fine. */
void symbols_free(struct symbols *s);

/* How many; symbol numbers are below it. */
size_t symbols_count(const struct symbols *s);

/* Is this from .symtab, and so as good as it gets? */
int symbols_is_full(const struct symbols *s);

/* Number of the function that holds the address, -ENOENT: none. */
int64_t symbols_find(const struct symbols *s, uint64_t address);

/* As in the file (mangled); valid as long as s. */
const char *symbols_name(const struct symbols *s, size_t number);

#endif
