/* pprof_proto.c - protocol buffers, written field by field, compressed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/export_forms.h"

#include <zlib.h>

enum {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
	VARINT_MAX = 10,
	BUFFER_BYTES = 1 << 16,
	GZIP = 16 + MAX_WBITS, /* window bits that make zlib write gzip */
	LEVEL = 4,             /* 6 takes twice as long and saves 3 % */
};

/* ---- messages ---- */

static bool make_room(struct proto *m, size_t more)
{
	size_t room = m->room ? m->room : 256;
	uint8_t *bigger;

	if (m->failed)
		return false;
	if (m->room - m->len >= more)
		return true;
	while (room - m->len < more && room <= SIZE_MAX / 4)
		room *= 2;
	bigger = realloc(m->bytes, room);
	if (!bigger || room - m->len < more) {
		if (bigger)
			m->bytes = bigger;
		m->failed = true;
		return false;
	}
	m->bytes = bigger;
	m->room = room;
	return true;
}

void pprof_proto_packed(struct proto *m, uint64_t value)
{
	if (!make_room(m, VARINT_MAX))
		return;
	while (value >= 0x80) {
		m->bytes[m->len++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	m->bytes[m->len++] = (uint8_t)value;
}

static void put_key(struct proto *m, unsigned field, unsigned wire)
{
	pprof_proto_packed(m, (uint64_t)field << 3 | wire);
}

void pprof_proto_uint(struct proto *m, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	put_key(m, field, WIRE_VARINT);
	pprof_proto_packed(m, value);
}

void pprof_proto_int(struct proto *m, unsigned field, int64_t value)
{
	pprof_proto_uint(m, field, (uint64_t)value);
}

void pprof_proto_bytes(struct proto *m, unsigned field, const void *bytes, size_t len)
{
	put_key(m, field, WIRE_BYTES);
	pprof_proto_packed(m, len);
	if (len == 0 || !make_room(m, len))
		return;
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}

void pprof_proto_message(struct proto *m, unsigned field, struct proto *inner)
{
	pprof_proto_bytes(m, field, inner->bytes, inner->len);
	m->failed = m->failed || inner->failed;
	inner->len = 0;
}

/* ---- the stream ---- */

struct pprof_proto_stream {
	FILE *out;
	z_stream z;
	int err;
	uint8_t buffer[BUFFER_BYTES];
};

int pprof_proto_stream_new(FILE *out, struct pprof_proto_stream **ret)
{
	struct pprof_proto_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->out = out;
	if (deflateInit2(&s->z, LEVEL, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static void feed(struct pprof_proto_stream *s, uint8_t *bytes, size_t len, int flush)
{
	s->z.next_in = bytes;
	s->z.avail_in = (uInt)len;
	do {
		size_t n;

		s->z.next_out = s->buffer;
		s->z.avail_out = BUFFER_BYTES;
		(void)deflate(&s->z, flush);
		n = BUFFER_BYTES - s->z.avail_out;
		if (fwrite(s->buffer, 1, n, s->out) != n)
			s->err = -EIO;
	} while (s->z.avail_out == 0 && s->err == 0);
}

void pprof_proto_stream_put(struct pprof_proto_stream *s, struct proto *m)
{
	if (s->err == 0 && m->failed)
		s->err = -ENOMEM;
	/* messages are small: a stack, a name, a comment */
	for (size_t at = 0; at < m->len && s->err == 0;) {
		size_t n = m->len - at;

		if (n > BUFFER_BYTES)
			n = BUFFER_BYTES;
		feed(s, m->bytes + at, n, Z_NO_FLUSH);
		at += n;
	}
	m->len = 0;
}

int pprof_proto_stream_end(struct pprof_proto_stream *s, int ret)
{
	if (ret == 0 && s->err == 0)
		feed(s, NULL, 0, Z_FINISH);
	if (ret == 0)
		ret = s->err;
	(void)deflateEnd(&s->z);
	free(s);
	return ret;
}
