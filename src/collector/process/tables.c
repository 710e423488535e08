/* tables.c - the list of all tables in the segment of this process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/start.h"

#include "collector/segment/config.h"
#include "collector/heap/ledger.h"
#include "collector/event/mapping.h"
#include "collector/snapshot/mark.h"
#include "collector/unwind/module.h"
#include "collector/heap/sites.h"
#include "collector/snapshot/snap.h"
#include "collector/event/user_pools.h"

_Static_assert((int)TABLES_MAX <= (int)SNAP_TABLES, "a snapshot has them all");

size_t tables_all(struct segment_table **ret)
{
	size_t n = ledger_tables(ret, LEDGER_TABLES);

	ret[n++] = &module_table;
	ret[n++] = &module_strings;
	ret[n++] = &sites_tables[0];
	ret[n++] = &sites_tables[1];
	ret[n++] = &sites_tables[2];
	ret[n++] = &mark_table;
	ret[n++] = &user_pools_tables[0];
	ret[n++] = &user_pools_tables[1];
	if (config.mappings)
		ret[n++] = &mapping_rows;
	return n;
}
