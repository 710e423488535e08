/* exit.c - the exit of a process: what still lives goes into its segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/start.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/attr.h"
#include "collector/segment/config.h"
#include "collector/heap/ledger.h"
#include "collector/lifecycle.h"
#include "collector/lifecycle_set.h"
#include "collector/heap/blocks.h"
#include "collector/log/log.h"
#include "collector/event/mapping.h"
#include "collector/segment/mem.h"
#include "collector/process/early.h"
#include "collector/segment/place.h"
#include "collector/segment/segment.h"
#include "collector/snapshot/snap.h"
#include "collector/process/fork.h"
#include "collector/segment/tick.h"
#include "collector/event/user_pools.h"
#include "base/sys.h"
#include "base/cpu/cpu.h"
#include "collector/segment/loader.h"

#define SECOND_NS UINT64_C(1000000000)

static const uint32_t *libc_threads; /* NULL: not known */

void exit_wait_start(void)
{
	if (config.leaks)
		libc_threads = loader_symbol("__nptl_nthreads");
}

static uint32_t other_threads(void)
{
	uint32_t n = libc_threads ? LOAD(libc_threads) : 0;

	return n ? n - 1 : SEG_EXIT_THREADS_UNKNOWN;
}

/* How long the last beat allows us to wait; 0: there is no reader. */
static uint64_t beat_lasts_until(const struct ctl_block *control, uint64_t now_ns)
{
	uint64_t beat = LOAD(&control->heartbeat);
	uint64_t until = beat + SEG_BEAT_SECONDS * SECOND_NS;

	/* our clock is the coarse one; a beat far in the future is invalid */
	if (!beat || beat > now_ns + SECOND_NS || until <= now_ns)
		return 0;
	return until;
}

/* False: a signal has come, or futex is not available. */
static bool wait_for_change(const uint32_t *word, uint32_t value, uint64_t ns)
{
	const struct timespec t = {
	    .tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
	long err = cpu_syscall6(SYS_futex, (long)word, FUTEX_WAIT, value, (long)&t, 0, 0);

	return err == 0 || err == -EAGAIN || err == -ETIMEDOUT;
}

/* Has the reader finished its look? */
static bool wait_until(
    const struct ctl_block *control, const uint32_t *word, uint32_t answer, uint64_t latest_ns)
{
	for (;;) {
		uint32_t value = LOAD_ACQUIRE(word);
		uint64_t now = tick_read();
		uint64_t until = beat_lasts_until(control, now);

		if (value == answer)
			return true;
		until = until < latest_ns ? until : latest_ns;
		if (until <= now || !wait_for_change(word, value, until - now))
			return false;
	}
}

/*
 * Only with SEEP_LEAKS=1, and only while a reader says that it is there
 * (ctl_block.heartbeat). This is the only place where the collector makes its
 * host wait (I3's exception). It calls futex and nothing else, on the control
 * block, which is mapped read-only. `word` is the command word of this process
 * there.
 * The wait ends when the reader says so in that word, 2 s after its last beat,
 * after SEEP_LEAKS_WAIT seconds in all, or with a signal whose handler returns.
 */
static void wait_for_reader(
    struct seg_header *h, const struct ctl_block *control, const uint32_t *word)
{
	uint64_t now, latest;
	bool was_read;

	if (!config.leaks || LOAD(&h->exit_state) != SEG_EXIT_NONE)
		return;
	now = tick_read();
	latest = now + config.leaks_wait * SECOND_NS;
	if (!beat_lasts_until(control, now))
		return;
	h->exit_tick = tick_now();
	h->exit_threads = other_threads();
	h->exit_until_ns = latest;
	STORE_RELEASE(&h->exit_state, SEG_EXIT_WAITS);
	was_read = wait_until(control, word, seg_exit_answer(h->uuid), latest);
	STORE_RELEASE(&h->exit_state, was_read ? SEG_EXIT_WAS_READ : SEG_EXIT_GAVE_UP);
}

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

static bool fold(uint64_t address, struct block_entry b, void *arg)
{
	(void)address;
	return fold_user(b.site, b.size, log_birth(b.birth), arg);
}

void exit_process(void)
{
	struct scan s = {0};

	if (!lifecycle_is_settled())
		return;
	fork_sum_up();
	if (LOAD(&lifecycle_is_early))
		early_end();
	if (segment.memory.anonymous || segment.header->end_kind)
		return; /* a vfork child may have called exit() before us */
	wait_for_reader(segment.header, place.control, lifecycle_command);
	s.until_ns = tick_read() + SCAN_NS;
	s.now = tick_now();
	segment.header->fold_events = ledger_events(s.until_ns);
	unhooked_look();
	log_end();
	blocks_scan(fold, &s);
	if (!s.partial)
		user_pools_scan(fold_user, &s);
	if (!s.partial)
		mapping_scan(fold_user, &s);
	segment.header->live_scan_partial = s.partial;
	segment.header->own_bytes = mem_total();
	segment.header->end_tick = s.now; /* births are parts of it */
	STORE_RELEASE(&segment.header->end_kind, SEG_END_EXITED);
	if (config.is_private)
		snap_write_segment();
}
