/* exit.c - the exit of a process: what still lives goes into its segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/exit.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/segment/config.h"
#include "collector/process/exit_wait.h"
#include "collector/heap/ledger.h"
#include "collector/lifecycle.h"
#include "collector/lifecycle_set.h"
#include "collector/heap/live.h"
#include "collector/log/log.h"
#include "collector/event/mapping.h"
#include "collector/segment/mem.h"
#include "collector/process/nursery.h"
#include "collector/segment/place.h"
#include "collector/segment/segment.h"
#include "collector/snapshot/snap.h"
#include "collector/process/spaces.h"
#include "collector/segment/tick.h"
#include "collector/process/untraced.h"
#include "collector/event/user.h"

enum {
	BLOCKS_PER_LOOK = 4096, /* at the clock */
	SCAN_NS = 50000000,
};

struct scan {
	uint64_t until_ns;
	uint32_t now; /* tick */
	uint32_t count;
	bool partial;
};

static bool fold_user(uint32_t site, uint64_t size, uint32_t birth, void *arg)
{
	struct scan *s = arg;

	s->partial |= !ledger_fold_live(site, size, birth, s->now);
	if (++s->count % BLOCKS_PER_LOOK)
		return true;
	if (tick_read() <= s->until_ns)
		return true;
	s->partial = true;
	return false;
}

static bool fold(uint64_t address, struct live_block b, void *arg)
{
	(void)address;
	return fold_user(b.site, b.size, log_birth(b.birth), arg);
}

void exit_process(void)
{
	struct scan s = {0};

	if (!lifecycle_is_settled())
		return;
	untraced_sum_up();
	if (LOAD(&lifecycle_is_early))
		nursery_end();
	if (segment.memory.anonymous || segment.header->end_kind)
		return; /* a vfork child may have called exit() before us */
	exit_wait(segment.header, place.control, lifecycle_command);
	s.until_ns = tick_read() + SCAN_NS;
	s.now = tick_now();
	segment.header->fold_events = ledger_events(s.until_ns);
	spaces_look();
	log_end();
	live_scan(fold, &s);
	if (!s.partial)
		user_scan(fold_user, &s);
	if (!s.partial)
		mapping_scan(fold_user, &s);
	segment.header->live_scan_partial = s.partial;
	segment.header->own_bytes = mem_total();
	segment.header->end_tick = s.now; /* births are parts of it */
	STORE_RELEASE(&segment.header->end_kind, SEG_END_EXITED);
	if (config.is_private)
		snap_write_segment();
}
