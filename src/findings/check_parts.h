/* check_parts.h - what the parts of a check share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHECK_PARTS_H
#define SEEP_CHECK_PARTS_H

#include "base/std.h"
#include "findings/check.h"

/* Adds one site, or one process, to a sum. */
void check_sum_add(struct check_sum *to, uint64_t bytes, uint64_t blocks, double variance);

/*
 * Fills c->processes: which of them are judged. Adds notes on how each ended
 * and what its figures lack. -ENOMEM.
 */
int check_processes(struct check *c);

/*
 * Compares all sites and limits with the options, which gives the verdict.
 * -ENOMEM.
 */
int check_judge(struct check *c);

/* ---- remainders: blocks that start-up code leaves in recorded processes ---- */

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
