/* lookup.h - reads one module's files and says what is at its addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_LOOKUP_H
#define SEEP_NAMES_LOOKUP_H

#include "names/wire.h"

/* Nothing is owned. */
struct lookup_request {
	struct table_key key;
	const uint64_t *addresses; /* in order, as in the ELF file */
	size_t count;
	bool symbols_only; /* leave DWARF alone */
	int jail_error;    /* 0, or why there is no jail: leave DWARF alone */
};

/*
 * Runs in the jail: files are untrusted, the libraries that read them may
 * crash, loop or eat all memory. Asks for files as of ask.h and writes items
 * as of wire.h, the last of them WIRE_DONE; both through fd. 0, or an error.
 */
int lookup_run(const struct lookup_request *r, int fd);

#endif
