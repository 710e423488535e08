/* opening.h - one file, opened with care: what the opener's process does. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_OPENING_H
#define SEEP_NAMES_OPENING_H

#include "names/opener.h"

/* As it goes to that process and back; both ends are of one build. */
struct opening_question {
	uint32_t kind;
	uint32_t root_bytes;
	uint32_t chooser;
	uint8_t check_owner;
	uint8_t wants_fd;
	char path[OPENER_PATH_BYTES];
};
struct opening_reply {
	int32_t err;
	struct opener_file file;
};

/*
 * Looks at the file before it opens it: opening a device or a pipe can do
 * things. May take for ever. *ret_fd: for reading, or -1.
 */
void opening_do(
    const struct opening_question *q, struct opening_reply *ret, int *ret_fd);

#endif
