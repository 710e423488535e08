/* fuzz_pulse.c - any bytes as a segment that changes while it is looked at. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "follow/engine/pulse.h"
#include "patches.h"

enum { ROOM = 1 << 20, SLOTS_READ = 6 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct count {
	size_t sites;
	uint32_t last_id;
};

static bool count_site(void *context, const struct engine_site *s)
{
	struct count *c = context;

	if (c->sites++ > 0 && s->id <= c->last_id)
		abort();
	c->last_id = s->id;
	return true;
}

static void look_at(
    const struct segfile *f, int slot, uint8_t *bytes, size_t size, const struct patch *patches)
{
	struct pulse_room room = {.left = ROOM};
	struct engine_totals now = {0};
	struct seg_header h = {0};
	struct pulse *pulse;

	if (pulse_new(&room, true, &pulse) < 0)
		return;
	for (uint64_t i = 0; i <= PATCHES; i++) {
		struct count c = {0};
		bool changed = false;
		size_t n;

		if (pulse_look(pulse, f, slot, i * 40, &h, &now, &changed) == 0 &&
		    (now.live_bytes > now.allocated_bytes || now.live_blocks > now.allocations))
			abort();
		pulse_each(pulse, count_site, &c);
		(void)pulse_moved(pulse, &n);
		if (n > c.sites || c.sites > pulse_site_count(pulse) || n > LIVE_SITES)
			abort();
		for (size_t k = 0; k < n; k++)
			(void)pulse_then(&pulse_moved(pulse, &n)[k], i * 40 - 20);
		if (i % 3 == 2)
			pulse_set_base(pulse);
		pulse_rest(pulse, i * 40);
		patches_apply(patches, i, bytes, size);
	}
	pulse_free(pulse);
	if (room.left != ROOM)
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
		int last = segfile_slots(f);

		for (int i = SEGFILE_OWN; i < last && i < SLOTS_READ; i++)
			look_at(f, i, bytes, size, patches);
		if (last > SLOTS_READ) /* a child in its first events */
			look_at(f, last - 1, bytes, size, patches);
		segfile_close(f);
	}
	free(bytes);
	return 0;
}
