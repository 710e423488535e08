/* lookup.h - reads one module's files and says what is at its addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_LOOKUP_H
#define SEEP_NAMES_LOOKUP_H

#include "names/debugfile.h"
#include "names/wire.h"

/* Nothing is owned. */
struct lookup_request {
	struct table_key key;
	struct debugfile_search search;
	const uint64_t *addresses; /* in order, as in the ELF file */
	size_t count;
	bool symbols_only; /* leave DWARF alone */
};

/* Takes all of the bytes; non-zero: stop. */
typedef int lookup_write(void *context, const void *bytes, size_t len);

/*
 * Runs in the jail: files are untrusted, the libraries that read them may
 * crash, loop or eat all memory. Writes items as of wire.h, the last of them
 * WIRE_DONE. 0, or an error.
 */
int lookup_run(
    const struct lookup_request *r, lookup_write *write, void *context);

#endif
