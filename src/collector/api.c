/* api.c - what the host may call: include/seep.h from the other side. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/api.h"

#include "collector/lifecycle.h"
#include "collector/mark.h"
#include "collector/recorder.h"
#include "collector/snap.h"

SEEP_EXPORT int
seep_snapshot(const char *label)
{
	bool counted = lifecycle_slow_begins();
	int answer = 0;

	if (lifecycle_running())
		answer =
		    snap_take(label, SEG_SNAPSHOT_PROGRAM, lifecycle_tables);
	lifecycle_slow_ends(counted);
	return answer;
}

SEEP_EXPORT void
memtrail_snapshot(void)
{
	(void)seep_snapshot(NULL);
}

SEEP_EXPORT void
seep_mark(const char *label)
{
	bool counted = lifecycle_slow_begins();

	if (lifecycle_running())
		mark_put(SEG_MARK_PROGRAM, label);
	lifecycle_slow_ends(counted);
}

SEEP_EXPORT void
seep_pause(void)
{
	recorder_pause(1);
}

SEEP_EXPORT void
seep_resume(void)
{
	recorder_pause(-1);
}
