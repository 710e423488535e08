/* snapwhen.c - snapshots that the host does not ask for: signal, time, growth. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/snapshot/snap.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/attr.h"
#include "collector/segment/config.h"
#include "collector/heap/ledger.h"
#include "collector/lifecycle.h"
#include "collector/segment/loader.h"
#include "collector/segment/segment.h"
#include "collector/segment/tick.h"

bool snapwhen_active;
static uint32_t period; /* ticks, 0: none */
static uint32_t next_tick;
static int64_t next_level; /* live bytes */
static uint32_t signal_taken, signal_state;

static void schedule(void)
{
	STORE(&next_tick, tick_now() + period);
	STORE(&next_level, (int64_t)config.every_bytes);
}

/* The thread that advances next_tick takes the snapshot. */
static bool is_time(void)
{
	uint32_t due = LOAD(&next_tick), now = tick_now();

	return period && now >= due && CAS(&next_tick, &due, now + period);
}

/*
 * Has live memory grown by SEEP_EVERY since the last one? Falling is ignored.
 */
static bool has_grown(void)
{
	int64_t level = LOAD(&next_level), live;

	if (!config.every_bytes)
		return false;
	live = ledger_live_bytes();
	return live >= level && CAS(&next_level, &level, live + (int64_t)config.every_bytes);
}

SEEP_COLD static void take(enum seg_snapshot why)
{
	(void)snap_take(NULL, why);
}

void snapwhen_poll(void)
{
	if (is_time())
		take(SEG_SNAPSHOT_PERIOD);
	if (has_grown())
		take(SEG_SNAPSHOT_GROWTH);
}

static void on_signal(int number)
{
	bool counted = lifecycle_slow_begins();

	(void)number;
	if (lifecycle_running())
		take(SEG_SNAPSHOT_SIGNAL);
	lifecycle_slow_ends(counted);
}

/* Refuses signals that end, stop or rescue a program, and libc's own. */
static bool is_fit(int32_t number)
{
	static const uint8_t unfit[] = {SIGINT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL,
	    SIGSEGV, SIGPIPE, SIGTERM, SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
	    SIGXFSZ, SIGSYS, 32, 33};
	size_t i;

	for (i = 0; i < sizeof(unfit); i++) {
		if (number == unfit[i])
			return false;
	}
	return number > 0 && number <= 64;
}

/*
 * Goes through libc, because every unwinder knows how libc's handlers return.
 * The handler is installed only if the signal has its default action; an
 * ignored signal stays ignored.
 */
static enum seg_signal install(int32_t number)
{
	int (*action)(int, const struct sigaction *, struct sigaction *);
	void *sym = loader_after_us("sigaction");
	struct sigaction mine, old;

	if (!is_fit(number))
		return SEG_SIGNAL_UNFIT;
	if (!sym)
		return SEG_SIGNAL_FAILED;
	memcpy(&action, &sym, sizeof(action));
	memset(&mine, 0, sizeof(mine));
	mine.sa_handler = on_signal;
	mine.sa_flags = SA_RESTART | SA_ONSTACK;
	if (action(number, NULL, &old) != 0)
		return SEG_SIGNAL_FAILED;
	if (old.sa_handler != SIG_DFL)
		return SEG_SIGNAL_TAKEN;
	return action(number, &mine, NULL) ? SEG_SIGNAL_FAILED : SEG_SIGNAL_INSTALLED;
}

void snapwhen_restart(struct seg_header *h)
{
	schedule();
	h->signal = signal_taken;
	h->signal_state = signal_state;
}

void snapwhen_start(struct seg_header *h)
{
	if (config.signal) {
		signal_state = install(config.signal);
		signal_taken = config.signal > 0 ? (uint32_t)config.signal : 0;
		if (signal_state != SEG_SIGNAL_INSTALLED)
			h->counts[SEG_SIGNAL_REFUSED] = 1;
	}
	if (config.every_ns) {
		uint64_t ticks = config.every_ns / SEG_TICK_NS;

		period = ticks > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)ticks;
		if (!period)
			period = 1;
	}
	snapwhen_active = config.every_ns || config.every_bytes;
	snapwhen_restart(h);
}
