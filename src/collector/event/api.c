/* api.c - what the host may call: include/seep.h from the other side. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/user_pools.h"

#include "collector/heap/resizing.h"
#include "collector/lifecycle.h"
#include "collector/snapshot/mark.h"
#include "collector/event/recorder.h"
#include "collector/snapshot/snap.h"
#include "collector/segment/tick.h"

SEEP_EXPORT int seep_snapshot(const char *label)
{
	bool counted = lifecycle_slow_begins();
	int answer = 0;

	if (lifecycle_running())
		answer = snap_take(label, SEG_SNAPSHOT_PROGRAM);
	lifecycle_slow_ends(counted);
	return answer;
}

SEEP_EXPORT void memtrail_snapshot(void)
{
	(void)seep_snapshot(NULL);
}

SEEP_EXPORT void seep_mark(const char *label)
{
	bool counted = lifecycle_slow_begins();

	if (lifecycle_running())
		mark_put(SEG_MARK_PROGRAM, label);
	lifecycle_slow_ends(counted);
}

SEEP_EXPORT void seep_pause(void)
{
	recorder_pause(1);
}

SEEP_EXPORT void seep_resume(void)
{
	recorder_pause(-1);
}

/* The caller's stack; 0 if recording is off, or this thread has paused. */
static struct site_id stack_of(const struct cpu_frame *c)
{
	tick_read();
	if (lifecycle_running() && lifecycle_poll())
		return recorder_stack(c);
	return (struct site_id){0};
}

static void taken(
    const char *pool, const void *handle, size_t size, const struct cpu_frame *c, uint32_t birth)
{
	struct site_id stack = stack_of(c);

	if (stack.v)
		user_pools_alloc(
		    pool, handle, size, stack, birth == RECORDER_NOW ? tick_now() : birth);
	else if (lifecycle_started())
		user_pools_passed_by();
}

SEEP_EXPORT void seep_alloc(const char *pool, const void *handle, size_t size)
{
	CPU_CALLER(c);
	bool counted;

	if (!handle)
		return;
	counted = lifecycle_slow_begins();
	taken(pool, handle, size, &c, RECORDER_NOW);
	lifecycle_slow_ends(counted);
}

/* Frees are recorded while recording is off, too, as those of blocks are. */
SEEP_EXPORT void seep_free(const char *pool, const void *handle)
{
	bool counted;

	if (!handle)
		return;
	counted = lifecycle_slow_begins();
	if (lifecycle_running()) {
		tick_read();
		user_pools_free(pool, handle);
	}
	lifecycle_slow_ends(counted);
}

SEEP_EXPORT void seep_realloc(const char *pool, const void *old, const void *handle, size_t size)
{
	CPU_CALLER(c);
	uint32_t birth = RECORDER_NOW;
	bool counted;

	if (!handle)
		return; /* it failed, the old one is still there */
	counted = lifecycle_slow_begins();
	if (old && lifecycle_running())
		birth = user_pools_move(pool, old, birth);
	taken(pool, handle, size, &c, birth);
	lifecycle_slow_ends(counted);
}

SEEP_EXPORT void seep_free_all(const char *pool)
{
	bool counted = lifecycle_slow_begins();

	if (lifecycle_running()) {
		tick_read();
		user_pools_free_all(pool);
	}
	lifecycle_slow_ends(counted);
}

SEEP_EXPORT void seep_ignore(const void *p)
{
	bool counted;

	if (!p)
		return;
	counted = lifecycle_slow_begins();
	if (lifecycle_running())
		ignored_add((uint64_t)(uintptr_t)p);
	lifecycle_slow_ends(counted);
}
