/* ls_json.h - the list of seep ls as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LS_JSON_H
#define SEEP_LS_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "findings/ls_row.h"

/* The beginning of the object, up to the list of processes. */
void ls_json_begin(void);

/* One process, on stdout. */
void ls_json_process(const struct ls_row *r);

struct ls_json_end {
	uint64_t unread_files, unread_children;
	bool pruned; /* --prune: the two below are given */
	size_t removed, freed;
};
void ls_json_end(const struct ls_json_end *e);

#endif
