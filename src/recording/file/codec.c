/* codec.c - encodes and decodes the items of a recording's time line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/file/codec.h"

#include "kit/words/text.h"

enum { VARINT_MAX = 10, ROOM_FIRST = 4096 };

static bool make_room(struct codec_out *o, size_t more)
{
	size_t room = o->room ? o->room : ROOM_FIRST;
	uint8_t *bytes;

	if (o->failed)
		return false;
	if (o->room - o->len >= more)
		return true;
	while (room - o->len < more)
		room *= 2;
	bytes = realloc(o->bytes, room);
	o->failed = !bytes;
	if (bytes) {
		o->bytes = bytes;
		o->room = room;
	}
	return !o->failed;
}

void codec_put(struct codec_out *o, uint64_t n)
{
	if (!make_room(o, VARINT_MAX))
		return;
	while (n >= 0x80) {
		o->bytes[o->len++] = (uint8_t)(n | 0x80);
		n >>= 7;
	}
	o->bytes[o->len++] = (uint8_t)n;
}

void codec_put_signed(struct codec_out *o, int64_t n)
{
	codec_put(o, ((uint64_t)n << 1) ^ (n < 0 ? UINT64_MAX : 0));
}

void codec_put_bytes(struct codec_out *o, const void *bytes, size_t len)
{
	if (len == 0 || !make_room(o, len))
		return;
	memcpy(o->bytes + o->len, bytes, len);
	o->len += len;
}

void codec_put_item(struct codec_out *o, enum codec_tag tag, const struct codec_out *body)
{
	o->failed = o->failed || body->failed;
	codec_put(o, tag);
	codec_put(o, body->len);
	codec_put_bytes(o, body->bytes, body->len);
}

void codec_release(struct codec_out *o)
{
	free(o->bytes);
	*o = (struct codec_out){0};
}

uint64_t codec_get(struct codec_in *in)
{
	uint64_t n = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (in->at == in->end)
			break;
		byte = *in->at++;
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return n;
	}
	in->bad = true;
	in->at = in->end;
	return 0;
}

int64_t codec_get_signed(struct codec_in *in)
{
	uint64_t n = codec_get(in);

	return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

const uint8_t *codec_get_bytes(struct codec_in *in, uint64_t len)
{
	const uint8_t *bytes = in->at;

	if (len > (uint64_t)(in->end - in->at)) {
		in->bad = true;
		in->at = in->end;
		return NULL;
	}
	in->at += len;
	return bytes;
}

bool codec_get_item(struct codec_in *in, uint32_t *ret_tag, struct codec_in *ret_body)
{
	const uint8_t *bytes;
	uint64_t tag, len;

	if (in->at == in->end)
		return false;
	tag = codec_get(in);
	len = codec_get(in);
	bytes = codec_get_bytes(in, len);
	if (in->bad)
		return false;
	*ret_tag = tag > UINT32_MAX ? 0 : (uint32_t)tag;
	*ret_body = (struct codec_in){.at = bytes, .end = bytes + len};
	return true;
}

/*
 * Writer and reader both estimate the bytes of so many blocks of a site from
 * the mean so far. Only the error of the estimate is stored. It is 0 if all
 * blocks of a site have the same size.
 */
static int64_t guess_bytes(int64_t blocks, uint64_t sum_bytes, uint64_t sum_blocks)
{
	if (sum_blocks == 0)
		return 0;
	return (int64_t)((__int128)blocks * sum_bytes / sum_blocks);
}

/*
 * Differences wrap in the same way on both sides, so decoding gives the
 * original numbers.
 */
static int64_t less(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

void codec_new_peak(struct codec_sum *row)
{
	row->peak_bytes = less(row->allocated_bytes, row->freed_bytes);
	row->peak_blocks = less(row->allocations, row->frees);
}

void codec_encode(const struct codec_sum *was, const struct codec_sum *is, bool new_peak,
    int64_t ret[CODEC_COLUMNS])
{
	int64_t blocks = less(is->allocations, was->allocations);
	int64_t frees = less(is->frees, was->frees);
	int64_t peak_bytes = was->peak_bytes, peak_blocks = was->peak_blocks;

	if (new_peak) {
		peak_bytes = less(is->allocated_bytes, is->freed_bytes);
		peak_blocks = less(is->allocations, is->frees);
	}
	ret[0] = blocks;
	ret[1] = less(is->allocated_bytes - was->allocated_bytes,
	    (uint64_t)guess_bytes(blocks, was->allocated_bytes, was->allocations));
	ret[2] = frees;
	ret[3] = less(is->freed_bytes - was->freed_bytes,
	    (uint64_t)guess_bytes(frees, is->allocated_bytes, is->allocations));
	ret[4] = less((uint64_t)is->peak_bytes, (uint64_t)peak_bytes);
	ret[5] = less((uint64_t)is->peak_blocks, (uint64_t)peak_blocks);
}

/*
 * A difference of 128 bits is stored as its low half, signed, and a correction
 * of the high half, which is 0 if 64 bits are enough.
 */
static void split(unsigned __int128 by, int64_t *ret_low, int64_t *ret_high)
{
	*ret_low = (int64_t)(uint64_t)by;
	*ret_high = (int64_t)(uint64_t)((by - (__int128)*ret_low) >> 64);
}

static unsigned __int128 joined(int64_t low, int64_t high)
{
	return ((unsigned __int128)(uint64_t)high << 64) + (__int128)low;
}

void codec_encode_samples(
    const struct codec_sum *was, const struct codec_sum *is, int64_t ret[CODEC_WIDE_COLUMNS])
{
	ret[0] = less(is->samples, was->samples);
	split(is->variance_allocated - was->variance_allocated, &ret[1], &ret[3]);
	split(is->variance_freed - was->variance_freed, &ret[2], &ret[4]);
}

void codec_decode_samples(struct codec_sum *row, const int64_t column[CODEC_WIDE_COLUMNS])
{
	row->samples += (uint64_t)column[0];
	row->variance_allocated += joined(column[1], column[3]);
	row->variance_freed += joined(column[2], column[4]);
}

int codec_sample_columns(uint32_t flags)
{
	if (!(flags & CODEC_SAMPLES))
		return 0;
	return flags & CODEC_WIDE ? CODEC_WIDE_COLUMNS : CODEC_SAMPLE_COLUMNS;
}

void codec_decode(struct codec_sum *row, bool new_peak, const int64_t column[CODEC_COLUMNS])
{
	int64_t guess = guess_bytes(column[0], row->allocated_bytes, row->allocations);

	row->allocations += (uint64_t)column[0];
	row->allocated_bytes += (uint64_t)column[1] + (uint64_t)guess;
	guess = guess_bytes(column[2], row->allocated_bytes, row->allocations);
	row->frees += (uint64_t)column[2];
	row->freed_bytes += (uint64_t)column[3] + (uint64_t)guess;
	if (new_peak)
		codec_new_peak(row);
	row->peak_bytes = less((uint64_t)row->peak_bytes, -(uint64_t)column[4]);
	row->peak_blocks = less((uint64_t)row->peak_blocks, -(uint64_t)column[5]);
}

/* ---- timeline_writer: gathers items of the time line and writes them as entries ---- */

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
