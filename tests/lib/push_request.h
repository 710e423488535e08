/* push_request.h - reads what src/follow/push sends, for unit tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_PUSH_REQUEST_H
#define SEEP_TESTS_PUSH_REQUEST_H

#include <zlib.h>

/* After test.h; what does not fit ends the test. */
struct bytes {
	const uint8_t *at, *end;
};

static inline uint64_t push_request_varint(struct bytes *b)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64; shift += 7) {
		assert_true(b->at < b->end);
		value |= (uint64_t)(*b->at & 0x7f) << shift;
		if (*b->at++ < 0x80)
			return value;
	}
	fail();
	return 0;
}

/* The next field; its number, and what is in it. */
static inline unsigned push_request_field(struct bytes *b, struct bytes *inner, uint64_t *number)
{
	uint64_t key = push_request_varint(b);

	*inner = (struct bytes){0};
	*number = 0;
	if ((key & 7) == 0) {
		*number = push_request_varint(b);
	} else {
		uint64_t len = push_request_varint(b);

		assert_int_equal(key & 7, 2);
		assert_true(len <= (uint64_t)(b->end - b->at));
		*inner = (struct bytes){b->at, b->at + len};
		b->at += len;
	}
	return (unsigned)(key >> 3);
}

/* What is in a profile; blocks and bytes are those allocated. */
struct profile_seen {
	uint64_t id, time_ns, blocks, bytes;
	uint64_t live_blocks, live_bytes, samples, unpacked, comments, labels;
};

static inline void push_request_profile(struct bytes packed, struct profile_seen *p)
{
	static uint8_t plain[8 << 20];
	uint64_t number;
	struct bytes all, part, values;
	z_stream z = {.avail_in = (uInt)(packed.end - packed.at),
	    .avail_out = sizeof(plain),
	    .next_out = plain};

	z.next_in = (Bytef *)(uintptr_t)packed.at;
	assert_int_equal(inflateInit2(&z, 31), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	all = (struct bytes){plain, plain + z.total_out};
	p->unpacked = z.total_out;
	assert_int_equal(inflateEnd(&z), Z_OK);
	while (all.at < all.end) {
		unsigned f = push_request_field(&all, &part, &number);

		if (f == 9)
			p->time_ns = number;
		p->samples += f == 2;
		p->comments += f == 13;
		while (f == 2 && part.at < part.end) {
			unsigned k = push_request_field(&part, &values, &number);

			p->labels += k == 3;
			if (k == 2) {
				p->blocks += push_request_varint(&values);
				p->bytes += push_request_varint(&values);
				p->live_blocks += push_request_varint(&values);
				p->live_bytes += push_request_varint(&values);
			}
		}
	}
}

static inline struct profile_seen push_request_read(const uint8_t *bytes, size_t len)
{
	struct bytes all = {bytes, bytes + len}, series, part, text;
	struct profile_seen p = {0};
	uint64_t number;

	assert_int_equal(push_request_field(&all, &series, &number), 1);
	assert_true(all.at == all.end);
	while (series.at < series.end) {
		if (push_request_field(&series, &part, &number) != 2)
			continue;
		while (part.at < part.end) {
			unsigned f = push_request_field(&part, &text, &number);

			if (f == 1)
				push_request_profile(text, &p);
			for (; f == 2 && text.at < text.end; text.at++)
				p.id = p.id * 31 + *text.at;
		}
	}
	return p;
}

#endif
