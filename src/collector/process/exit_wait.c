/* exit_wait.c - a process that ends waits until a reader has looked at it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/exit_wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <time.h>

#include "base/attr.h"
#include "base/sys.h"
#include "base/cpu/cpu.h"
#include "collector/segment/config.h"
#include "collector/segment/loader.h"
#include "collector/segment/tick.h"

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

void exit_wait(struct seg_header *h, const struct ctl_block *control, const uint32_t *word)
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
