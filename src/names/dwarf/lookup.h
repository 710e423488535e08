/* lookup.h - reads the files of one module, and names its addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOOKUP_H
#define SEEP_LOOKUP_H

#include "names/find/wire.h"

/* Nothing is owned. */
struct lookup_request {
	struct name_table_key key;
	const uint64_t *addresses; /* sorted; as in the ELF file */
	size_t count;
	bool symbols_only; /* do not read DWARF */
	int jail_error;    /* 0, or why there is no jail: leave DWARF alone */
};

/*
 * Runs in the jail: files are untrusted, and the libraries that read them may
 * crash, loop or use up all memory. Asks for files through ask.h and writes
 * items of wire.h, the last of them WIRE_DONE; both through fd. 0, or an error.
 */
int lookup_run(const struct lookup_request *r, int fd);

#endif
