/* ls_row.h - one process in the list of seep ls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LS_ROW_H
#define SEEP_LS_ROW_H

#include <stdint.h>
#include <sys/types.h>

#include "session/process/process.h"

struct ls_row {
	const struct process *process;
	uid_t owner;           /* of the file */
	uint64_t stored_bytes; /* what the file occupies */
	const char *folder;    /* of the file; "": the name is all of its path */
	const char *name;
};

/* "running", "out of sight", ...: one word for people and for programs. */
const char *ls_row_state(const struct process *p);

/*
 * The pid as we see it, or, if it does not run or is out of sight, as it saw
 * itself.
 */
uint32_t ls_row_pid(const struct process *p);

#endif
