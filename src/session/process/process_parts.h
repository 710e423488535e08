/* process_parts.h - what the files of process.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROCESS_PARTS_H
#define SEEP_PROCESS_PARTS_H

#include "session/process/process.h"
#include "segments/blocks/sums.h"

/*
 * Fills sites, ids, pools and the stacks of a process from the sums of its
 * ledger: ids with the same stack become one site. -ENOMEM.
 */
int process_make_sites(struct process *p, const struct segment *seg, const struct sums *sums);

/* Fills modules, inherited frees and marks. -ENOMEM. */
int process_make_tables(struct process *p, const struct segment *seg);

#endif
