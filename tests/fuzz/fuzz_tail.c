/* fuzz_tail.c - any bytes as a segment that changes while record follows it: what it writes can be replayed, and is what top sees. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "follow/engine/pulse.h"
#include "session/timeline/playback.h"
#include "follow/recorder/tail.h"
#include "patches.h"

enum { ROOM = 1 << 22, SLOTS_READ = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_small(const struct engine_totals *t)
{
	const uint64_t max = UINT64_C(1) << 56; /* sums of these do not wrap */

	return t->allocations < max && t->allocated_bytes < max && t->frees < max &&
	    t->freed_bytes < max;
}

/* Both readers follow the same bytes, so they agree. */
static void compare(const struct engine_totals *now, const struct playback *r)
{
	const struct playback_process *p = playback_process(r, 0);

	if (is_small(now) &&
	    (now->allocations != p->totals.allocations ||
	        now->allocated_bytes != p->totals.allocated_bytes ||
	        now->frees != p->totals.frees || now->freed_bytes != p->totals.freed_bytes))
		abort();
}

static void follow(
    const struct segfile *f, int slot, uint8_t *bytes, size_t size, const struct patch *patches)
{
	const struct playback_hooks hooks = {.rows = true};
	struct tail_room room = {.bytes = ROOM};
	struct pulse_room pulse_room = {.left = ROOM};
	struct codec_out out = {0};
	struct engine_totals now = {0};
	struct seg_header h, seen = {0};
	struct playback *replay;
	struct pulse *pulse;
	struct tail *tail;
	bool is_seen = true, changed;
	int err = 0;

	if (tail_new(1, &room, &tail) < 0 || pulse_new(&pulse_room, false, &pulse) < 0 ||
	    playback_new(&hooks, &replay) < 0)
		abort();
	for (size_t i = 0; i <= PATCHES && err == 0; i++) {
		out.len = 0;
		err = tail_look(tail, f, slot, i % 3 != 1, &out, &h);
		if (err < 0)
			break; /* the caller drops it, and the items */
		err = playback_entry(replay, out.bytes, out.len);
		if (err == -EBADMSG)
			abort();
		is_seen = is_seen && pulse_look(pulse, f, slot, i, &seen, &now, &changed) == 0;
		if (err == 0 && is_seen && playback_count(replay) == 1)
			compare(&now, replay);
		patches_apply(patches, i, bytes, size);
	}
	codec_release(&out);
	playback_free(replay);
	tail_free(tail);
	pulse_free(pulse);
	if (room.bytes != ROOM)
		abort(); /* memory that nobody has given back */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct patch patches[PATCHES] = {{0}};
	struct segfile *f;
	uint8_t *bytes;

	bytes = patches_copy(data, size, patches);
	if (!bytes)
		return 0;
	if (segfile_open_bytes(bytes, size, &f, NULL) == 0) {
		for (int i = SEGFILE_OWN; i < segfile_slots(f) && i < SLOTS_READ; i++)
			follow(f, i, bytes, size, patches);
		segfile_close(f);
	}
	free(bytes);
	return 0;
}
