/* fuzz_segment.c - any bytes as a segment: read, summed, reported, copied. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "lib/whole.h"
#include "segments/read/segfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The compact copy of what can be read can be read. */
static void check_compact(const struct segfile *f, int slot)
{
	struct segfile *again;
	struct segment *seg;
	void *bytes;
	size_t len;

	if (segfile_compact(f, slot, &bytes, &len, NULL) < 0)
		return;
	if (segfile_open_bytes(bytes, len, &again, NULL) < 0 ||
	    segfile_read(again, SEGFILE_OWN, &seg, NULL) < 0)
		abort();
	segment_copy_free(seg);
	segfile_close(again);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *s;
	struct segfile *f;

	if (segfile_open_bytes(data, size, &f, NULL) == 0) {
		for (int i = SEGFILE_OWN; i < segfile_slots(f); i++)
			check_compact(f, i);
		segfile_close(f);
	}
	if (session_load_bytes(data, size, &s, NULL) < 0)
		return 0;
	whole_session(s, WHOLE_JSON, WHOLE_EVERY, true);
	session_free(s);
	return 0;
}
