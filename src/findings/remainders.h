/* remainders.h - blocks that start-up code leaves in recorded processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REMAINDERS_H
#define SEEP_REMAINDERS_H

#include <stdint.h>

/* Blocks that are live at the end and that a report suppresses by default. */
struct remainders {
	uint64_t sites, blocks, bytes;
};

/*
 * Reads a finished recording with the names in it. A process that called exec
 * has nothing left. -ENOMEM, or as session_load().
 */
int remainders_count(const char *path, struct remainders *ret);

#endif
