/* remainders.h - what start-up leaves in the processes of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_REMAINDERS_H
#define SEEP_RECORD_REMAINDERS_H

#include <stdint.h>

/* Of blocks that are live at the end, those that a report suppresses. */
struct remainders {
	uint64_t sites, blocks, bytes;
};

/*
 * Reads a finished recording with the names that it brings along. What became
 * another program (exec) has nothing left. -ENOMEM, or as session_load().
 */
int remainders_count(const char *path, struct remainders *ret);

#endif
