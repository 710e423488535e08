/* fuzz_recording.c - any bytes as a file given to `seep report` and its kin. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/twist.h"
#include "lib/whole.h"
#include "kit/os/fault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { CONTENT_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct session *s = NULL;
	struct whole_file f;
	struct fault where;

	whole_open(&f, data, size);
	if (session_load(f.path, &s, &where) == 0) {
		/* a third of it, which one the input says: more inputs */
		whole_session(s, WHOLE_ALL, size, true);
		session_free(s);
	}
	whole_close(&f);
	return 0;
}

/* libFuzzer's own ideas, but inside an entry, behind checksum and zstd. */
static void mutate_inside(struct shape_entry *e)
{
	size_t room = e->content.len * 2 + 64;
	uint8_t *bytes;

	if (room > CONTENT_MAX)
		return;
	bytes = calloc(1, room);
	if (!bytes)
		abort();
	if (e->content.len > 0)
		memcpy(bytes, e->content.bytes, e->content.len);
	room = LLVMFuzzerMutate(bytes, e->content.len, room);
	codec_release(&e->content);
	codec_put_bytes(&e->content, bytes, room);
	free(bytes);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct chance c = {seed};
	struct codec_out out;
	struct shape s;
	size_t i;

	if (chance_below(&c, 8) == 0 || !shape_parse(&s, data, size))
		return LLVMFuzzerMutate(data, size, max_size);
	i = chance_below(&c, s.count);
	if (chance_below(&c, 2))
		mutate_inside(&s.entries[i]);
	else
		twist_random(&s, &s, &c);
	shape_write(&s, &out);
	shape_release(&s);
	if (out.len > 0 && out.len <= max_size) {
		memcpy(data, out.bytes, out.len);
		size = out.len;
	}
	codec_release(&out);
	return size;
}
