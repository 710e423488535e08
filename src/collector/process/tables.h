/* tables.h - the list of all tables in the segment of this process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TABLES_H
#define SEEP_TABLES_H

#include <stddef.h>

#include "collector/heap/ledger.h"
#include "collector/segment/segment.h"

enum {
	TABLES_MAX = LEDGER_TABLES + 9,
};

/* Fills `ret` with at most TABLES_MAX of them, and returns how many. */
size_t tables_all(struct segment_table **ret);

#endif
