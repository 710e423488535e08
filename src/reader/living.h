/* living.h - ages and sizes of what lives in a running process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_LIVING_H
#define SEEP_READER_LIVING_H

#include "reader/process.h"

/*
 * Fills the ages of p's sites from the memory of the process, which runs as
 * p->alive_pid; where we may not look they stay as they are. What it
 * allocates and frees meanwhile makes sums differ from the ledger's. -ENOMEM.
 */
int living_read(struct process *p);

#endif
