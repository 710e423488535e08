/* shape.c - a recording taken apart, to be put together otherwise. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "shape.h"

#include <string.h>
#include <zstd.h>

#include "recording/file/recording.h"
#include "format/format.h"

enum { BOMB_BYTES = 500 << 20, CONTENT_MAX = 4 << 20 };

static bool unpack(struct codec_out *to, const uint8_t *bytes, size_t len)
{
	unsigned long long size = ZSTD_getFrameContentSize(bytes, len);
	uint8_t *plain;
	size_t n;

	if (size > CONTENT_MAX)
		return false;
	plain = malloc((size_t)size + 1);
	if (!plain)
		abort(); /* the test's own trouble */
	n = ZSTD_decompress(plain, (size_t)size, bytes, len);
	if (!ZSTD_isError(n))
		codec_put_bytes(to, plain, n);
	free(plain);
	return !ZSTD_isError(n);
}

static bool parse_entry(struct shape *s, const uint8_t *bytes, size_t len, size_t *at)
{
	struct shape_entry *e = &s->entries[s->count];
	struct recording_entry_head h;

	if (len - *at < sizeof(h) || s->count == SHAPE_ENTRIES)
		return false;
	memcpy(&h, bytes + *at, sizeof(h));
	*at += sizeof(h);
	if (h.length > len - *at)
		return false;
	*e = (struct shape_entry){.type = h.type, .is_packed = h.flags & RECORDING_ZSTD};
	if (!e->is_packed)
		codec_put_bytes(&e->content, bytes + *at, h.length);
	else if (!unpack(&e->content, bytes + *at, h.length))
		return false;
	s->count++;
	*at += recording_padded(h.length);
	return *at < len;
}

bool shape_parse(struct shape *s, const uint8_t *bytes, size_t len)
{
	size_t at = sizeof(s->head);
	uint64_t magic;

	memset(s, 0, sizeof(*s));
	if (len < sizeof(s->head))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	if (magic == SEG_MAGIC && len < SEG_HEADER_BYTES)
		return false;
	if (magic == SEG_MAGIC) {
		s->is_segment = true;
		s->count = 1;
		codec_put_bytes(&s->entries[0].content, bytes, len);
		return true;
	}
	memcpy(&s->head, bytes, sizeof(s->head));
	if (magic != RECORDING_MAGIC)
		return false;
	while (parse_entry(s, bytes, len, &at))
		;
	return s->count > 0;
}

void shape_copy(struct shape *to, const struct shape *from)
{
	*to = *from;
	to->count = 0;
	for (size_t i = 0; i < from->count; i++)
		shape_insert(to, i, &from->entries[i]);
}

void shape_release(struct shape *s)
{
	for (size_t i = 0; i < s->count; i++)
		codec_release(&s->entries[i].content);
	s->count = 0;
}

void shape_drop(struct shape *s, size_t i)
{
	codec_release(&s->entries[i].content);
	memmove(&s->entries[i], &s->entries[i + 1], (s->count - i - 1) * sizeof(s->entries[0]));
	s->count--;
}

void shape_insert(struct shape *s, size_t i, const struct shape_entry *e)
{
	struct shape_entry copy = *e;

	if (s->count == SHAPE_ENTRIES)
		return;
	copy.content = (struct codec_out){0};
	codec_put_bytes(&copy.content, e->content.bytes, e->content.len);
	memmove(&s->entries[i + 1], &s->entries[i], (s->count - i) * sizeof(s->entries[0]));
	s->entries[i] = copy;
	s->count++;
}

/* ---- bytes again ---- */

static void put_frame(struct codec_out *to, const void *bytes, size_t len, bool tells_size)
{
	static ZSTD_CCtx *zstd;
	size_t room = ZSTD_compressBound(len), n;
	uint8_t *packed = malloc(room);

	if (!zstd)
		zstd = ZSTD_createCCtx();
	if (!zstd || !packed)
		abort();
	(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, tells_size);
	n = ZSTD_compress2(zstd, packed, room, bytes, len);
	if (ZSTD_isError(n))
		abort();
	codec_put_bytes(to, packed, n);
	free(packed);
}

static void put_bomb(struct codec_out *to)
{
	static struct codec_out bomb;

	if (bomb.len == 0) {
		void *zeros = calloc(1, BOMB_BYTES);

		if (!zeros)
			abort();
		put_frame(&bomb, zeros, BOMB_BYTES, true);
		free(zeros);
	}
	codec_put_bytes(to, bomb.bytes, bomb.len);
}

static void put_payload(struct codec_out *to, const struct shape_entry *e)
{
	const struct codec_out *c = &e->content;

	if (e->lie == SHAPE_BOMB)
		put_bomb(to);
	else if (e->is_packed && e->lie != SHAPE_RAW)
		put_frame(to, c->bytes, c->len, e->lie != SHAPE_SIZELESS);
	else
		codec_put_bytes(to, c->bytes, c->len);
	if (e->lie == SHAPE_TWICE)
		put_frame(to, c->bytes, c->len, true);
	if (e->lie == SHAPE_CUT && to->len > 0)
		to->len -= 1 + e->value % to->len;
}

static void lie_before(struct recording_entry_head *h, const struct shape_entry *e)
{
	switch (e->lie) {
	case SHAPE_TYPE:
		h->type = (uint32_t)e->value;
		break;
	case SHAPE_FLAGS:
		h->flags = (uint32_t)e->value;
		break;
	case SHAPE_LENGTH:
		h->length = e->value;
		break;
	case SHAPE_CRC:
		h->crc = (uint32_t)e->value;
		break;
	default:
		break;
	}
}

static void put_entry(struct codec_out *to, const struct shape_entry *e)
{
	static const uint8_t zeros[8];
	struct codec_out payload = {0};
	struct recording_entry_head h = {.type = e->type};

	put_payload(&payload, e);
	h.flags = e->is_packed || e->lie == SHAPE_BOMB ? RECORDING_ZSTD : 0;
	h.length = payload.len;
	h.crc = recording_crc_of(0, payload.bytes, payload.len);
	lie_before(&h, e);
	h.head_crc = recording_crc_of(0, &h, RECORDING_HEAD_CRC_BYTES);
	if (e->lie == SHAPE_HEAD_CRC)
		h.head_crc = (uint32_t)e->value;
	codec_put_bytes(to, &h, sizeof(h));
	codec_put_bytes(to, payload.bytes, payload.len);
	codec_put_bytes(to, zeros, recording_padded(payload.len) - payload.len);
	codec_release(&payload);
}

/* Index and end as a sound writer would have them at this place. */
struct so_far {
	struct codec_out items;
	uint64_t last_index;
};

static void put_made(
    struct codec_out *to, const struct shape_entry *e, size_t before, struct so_far *f)
{
	struct shape_entry made = *e;

	made.content = (struct codec_out){0};
	if (e->type == RECORDING_INDEX) {
		codec_put_bytes(&made.content, &f->last_index, sizeof(f->last_index));
		codec_put_bytes(&made.content, f->items.bytes, f->items.len);
		f->last_index = to->len;
		f->items.len = 0;
	} else {
		const struct recording_entry_end end = {before, to->len, f->last_index};

		codec_put_bytes(&made.content, &end, sizeof(end));
	}
	put_entry(to, &made);
	codec_release(&made.content);
}

static void put_recording(struct codec_out *to, const struct shape *s)
{
	struct so_far f = {{0}, 0};

	codec_put_bytes(to, &s->head, sizeof(s->head));
	for (size_t i = 0; i < s->count; i++) {
		const struct shape_entry *e = &s->entries[i];
		const struct recording_index_item item = {
		    to->len, e->type, e->is_packed ? RECORDING_ZSTD : 0};

		if (!s->loose && (e->type == RECORDING_INDEX || e->type == RECORDING_END)) {
			put_made(to, e, i, &f);
			continue;
		}
		put_entry(to, e);
		codec_put_bytes(&f.items, &item, sizeof(item));
	}
	codec_release(&f.items);
}

void shape_write(const struct shape *s, struct codec_out *ret)
{
	*ret = (struct codec_out){0};
	if (s->is_segment)
		codec_put_bytes(ret, s->entries[0].content.bytes, s->entries[0].content.len);
	else
		put_recording(ret, s);
	for (size_t i = 0; i < s->add; i++)
		codec_put_bytes(ret, "\xa5", 1);
	ret->len -= s->cut < ret->len ? s->cut : ret->len;
	if (ret->failed)
		abort();
}
