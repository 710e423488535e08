/* test_verdicts.c - verdicts as bytes: what is written is read, and no more. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "recording/parts/verdicts.h"

enum { HEAD = 128, ROW = 112 };

static struct verdict_site sites[] = {
    {.site = 7,
        .class = VERDICT_LEAK,
        .notes = VERDICT_UNLOADED,
        .first_birth = 3,
        .last_birth = 90,
        .blocks = 1000,
        .bytes = 5000,
        .direct_blocks = 499,
        .direct_bytes = 1000,
        .cycle_blocks = 2,
        .cycle_bytes = 64,
        .indirect_blocks = 501,
        .indirect_bytes = 4000,
        .held_again = 1,
        .freed_late = 2,
        .type = "ns::widget"},
    {.site = 9,
        .class = VERDICT_POSSIBLE,
        .notes = VERDICT_PAST_END | VERDICT_MOVES,
        .blocks = UINT64_MAX,
        .bytes = UINT64_MAX,
        .direct_blocks = UINT64_MAX,
        .direct_bytes = UINT64_MAX},
    {.site = UINT32_MAX, .class = VERDICT_LEAK, .blocks = 1, .direct_blocks = 1, .type = ""},
};

static const struct verdicts sample = {
    .looks = 3,
    .at_exit = true,
    .heads_only = true,
    .begin_ns = 5,
    .end_ns = 6000000000,
    .blocks = 52311,
    .bytes = 14889779,
    .refused_blocks = 1,
    .ignored_blocks = 2,
    .ignored_bytes = 3,
    .swapped_bytes = 4,
    .unreadable_bytes = 5,
    .device_bytes = 6,
    .ring_bytes = 7,
    .pause_ns = 8,
    .sites = sites,
    .count = 3,
};

static uint8_t *encoded(const struct verdicts *v, size_t *ret_len)
{
	uint8_t *bytes;

	assert_int_equal(verdicts_encode(v, &bytes, ret_len), 0);
	return bytes;
}

static void assert_site_equal(const struct verdict_site *a, const struct verdict_site *b)
{
	struct verdict_site x = *a, y = *b;

	if (x.type || y.type)
		assert_string_equal(x.type, y.type);
	x.type = y.type = NULL;
	assert_memory_equal(&x, &y, sizeof(x));
}

TEST(what_is_encoded_is_decoded)
{
	struct verdicts v;
	uint8_t *bytes;
	size_t len;

	bytes = encoded(&sample, &len);
	assert_int_equal(verdicts_decode(bytes, len, &v), 0);
	free(bytes); /* the texts are copies */
	assert_int_equal(v.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_site_equal(&v.sites[i], &sites[i]);
	assert_int_equal(v.looks, 3);
	assert_true(v.at_exit && v.heads_only && !v.stopped);
	assert_int_equal(v.end_ns, 6000000000);
	assert_int_equal(v.blocks, 52311);
	assert_int_equal(v.bytes, 14889779);
	assert_int_equal(v.refused_blocks, 1);
	assert_int_equal(v.ignored_blocks, 2);
	assert_int_equal(v.ignored_bytes, 3);
	assert_int_equal(v.swapped_bytes, 4);
	assert_int_equal(v.unreadable_bytes, 5);
	assert_int_equal(v.device_bytes, 6);
	assert_int_equal(v.ring_bytes, 7);
	assert_int_equal(v.pause_ns, 8);
	verdicts_release(&v);
	assert_null(v.sites);
}

TEST(a_process_without_a_verdict_has_its_reason)
{
	const struct verdicts none = {.reason = VERDICT_NO_RIGHT};
	struct verdicts v;
	uint8_t *bytes;
	size_t len;

	bytes = encoded(&none, &len);
	assert_int_equal(verdicts_decode(bytes, len, &v), 0);
	assert_int_equal(v.reason, VERDICT_NO_RIGHT);
	assert_int_equal(v.count, 0);
	verdicts_release(&v);
	free(bytes);
}

TEST(every_cut_is_refused)
{
	struct verdicts v;
	uint8_t *bytes;
	size_t len;

	bytes = encoded(&sample, &len);
	for (size_t n = 0; n < len; n++) {
		uint8_t *cut = malloc(n + 1); /* exact, for sanitizers */

		assert_non_null(cut);
		memcpy(cut, bytes, n);
		cut = realloc(cut, n ? n : 1);
		assert_int_equal(verdicts_decode(cut, n, &v), -EBADMSG);
		free(cut);
	}
	free(bytes);
}

static void put32(uint8_t *bytes, size_t at, uint32_t value)
{
	memcpy(bytes + at, &value, sizeof(value));
}

static void put64(uint8_t *bytes, size_t at, uint64_t value)
{
	memcpy(bytes + at, &value, sizeof(value));
}

/* The same bytes with a number changed: 0 or -EBADMSG, and never worse. */
static int decode_with(size_t at, size_t width, uint64_t value, size_t *ret_count)
{
	struct verdicts v;
	uint8_t *bytes;
	size_t len;
	int err;

	bytes = encoded(&sample, &len);
	if (width == 4)
		put32(bytes, at, (uint32_t)value);
	else
		put64(bytes, at, value);
	err = verdicts_decode(bytes, len, &v);
	*ret_count = err == 0 ? v.count : 0;
	/* every text can be read to its end */
	for (size_t i = 0; err == 0 && i < v.count; i++)
		if (v.sites[i].type)
			assert_true(strlen(v.sites[i].type) < len);
	if (err == 0)
		verdicts_release(&v);
	free(bytes);
	return err;
}

TEST(numbers_that_cannot_be_are_refused)
{
	static const struct {
		size_t at, width;
		uint64_t value;
	} bad[] = {
	    {0, 4, 0}, {0, 4, HEAD - 1}, {0, 4, UINT32_MAX}, /* head */
	    {4, 4, 0}, {4, 4, ROW - 8}, {4, 4, UINT32_MAX},  /* row */
	    {8, 4, 2}, {8, 4, UINT32_MAX}, {8, 4, 1 << 20},  /* rows */
	    {12, 4, 0}, {12, 4, UINT32_MAX},                 /* texts */
	    {16, 4, VERDICT_ENDED},                          /* a reason, and rows */
	    {20, 4, 0},                                      /* judged without a look */
	    {32, 8, 7000000000},                             /* began after its end */
	    {HEAD + 12, 4, 91},                              /* first birth after the last */
	    {HEAD + 20, 4, UINT32_MAX},                      /* a type outside of the texts */
	    {HEAD + 24, 8, 999},                             /* blocks do not add up */
	    {HEAD + 32, 8, 4999},                            /* bytes do not */
	    {HEAD + 40, 8, UINT64_MAX},                      /* nor with a sum that wraps round */
	    {HEAD + 56, 8, 500},                             /* more in cycles than direct */
	    {HEAD + 64, 8, 1001},                            /* and of bytes */
	    {HEAD + ROW + 72, 8, 1},                         /* 2^64 and one more */
	};
	size_t count;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (decode_with(bad[i].at, bad[i].width, bad[i].value, &count) != -EBADMSG)
			fail_msg("number %zu was taken", i);
}

TEST(any_value_of_any_number_is_survived)
{
	static const uint64_t odd[] = {
	    0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
	size_t count;

	for (size_t at = 0; at + 8 <= HEAD + 3 * ROW; at += 4)
		for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
			int a = decode_with(at, 4, odd[i], &count);
			int b = decode_with(at, 8, odd[i], &count);

			assert_true(a == 0 || a == -EBADMSG);
			assert_true(b == 0 || b == -EBADMSG);
		}
}

TEST(classes_of_later_versions_are_left_out)
{
	size_t count;

	assert_int_equal(decode_with(HEAD + 4, 4, 3, &count), 0);
	assert_int_equal(count, 2);
}

/* A later version: 8 bytes more in the head and in each row. */
TEST(longer_heads_and_rows_are_read)
{
	struct verdicts v;
	uint8_t *bytes, *wide;
	size_t len, more;

	bytes = encoded(&sample, &len);
	wide = calloc(1, len + 4 * 8);
	assert_non_null(wide);
	memcpy(wide, bytes, HEAD);
	put32(wide, 0, HEAD + 8);
	put32(wide, 4, ROW + 8);
	for (size_t i = 0; i < 3; i++)
		memcpy(wide + HEAD + 8 + i * (ROW + 8), bytes + HEAD + i * ROW, ROW);
	more = HEAD + 8 + 3 * (ROW + 8);
	memcpy(wide + more, bytes + HEAD + 3 * ROW, len - HEAD - 3 * ROW);
	assert_int_equal(verdicts_decode(wide, len + 4 * 8, &v), 0);
	for (size_t i = 0; i < 3; i++)
		assert_site_equal(&v.sites[i], &sites[i]);
	verdicts_release(&v);
	free(wide);
	free(bytes);
}

TEST(long_names_of_types_are_cut)
{
	struct verdict_site s = {.class = VERDICT_LEAK};
	const struct verdicts one = {.looks = 1, .sites = &s, .count = 1};
	char name[3000];
	struct verdicts v;
	uint8_t *bytes;
	size_t len;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	s.type = name;
	bytes = encoded(&one, &len);
	assert_int_equal(verdicts_decode(bytes, len, &v), 0);
	assert_int_equal(strlen(v.sites[0].type), VERDICTS_TYPE_MAX);
	verdicts_release(&v);
	free(bytes);
}

TEST(too_many_sites_are_told)
{
	const struct verdicts many = {.looks = 1, .sites = sites, .count = VERDICTS_SITES_MAX + 1};
	uint8_t *bytes;
	size_t len;

	assert_int_equal(verdicts_encode(&many, &bytes, &len), -EFBIG);
}
