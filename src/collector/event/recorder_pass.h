/* recorder_pass.h - events that are not recorded: dormant, off, between samples. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORDER_PASS_H
#define SEEP_RECORDER_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/lifecycle.h"
#include "collector/heap/sample.h"
#include "collector/segment/segment.h"
#include "collector/thread.h"

/*
 * Inline, so that a thread that records nothing pays for a few loads. If a
 * function returns false, the event may have to be recorded, and the hook goes
 * on.
 */

/*
 * An allocation of a thread that is dormant or off. False if the command word
 * has changed.
 */
SEEP_INLINE bool recorder_passes(struct gate *g)
{
	if (unlikely(LOAD(lifecycle_command) != lifecycle_obeyed))
		return false;
	if (unlikely(cpu_add_goes_round(&g->passed, 256 / 64)))
		segment_count(SEG_EVENTS_OFF, 64);
	return true;
}

/* Sampling: does no sample point fall into the next `size` bytes? */
SEEP_INLINE bool recorder_misses(struct gate *g, uint64_t size)
{
	return likely(!cpu_spend(&g->left, size) && LOAD(lifecycle_command) == lifecycle_obeyed);
}

/* An allocation of a thread that is sampling, dormant or off. */
SEEP_INLINE bool recorder_looks_away(struct gate *g, uint64_t size)
{
	const uint32_t state = LOAD(&g->state);

	if (state == THREAD_SAMPLING)
		return recorder_misses(g, size);
	if (state == THREAD_DORMANT || state == THREAD_OFF)
		return recorder_passes(g);
	return false;
}

/* A realloc of such a thread, if the old block is not recorded either. */
SEEP_INLINE bool recorder_looks_away_again(struct gate *g, const void *old, uint64_t size)
{
	if (g->state == THREAD_DORMANT)
		return recorder_passes(g);
	if (g->state != THREAD_SAMPLING || sample_maybe(old))
		return false;
	if (!size || recorder_misses(g, size))
		return true;
	g->left += (int64_t)size; /* recorder_realloc_any() subtracts it again */
	return false;
}

#endif
