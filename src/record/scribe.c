/* scribe.c - gathers items of the time line and writes them as entries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/scribe.h"

#include <errno.h>
#include <string.h>

enum {
	LEVEL = 3,             /* of compression */
	PIECE_BYTES = 4 << 20, /* of an entry, before compression */
	LABEL_MAX = 63,
};

/* Times rise, also where a segment says that it began earlier. */
void
scribe_time(struct scribe *s, uint64_t monotonic_ns)
{
	uint64_t us = monotonic_ns > s->start_ns
	    ? (monotonic_ns - s->start_ns) / 1000
	    : 0;
	struct line_out body = {0};

	if (s->has_time && us <= s->time_us)
		return;
	if (us < s->time_us)
		us = s->time_us;
	line_put(&body, us);
	line_put_item(&s->out, LINE_TIME, &body);
	line_release(&body);
	s->time_us = us;
	s->has_time = true;
}

void
scribe_mark(struct scribe *s, enum line_mark kind, pid_t pid, const char *label)
{
	struct line_out body = {0};
	const char *slash = strrchr(label, '/');

	label = slash ? slash + 1 : label;
	line_put(&body, kind);
	line_put(&body, (uint64_t)pid);
	line_put_bytes(&body, label, strnlen(label, LABEL_MAX));
	line_put_item(&s->out, LINE_MARK, &body);
	line_release(&body);
}

static int
write_piece(struct scribe *s, const struct line_out *time, const uint8_t *bytes,
    size_t len)
{
	uint64_t before = bundle_size(s->writer);
	int err;

	err = bundle_append_packed(
	    s->writer, BUNDLE_LINE, time->bytes, time->len, bytes, len, LEVEL);
	s->written_bytes += bundle_size(s->writer) - before;
	return err;
}

int
scribe_flush(struct scribe *s)
{
	struct line_in in = {
	    .at = s->out.bytes, .end = s->out.bytes + s->out.len};
	const uint8_t *start = in.at, *before = in.at;
	struct line_out first = {0}, time = {0}; /* at the start, now */
	struct line_in body;
	uint32_t tag;
	int err = s->out.failed ? -ENOMEM : 0;

	if (s->out.len == 0)
		return err;
	while (err == 0 && line_get_item(&in, &tag, &body)) {
		if (before > start && (size_t)(in.at - start) > PIECE_BYTES) {
			err = write_piece(
			    s, &first, start, (size_t)(before - start));
			start = before;
			first.len = 0;
			line_put_bytes(&first, time.bytes, time.len);
		}
		if (tag == LINE_TIME) {
			time.len = 0;
			line_put_bytes(&time, before, (size_t)(in.at - before));
		}
		before = in.at;
	}
	if (err == 0 && before > start)
		err = write_piece(s, &first, start, (size_t)(before - start));
	line_release(&first);
	line_release(&time);
	s->out.len = 0;
	s->has_time = false;
	if (s->out.room >
	    (size_t)4 * PIECE_BYTES) /* the first look at a large host */
		line_release(&s->out);
	return err;
}

void
scribe_drop(struct scribe *s)
{
	s->out.len = 0;
}

void
scribe_release(struct scribe *s)
{
	line_release(&s->out);
}
