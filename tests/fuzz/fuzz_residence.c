/* fuzz_residence.c - smaps, states of pages, blocks and stored accounts: whatever they contain, sums agree and reading ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/rss/rss_reading.h"
#include "host/proc/roots.h"
#include "recording/parts/rss_account.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void read_smaps(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);
	struct smaps_sums sums;
	struct smaps s;

	check(text != NULL);
	memcpy(text, data, size);
	(void)smaps_rollup(text, &sums);
	check(smaps_parse(text, &s) == 0);
	for (size_t i = 0; i < s.count; i++) {
		const struct smaps_area *a = &s.at[i];

		check(a->start < a->end && a->rss <= a->end - a->start);
		check(i == 0 || s.at[i - 1].end <= a->start);
		check(a->name >= text && a->name <= text + size);
		check(smaps_at(&s, a->start) == a);
	}
	smaps_release(&s);
	free(text);
}

static void read_account(const uint8_t *data, size_t size)
{
	struct rss_account r, again;
	uint8_t *bytes;
	size_t len;

	if (rss_account_decode(data, size, &r) < 0)
		return;
	for (size_t i = 0; i < r.site_count; i++)
		check(rss_account_find(&r, r.sites[i].id) == &r.sites[i]);
	check(rss_account_encode(&r, &bytes, &len) == 0);
	check(rss_account_decode(bytes, len, &again) == 0);
	check(again.site_count == r.site_count);
	rss_account_release(&again);
	free(bytes);
	rss_account_shorten(&r);
	rss_account_release(&r);
}

/* Words of 64 bits as blocks, and as pagemap has them: the top bit is "here". */
static void share_out(const uint8_t *data, size_t size)
{
	enum { BASE = 1 << 24, PAGE = 4096, BLOCKS = 64 };
	struct rss_block blocks[BLOCKS];
	struct rss_share shares[4] = {{0}};
	struct rss_pages p = {
	    .page_bytes = PAGE, .is_glibc = size % 2, .shares = shares, .share_count = 4};
	struct rss_ranges heap = {0};
	uint64_t word, pages = 0, sum = 0;
	size_t n = 0, at = 0, words = size / sizeof(word);

	for (size_t i = 0; i < words && n < BLOCKS; i += 2) {
		memcpy(&word, data + i * sizeof(word), sizeof(word));
		blocks[n++] = (struct rss_block){
		    .address = word % 7 == 0 ? word : BASE + (word >> 8) % (64 * PAGE),
		    .size = word % 11 == 0 ? word : word % (3 * PAGE),
		    .who = word % 4};
	}
	n = rss_pages_settle(blocks, n);
	for (size_t i = 1; i < n; i++)
		check(blocks[i - 1].address + blocks[i - 1].size <= blocks[i].address);
	check(rss_pages_heap((struct rss_range){BASE, BASE + 64 * PAGE}, PAGE, p.is_glibc, blocks,
	          n, &at, &heap) == 0);
	for (size_t i = 0; i < heap.count; i++)
		check(heap.at[i].start >= BASE && heap.at[i].end <= BASE + 64 * PAGE &&
		    heap.at[i].start < heap.at[i].end);
	free(heap.at);
	for (size_t i = 0; i < words && i < 64; i++) {
		memcpy(&word, data + i * sizeof(word), sizeof(word));
		if (!(word >> 63))
			continue;
		rss_pages_share(&p, blocks, n,
		    (struct rss_range){BASE + i * PAGE, BASE + (i + 1) * PAGE}, word % 3 == 0);
		pages++;
	}
	check(p.live + p.rounding + p.partly + p.free == pages * PAGE);
	check(p.arena_free <= p.partly + p.free);
	for (size_t i = 0; i < 4; i++) {
		check(shares[i].live <= shares[i].holds);
		check(shares[i].thin <= shares[i].holds);
		sum += shares[i].holds;
	}
	/* blocks of no bytes beside a full page may add a few */
	check(sum + p.free >= pages * PAGE);
	check(sum + p.free <= pages * PAGE + BLOCKS * PAGE / 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	switch (data[0] % 3) {
	case 0:
		read_smaps(data + 1, size - 1);
		break;
	case 1:
		read_account(data + 1, size - 1);
		break;
	default:
		share_out(data + 1, size - 1);
		break;
	}
	return 0;
}
