/* test_aging.c - ages and births as an entry of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "recording/parts/aging.h"
#include "recording/file/codec.h"

static struct aging example(void)
{
	struct aging b = {.tick = 864000, .limit_count = 2, .count = 2};

	b.limits[0] = (struct aging_limit){AGING_LIMIT_GROUP, UINT64_C(2) << 30, 12345};
	b.limits[1] = (struct aging_limit){AGING_LIMIT_DATA, UINT64_MAX, UINT64_MAX};
	b.sites = calloc(2, sizeof(*b.sites));
	assert_non_null(b.sites);
	for (uint32_t i = 0; i < 2; i++) {
		struct aging_site *s = &b.sites[i];

		*s = (struct aging_site){.site = 7 + i * 1000,
		    .first_tick = i,
		    .blocks = 3,
		    .bytes = UINT64_MAX,
		    .moved = 5};
		s->deaths[0] = 1;
		s->deaths[AGING_DEATHS - 1] = UINT64_MAX;
		s->living[AGING_LIVING - 1] = 3;
		s->births[SEG_BIRTH_SLOTS - 1] = UINT32_MAX;
	}
	return b;
}

TEST(what_is_written_is_read)
{
	struct aging b = example(), again;
	uint8_t *bytes;
	size_t len;

	assert_int_equal(aging_encode(&b, &bytes, &len), 0);
	assert_int_equal(aging_decode(bytes, len, &again), 0);
	assert_int_equal(again.tick, b.tick);
	assert_int_equal(again.limit_count, 2);
	assert_memory_equal(again.limits, b.limits, 2 * sizeof(struct aging_limit));
	assert_int_equal(again.count, 2);
	assert_memory_equal(again.sites, b.sites, 2 * sizeof(*b.sites));
	assert_ptr_equal(aging_find(&again, 1007), &again.sites[1]);
	assert_null(aging_find(&again, 8));
	aging_release(&again);
	/* an entry that is cut off anywhere is damaged */
	for (size_t i = 0; i < len; i++)
		assert_int_equal(aging_decode(bytes, i, &again), -EBADMSG);
	free(bytes);
	aging_release(&b);
}

/* Writes the head of an entry with lists of these lengths. */
static void put_head(struct codec_out *o, uint64_t deaths, uint64_t births, uint64_t count)
{
	codec_put(o, 100);
	codec_put(o, deaths);
	codec_put(o, AGING_LIVING);
	codec_put(o, births);
	codec_put(o, 0);
	codec_put(o, count);
}

TEST(longer_lists_of_a_later_version_are_skipped)
{
	struct codec_out o = {0};
	struct aging b;

	put_head(&o, AGING_DEATHS + 2, SEG_BIRTH_SLOTS, 1);
	for (int i = 0; i < 5 + AGING_DEATHS + 2 + AGING_LIVING + SEG_BIRTH_SLOTS; i++)
		codec_put(&o, (uint64_t)i + 1);
	assert_int_equal(aging_decode(o.bytes, o.len, &b), 0);
	assert_int_equal(b.sites[0].site, 1);
	assert_int_equal(b.sites[0].deaths[AGING_DEATHS - 1], 5 + AGING_DEATHS);
	assert_int_equal(b.sites[0].living[0], 5 + AGING_DEATHS + 2 + 1);
	aging_release(&b);
	codec_release(&o);
}

TEST(sizes_that_cannot_be_are_refused)
{
	static const uint64_t bad[][3] = {
	    {AGING_DEATHS - 1, SEG_BIRTH_SLOTS, 0},
	    {AGING_DEATHS, SEG_BIRTH_SLOTS + 1, 0},
	    {UINT64_MAX, SEG_BIRTH_SLOTS, 0},
	    {AGING_DEATHS, SEG_BIRTH_SLOTS, AGING_SITES_MAX},
	    {AGING_DEATHS, SEG_BIRTH_SLOTS, UINT64_MAX},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct codec_out o = {0};
		struct aging b;

		put_head(&o, bad[i][0], bad[i][1], bad[i][2]);
		assert_int_equal(aging_decode(o.bytes, o.len, &b), -EBADMSG);
		codec_release(&o);
	}
}

TEST(an_id_that_comes_twice_is_damage)
{
	struct aging b = example(), again;
	uint8_t *bytes;
	size_t len;

	b.sites[1].site = b.sites[0].site;
	assert_int_equal(aging_encode(&b, &bytes, &len), 0);
	assert_int_equal(aging_decode(bytes, len, &again), -EBADMSG);
	free(bytes);
	aging_release(&b);
}
