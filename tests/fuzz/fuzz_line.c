/* fuzz_line.c - any bytes as a time line, alone and as an entry. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "lib/shape.h"
#include "lib/whole.h"
#include "session/process/process.h"
#include "session/timeline/playback.h"
#include "session/load/session.h"
#include "session/timeline/timeline.h"
#include "recording/file/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every state that can be reached can be made a process. */
static void check_states(const struct playback *r)
{
	for (size_t i = 0; i < playback_count(r) && i < 16; i++) {
		struct segment *seg;
		struct process *p;

		if (playback_segment(playback_process(r, i), &seg) < 0)
			continue;
		if (process_new(seg, &p) == 0)
			process_free(p);
		segment_copy_free(seg);
	}
}

static void ask(const struct session *s)
{
	for (size_t i = 0; s->line && i < s->count && i < 4; i++) {
		const struct process *p = s->processes[i];
		size_t *sites, n;

		if (timeline_top(s->line, p, s->until_us / 3, 5, &sites, &n) < 0)
			continue;
		for (size_t k = 0; k < n; k++) {
			struct timeline_series series = {.site = sites[k]};

			(void)timeline_series(s->line, p, &series, 1, 8);
			free(series.points);
		}
		free(sites);
	}
}

/* The same bytes in a recording that has no end: as after a kill. */
static void check_recording(const uint8_t *data, size_t size)
{
	struct shape shape = {
	    .head = {RECORDING_MAGIC, RECORDING_VERSION, sizeof(shape.head), 0, 0}};
	struct shape_entry e = {.type = RECORDING_LINE};
	struct whole_file f;
	struct codec_out bytes;
	struct session *s;

	codec_put_bytes(&e.content, data, size);
	shape_insert(&shape, 0, &e);
	shape_write(&shape, &bytes);
	shape_release(&shape);
	codec_release(&e.content);
	whole_open(&f, bytes.bytes, bytes.len);
	codec_release(&bytes);
	if (session_load(f.path, &s, NULL) == 0) {
		ask(s);
		session_free(s);
	}
	whole_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct playback_hooks hooks = {.rows = true};
	struct playback *r;

	if (playback_new(&hooks, &r) < 0)
		return 0;
	(void)playback_entry(r, data, size);
	check_states(r);
	playback_free(r);
	check_recording(data, size);
	return 0;
}
