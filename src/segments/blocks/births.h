/* births.h - births of blocks in a process with an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BIRTHS_H
#define SEEP_BIRTHS_H

#include <stdint.h>

#include "host/memory/foreign.h"
#include "format/format.h"
#include "format/seg_log.h"

/*
 * Cells of version 3 have a name in place of the birth, and a table in the
 * host's memory has the births (format/seg_log.h).
 */
struct births {
	struct log_birth *leaves[LOG_BIRTH_LEAVES]; /* NULL: not in use */
	uint32_t newest;                            /* the highest number that has an entry */
	uint32_t newest_tick;                       /* of that entry */
};

/*
 * Copies the table. Negative errno: it cannot be read. The caller calls
 * births_release() in any case.
 */
int births_read(struct births *b, struct foreign *memory, const struct seg_header *h);

/*
 * The tick at which the block with this name was born. A block that is younger
 * than the copy was born at the newest tick of the copy.
 */
uint32_t births_tick(const struct births *b, uint32_t name);

void births_release(struct births *b);

#endif
