/* opening.h - opens one file safely: the work of the opener's process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OPENING_H
#define SEEP_OPENING_H

#include "names/jail/opener.h"

/* The structs as they are sent; both ends come from one build. */
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
 * Checks the file before it opens it, because opening a device or a pipe can
 * have effects. May never return. *ret_fd: for reading, or -1.
 */
void opening_do(const struct opening_question *q, struct opening_reply *ret, int *ret_fd);

#endif
