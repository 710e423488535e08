/* rss_account.c - encodes and decodes an account of resident memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts/rss_account.h"

#include "kit/data/capped.h"
#include "kit/data/sorted.h"
#include "recording/parts/sheet.h"

uint64_t rss_account_heap(const struct rss_account *r)
{
	uint64_t sum = 0;

	for (int i = RSS_LIVE; i <= RSS_HEAP; i++)
		sum = capped_sum(sum, r->classes[i]);
	return sum;
}

const struct rss_site *rss_account_find(const struct rss_account *r, uint32_t id)
{
	size_t low = sorted_first(r->sites, r->site_count, x, x->id < id);

	return low < r->site_count && r->sites[low].id == id ? &r->sites[low] : NULL;
}

void rss_account_shorten(struct rss_account *r)
{
	uint64_t least = rss_account_heap(r) / 100;
	size_t kept = 0;

	for (size_t i = 0; i < r->site_count; i++) {
		const struct rss_site *s = &r->sites[i];

		if (s->holds >= least && s->holds > 0) {
			r->sites[kept++] = *s;
			continue;
		}
		r->rest_live = capped_sum(r->rest_live, s->live);
		r->rest_holds = capped_sum(r->rest_holds, s->holds);
	}
	r->is_short |= kept < r->site_count;
	r->site_count = kept;
}

/* Sorted, and no site twice: rss_account_find() relies on it. */
static enum sheet_row judge_site(const void *account, const void *row, const void *before)
{
	const struct rss_site *r = row, *last = before;

	(void)account;
	return (last && r->id <= last->id) || r->live > r->holds || r->thin > r->holds ? SHEET_BAD
	                                                                               : SHEET_KEEP;
}

static enum sheet_row judge_area(const void *account, const void *row, const void *before)
{
	const struct rss_area *r = row;

	(void)account;
	(void)before;
	return r->start < r->end ? SHEET_KEEP : SHEET_BAD;
}

static bool head_fits(const void *account, const struct sheet_sizes *n)
{
	const struct rss_account *r = account;

	return r->page_bytes >= 4096 && (r->page_bytes & (r->page_bytes - 1)) == 0 &&
	    (r->lack == RSS_SPLIT || n->count[0] == 0);
}

/* docs/RECORDING.md; hugetlb_bytes is not in every account */
static const struct sheet sheet = {
    .struct_bytes = sizeof(struct rss_account),
    .text_at = offsetof(struct rss_account, text),
    .head_bytes = 344,
    .head_least = 336,
    .texts_max = RSS_AREAS_MAX * (RSS_NAME_MAX + 1),
    .text_max = RSS_NAME_MAX,
    .has_tail = true,
    .flag_count = 3,
    .flags = {offsetof(struct rss_account, is_glibc), offsetof(struct rss_account, is_partial),
        offsetof(struct rss_account, is_short)},
    .head = {SHEET_NUMBER(head), SHEET_NUMBER(row[0]), SHEET_NUMBER(row[1]), SHEET_NUMBER(count[0]),
        SHEET_NUMBER(count[1]), SHEET_NUMBER(texts), SHEET_ONE(struct rss_account, lack),
        {SHEET_FLAGS, 0, 4}, SHEET_ONE(struct rss_account, page_bytes), {SHEET_ZERO, 0, 4},
        SHEET_RUN(struct rss_account, time_ns, hugetlb_bytes)},
    .tables = {{
                   .row_bytes = 40,
                   .max = RSS_SITES_MAX,
                   .rows_at = offsetof(struct rss_account, sites),
                   .count_at = offsetof(struct rss_account, site_count),
                   .item_bytes = sizeof(struct rss_site),
                   .fields = {SHEET_ONE(struct rss_site, id), {SHEET_ZERO, 0, 4},
                       SHEET_RUN(struct rss_site, blocks, thin)},
                   .judge = judge_site,
               },
        {
            .row_bytes = 32,
            .max = RSS_AREAS_MAX,
            .rows_at = offsetof(struct rss_account, areas),
            .count_at = offsetof(struct rss_account, area_count),
            .item_bytes = sizeof(struct rss_area),
            .fields = {SHEET_RUN(struct rss_area, start, bytes),
                {SHEET_NAME, offsetof(struct rss_area, name), 0}},
            .judge = judge_area,
        }},
    .fits = head_fits,
};

int rss_account_encode(const struct rss_account *r, uint8_t **ret, size_t *ret_len)
{
	return sheet_encode(&sheet, r, ret, ret_len);
}

int rss_account_decode(const uint8_t *bytes, size_t len, struct rss_account *ret)
{
	int err = sheet_decode(&sheet, bytes, len, ret);

	if (err == 0 && ret->lack >= RSS_LACKS)
		ret->lack = RSS_OTHER; /* a reason of a later version */
	return err;
}

void rss_account_release(struct rss_account *r)
{
	sheet_release(&sheet, r);
}
