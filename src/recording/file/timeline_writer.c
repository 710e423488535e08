/* timeline_writer.c - gathers items of the time line and writes them as entries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/file/codec.h"

#include "kit/words/text.h"

enum {
	LEVEL = 3,             /* of compression */
	PIECE_BYTES = 4 << 20, /* of an entry, before compression */
	LABEL_MAX = 63,
};

/* Times never decrease, even if a segment says that it began earlier. */
void timeline_writer_time(struct timeline_writer *s, uint64_t monotonic_ns)
{
	uint64_t us = monotonic_ns > s->start_ns ? (monotonic_ns - s->start_ns) / 1000 : 0;
	struct codec_out body = {0};

	if (s->has_time && us <= s->time_us)
		return;
	if (us < s->time_us)
		us = s->time_us;
	codec_put(&body, us);
	codec_put_item(&s->out, CODEC_TIME, &body);
	codec_release(&body);
	s->time_us = us;
	s->has_time = true;
}

void timeline_writer_mark(
    struct timeline_writer *s, enum codec_mark kind, pid_t pid, const char *label)
{
	struct codec_out body = {0};

	label = text_base(label);
	codec_put(&body, kind);
	codec_put(&body, (uint64_t)pid);
	codec_put_bytes(&body, label, strnlen(label, LABEL_MAX));
	codec_put_item(&s->out, CODEC_MARK, &body);
	codec_release(&body);
}

static int write_piece(
    struct timeline_writer *s, const struct codec_out *time, const uint8_t *bytes, size_t len)
{
	uint64_t before = recording_size(s->writer);
	int err;

	err = recording_append_packed(
	    s->writer, RECORDING_LINE, time->bytes, time->len, bytes, len, LEVEL);
	s->written_bytes += recording_size(s->writer) - before;
	return err;
}

int timeline_writer_flush(struct timeline_writer *s)
{
	struct codec_in in = {.at = s->out.bytes, .end = s->out.bytes + s->out.len};
	const uint8_t *start = in.at, *before = in.at;
	struct codec_out first = {0}, time = {0}; /* at the start, now */
	struct codec_in body;
	uint32_t tag;
	int err = s->out.failed ? -ENOMEM : 0;

	if (s->out.len == 0)
		return err;
	while (err == 0 && codec_get_item(&in, &tag, &body)) {
		if (before > start && (size_t)(in.at - start) > PIECE_BYTES) {
			err = write_piece(s, &first, start, (size_t)(before - start));
			start = before;
			first.len = 0;
			codec_put_bytes(&first, time.bytes, time.len);
		}
		if (tag == CODEC_TIME) {
			time.len = 0;
			codec_put_bytes(&time, before, (size_t)(in.at - before));
		}
		before = in.at;
	}
	if (err == 0 && before > start)
		err = write_piece(s, &first, start, (size_t)(before - start));
	codec_release(&first);
	codec_release(&time);
	s->out.len = 0;
	s->has_time = false;
	if (s->out.room > (size_t)4 * PIECE_BYTES) /* the first look at a large host */
		codec_release(&s->out);
	return err;
}

void timeline_writer_drop(struct timeline_writer *s)
{
	s->out.len = 0;
}

void timeline_writer_release(struct timeline_writer *s)
{
	codec_release(&s->out);
}
