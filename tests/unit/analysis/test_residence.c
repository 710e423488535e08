/* test_residence.c - resident pages are shared out among the blocks on them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "analysis/rss/rss_reading.h"
#include "print/text/report_text.h"

enum { PAGE = 4096, BASE = 0x10000000 };

/* Pages from BASE on, shared out among blocks of two owners. */
static struct rss_pages shared(struct rss_block *blocks, size_t count, uint64_t page_bytes,
    uint64_t pages, bool is_glibc, struct rss_share *shares)
{
	struct rss_pages p = {
	    .page_bytes = page_bytes, .is_glibc = is_glibc, .shares = shares, .share_count = 2};

	memset(shares, 0, 2 * sizeof(*shares));
	count = rss_pages_settle(blocks, count);
	rss_pages_share(
	    &p, blocks, count, (struct rss_range){BASE, BASE + pages * page_bytes}, true);
	assert_int_equal(p.live + p.rounding + p.partly + p.free, pages * page_bytes);
	assert_int_equal(shares[0].holds + shares[1].holds + p.free, pages * page_bytes);
	return p;
}

TEST(a_page_belongs_to_its_blocks_by_their_bytes)
{
	struct rss_block b[] = {
	    {BASE + 16, 100, 0}, {BASE + 1000, 300, 1}, {BASE + 2 * PAGE + 16, 40, 0}};
	struct rss_share s[2];
	struct rss_pages p = shared(b, 3, PAGE, 4, true, s);

	assert_int_equal(s[0].holds, PAGE / 4 + PAGE);
	assert_int_equal(s[1].holds, PAGE / 4 * 3);
	assert_int_equal(s[0].live, 140);
	assert_int_equal(s[0].blocks, 2);
	assert_int_equal(p.live, 440);
	/* chunks of 112, 320 and 48 bytes */
	assert_int_equal(p.rounding, 12 + (320 - 300) - 0 + 8);
	assert_int_equal(p.free, 2 * PAGE);
	assert_int_equal(p.fills[0], 2 * PAGE);
	assert_int_equal(s[0].thin, s[0].holds);
	assert_int_equal(p.arena_free, p.free + p.partly);
}

TEST(a_block_over_a_border_counts_on_both_pages)
{
	struct rss_block b[] = {{BASE + PAGE - 1000, 3000, 0}, {BASE + PAGE + 2000, 2000, 1}};
	struct rss_share s[2];

	(void)shared(b, 2, PAGE, 2, true, s);
	assert_int_equal(s[0].live, 3000);
	assert_int_equal(s[0].holds, PAGE + PAGE / 2);
	assert_int_equal(s[1].holds, PAGE / 2);
	assert_int_equal(s[0].blocks, 1);
}

TEST(a_block_of_no_bytes_holds_its_page)
{
	struct rss_block b[] = {{BASE + PAGE, 0, 1}};
	struct rss_share s[2];
	struct rss_pages p = shared(b, 1, PAGE, 3, true, s);

	assert_int_equal(s[1].holds, PAGE);
	assert_int_equal(s[1].live, 0);
	assert_int_equal(p.free, 2 * PAGE);
}

TEST(larger_pages_are_shared_out_in_the_same_way)
{
	static const uint64_t sizes[] = {16 << 10, 64 << 10};

	for (size_t i = 0; i < 2; i++) {
		struct rss_block b[] = {
		    {BASE + 16, 1000, 0}, {BASE + 5000, 1000, 1}, {BASE + 3 * sizes[i], 8, 1}};
		struct rss_share s[2];

		(void)shared(b, 3, sizes[i], 4, true, s);
		assert_int_equal(s[0].holds, sizes[i] / 2);
		assert_int_equal(s[1].holds, sizes[i] / 2 + sizes[i]);
	}
}

TEST(pages_that_are_not_resident_do_not_count)
{
	struct rss_block b[] = {{BASE + 16, 10 * PAGE - 32, 0}};
	struct rss_share s[2] = {{0}};
	struct rss_pages p = {.page_bytes = PAGE, .is_glibc = true, .shares = s, .share_count = 2};
	size_t n = rss_pages_settle(b, 1);

	rss_pages_share(&p, b, n, (struct rss_range){BASE + PAGE, BASE + 2 * PAGE}, false);
	rss_pages_share(&p, b, n, (struct rss_range){BASE + 9 * PAGE, BASE + 10 * PAGE}, false);
	assert_int_equal(s[0].holds, 2 * PAGE);
	assert_int_equal(s[0].live, 2 * PAGE - 16);
	assert_int_equal(p.arena_free, 0);
}

TEST(of_overlapping_blocks_the_later_one_counts)
{
	struct rss_block b[] = {{BASE + 5000, 100, 1}, {BASE + 16, 100000, 0},
	    {BASE + 5000, 200, 1}, {0, 5, 0}, {UINT64_MAX - 3, 9, 0}, {BASE + 9000, UINT64_MAX, 0}};

	assert_int_equal(rss_pages_settle(b, 6), 2);
	assert_int_equal(b[0].address, BASE + 16);
	assert_int_equal(b[0].size, 5000 - 16);
	assert_int_equal(b[1].address, BASE + 5000);
}

TEST(another_allocator_rounds_to_the_next_block)
{
	struct rss_block b[] = {{BASE, 100, 0}, {BASE + 112, 100, 0}, {BASE + 1024, 100, 1}};
	struct rss_share s[2];
	struct rss_pages p = shared(b, 3, PAGE, 1, false, s);

	/* 12 to the neighbour, then 12 for alignment, twice */
	assert_int_equal(p.rounding, 12 + 12 + 12);
}

TEST(only_memory_of_glibc_is_heap_in_a_joined_mapping)
{
	const uint64_t arena = UINT64_C(0x7f0004000000);
	struct rss_block b[] = {{arena - 0x100000 + 16, 200000, 0}, {arena + 0x400, 100, 0}};
	struct rss_range area = {arena - 0x400000, arena + 0x8000000};
	struct rss_ranges r = {0};
	size_t at = 0;

	assert_int_equal(rss_pages_heap(area, PAGE, true, b, 2, &at, &r), 0);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.at[0].start, arena - 0x100000);
	assert_int_equal(r.at[0].end, arena - 0x100000 + 49 * PAGE);
	assert_int_equal(r.at[1].start, arena);
	assert_int_equal(r.at[1].end, arena + 0x4000000);
	assert_int_equal(at, 2);
	r.count = at = 0;
	assert_int_equal(rss_pages_heap(area, PAGE, false, b, 2, &at, &r), 0);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.at[0].start, area.start);
	assert_int_equal(r.at[0].end, area.end);
	free(r.at);
}

/* ---- on disk ---- */

static struct rss_account sample(struct rss_site *sites, struct rss_area *areas)
{
	struct rss_account r = {.page_bytes = PAGE,
	    .is_glibc = true,
	    .time_ns = 7,
	    .rss_bytes = 1000,
	    .hugetlb_bytes = 77,
	    .moved_bytes = -5,
	    .classes = {[RSS_LIVE] = 300, [RSS_FREE] = 600},
	    .fills = {1, 2, 3, 4},
	    .arenas = 9,
	    .sites = sites,
	    .site_count = 2,
	    .areas = areas,
	    .area_count = 2};

	sites[0] = (struct rss_site){3, 1, 10, 20, 5};
	sites[1] = (struct rss_site){8, 2, 1, 2, 0};
	areas[0] = (struct rss_area){4096, 8192, 4096, "[anon:x]"};
	areas[1] = (struct rss_area){8192, 16384, 100, ""};
	return r;
}

TEST(an_account_comes_back_as_it_was)
{
	struct rss_site sites[2];
	struct rss_area areas[2];
	struct rss_account r = sample(sites, areas), back;
	uint8_t *bytes;
	size_t len;

	assert_int_equal(rss_account_encode(&r, &bytes, &len), 0);
	assert_int_equal(rss_account_decode(bytes, len, &back), 0);
	assert_int_equal(back.moved_bytes, -5);
	assert_int_equal(back.fills[3], 4);
	assert_int_equal(back.arenas, 9);
	assert_int_equal(back.hugetlb_bytes, 77);
	assert_int_equal(rss_account_heap(&back), 900);
	assert_int_equal(back.site_count, 2);
	assert_int_equal(rss_account_find(&back, 8)->holds, 2);
	assert_null(rss_account_find(&back, 4));
	assert_string_equal(back.areas[0].name, "[anon:x]");
	assert_string_equal(back.areas[1].name, "");
	rss_account_shorten(&back); /* 2 of 900 is below one percent */
	assert_int_equal(back.site_count, 1);
	assert_int_equal(back.rest_holds, 2);
	assert_true(back.is_short);
	rss_account_release(&back);
	free(bytes);
}

/* Its head ends before the field that came last. */
TEST(an_account_of_an_earlier_version_is_read)
{
	enum { EARLIER = 336, NOW = 344 };
	struct rss_site sites[2];
	struct rss_area areas[2];
	struct rss_account r = sample(sites, areas), back;
	const uint32_t head_bytes = EARLIER;
	uint8_t *bytes;
	size_t len;

	assert_int_equal(rss_account_encode(&r, &bytes, &len), 0);
	memcpy(bytes, &head_bytes, sizeof(head_bytes));
	memmove(bytes + EARLIER, bytes + NOW, len - NOW);
	len -= NOW - EARLIER;
	assert_int_equal(rss_account_decode(bytes, len - 1, &back), -EBADMSG);
	assert_int_equal(rss_account_decode(bytes, len, &back), 0);
	assert_int_equal(back.hugetlb_bytes, 0);
	assert_int_equal(rss_account_find(&back, 8)->holds, 2);
	assert_string_equal(back.areas[0].name, "[anon:x]");
	rss_account_release(&back);
	free(bytes);
}

TEST(damaged_accounts_are_refused)
{
	struct rss_site sites[2];
	struct rss_area areas[2];
	struct rss_account r = sample(sites, areas), back;
	uint8_t *bytes;
	size_t len;

	assert_int_equal(rss_account_encode(&r, &bytes, &len), 0);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(rss_account_decode(bytes, i, &back), -EBADMSG);
	free(bytes);
	sites[0].live = 21; /* more than it holds */
	assert_int_equal(rss_account_encode(&r, &bytes, &len), 0);
	assert_int_equal(rss_account_decode(bytes, len, &back), -EBADMSG);
	free(bytes);
	sites[0].live = 1;
	sites[1].id = 3; /* twice */
	assert_int_equal(rss_account_encode(&r, &bytes, &len), 0);
	assert_int_equal(rss_account_decode(bytes, len, &back), -EBADMSG);
	free(bytes);
}

/* ---- advice ---- */

TEST(advice_needs_figures_that_prove_it)
{
	const uint64_t mib = 1 << 20;
	struct rss_site s = {1, 100, 1000, 20 * mib, 0};
	struct rss_account r = {.page_bytes = PAGE,
	    .is_glibc = true,
	    .rss_bytes = 100 * mib,
	    .sites = &s,
	    .site_count = 1};

	assert_int_equal(rss_rules(&r, rss_rules_most_pins(&r)), RULE_PINNED);
	s.live = 2 * mib; /* 18 is not ten times 2 */
	assert_int_equal(rss_rules(&r, &s), 0);
	s.live = 0;
	s.holds = 4 * mib; /* below 5 percent */
	assert_int_equal(rss_rules(&r, &s), 0);
	r.classes[RSS_FREE] = 10 * mib;
	assert_int_equal(rss_rules(&r, NULL), RULE_FREE);
	r.classes[RSS_FREE] = 9 * mib;
	assert_int_equal(rss_rules(&r, NULL), 0);
	r.arena_free_bytes = 10 * mib;
	r.arenas = 7;
	assert_int_equal(rss_rules(&r, NULL), 0);
	r.arenas = 8;
	assert_int_equal(rss_rules(&r, NULL), RULE_ARENAS);
	r.is_partial = true; /* a page without a block may have one */
	assert_int_equal(rss_rules(&r, NULL), 0);
	r.is_partial = false;
	r.lack = RSS_SAMPLED;
	assert_int_equal(rss_rules(&r, NULL), 0);
}
