/* untraced.c - forked children that could not be recorded, counted. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/untraced.h"

#include "base/sys.h"
#include "collector/process/cradle.h"
#include "collector/segment/ours.h"
#include "collector/segment/place.h"
#include "collector/segment/segment.h"
#include "collector/segment/slots.h"

/*
 * Children that found no place for a file. The first process of a family shares
 * this word with all that fork from it. Its page belongs to no file, and no
 * medium below it can be full, so nobody can turn an access into SIGBUS.
 */
static uint64_t *without_file;
static bool is_counted; /* this process is counted there */
static bool is_first;   /* of its family: it writes the sum down */

bool untraced_start_family(void)
{
	void *p =
	    sys_mmap(NULL, CPU_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (sys_failed(p))
		return false;
	ours_add(p, CPU_PAGE, OURS_FOR_NOW);
	sys_madvise(p, CPU_PAGE, MADV_DONTDUMP);
	without_file = p;
	is_first = true;
	return true;
}

void untraced_restart(void)
{
	is_counted = is_first = false;
}

void untraced_count(void)
{
	if (place.slots.head)
		slots_count_untraced(&place.slots);
	else if (cradle.has_card)
		cradle_stop_card(&cradle);
	else if (without_file && !is_counted)
		ADD(without_file, 1);
	is_counted = true;
}

void untraced_sum_up(void)
{
	if (is_first && without_file)
		STORE(&segment.header->counts[SEG_CHILDREN_UNTRACED], LOAD(without_file));
}
