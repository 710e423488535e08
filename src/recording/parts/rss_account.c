/* rss_account.c - encodes and decodes an account of resident memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts/rss_account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kit/data/capped.h"

/*
 * A head, the rows of sites, the rows of mappings, then the texts, each with a
 * NUL (docs/RECORDING.md). The head has its own size and those of the rows, so
 * a reader skips what a later version appends to them.
 */
struct head {
	uint32_t head_bytes, site_bytes, area_bytes;
	uint32_t site_count, area_count, text_bytes;
	uint32_t lack, flags;
	uint32_t page_bytes, reserved;
	uint64_t time_ns, took_ns;
	uint64_t rss_bytes, swap_bytes, moved_bytes;
	uint64_t classes[RESIDENCE_ROOM];
	uint64_t fills[RESIDENCE_FILLS];
	uint64_t heap_swap_bytes, huge_bytes;
	uint64_t blocks, block_bytes;
	uint64_t arenas, arena_free_bytes;
	uint64_t inherited_live, inherited_holds;
	uint64_t rest_live, rest_holds;
	uint64_t areas_bytes, areas_count;
	uint64_t hugetlb_bytes; /* from here on: not in every account */
};
_Static_assert(sizeof(struct head) == 344, "head of an account");

struct site {
	uint32_t id, reserved;
	uint64_t blocks, live, holds, thin;
};
_Static_assert(sizeof(struct site) == 40, "site of an account");

struct area {
	uint64_t start, end, bytes;
	uint32_t name; /* offset in the texts + 1; 0: none */
	uint32_t reserved;
};
_Static_assert(sizeof(struct area) == 32, "mapping of an account");

enum { FLAG_GLIBC = 1, FLAG_PARTIAL = 2, FLAG_SHORT = 4 };
enum { HEAD_MIN = 336, HEAD_MAX = 4096, ROW_MAX = 1024 };
enum { TEXT_MAX = RESIDENCE_AREAS_MAX * (RESIDENCE_NAME_MAX + 1) };

uint64_t rss_account_heap(const struct residence *r)
{
	uint64_t sum = 0;

	for (int i = RESIDENCE_LIVE; i <= RESIDENCE_HEAP; i++)
		sum = capped_sum(sum, r->classes[i]);
	return sum;
}

const struct residence_site *rss_account_find(const struct residence *r, uint32_t id)
{
	size_t low = 0, high = r->site_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->sites[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->site_count && r->sites[low].id == id ? &r->sites[low] : NULL;
}

void rss_account_shorten(struct residence *r)
{
	uint64_t least = rss_account_heap(r) / 100;
	size_t kept = 0;

	for (size_t i = 0; i < r->site_count; i++) {
		const struct residence_site *s = &r->sites[i];

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

/* ---- writing ---- */

static size_t name_bytes(const struct residence_area *a)
{
	size_t n = a->name ? strnlen(a->name, RESIDENCE_NAME_MAX) : 0;

	return n > 0 ? n + 1 : 0;
}

static void put_head(const struct residence *r, size_t text_bytes, uint8_t *to)
{
	struct head h = {
	    .head_bytes = sizeof(struct head),
	    .site_bytes = sizeof(struct site),
	    .area_bytes = sizeof(struct area),
	    .site_count = (uint32_t)r->site_count,
	    .area_count = (uint32_t)r->area_count,
	    .text_bytes = (uint32_t)text_bytes,
	    .lack = r->lack,
	    .flags = (r->is_glibc ? FLAG_GLIBC : 0u) | (r->is_partial ? FLAG_PARTIAL : 0u) |
	        (r->is_short ? FLAG_SHORT : 0u),
	    .page_bytes = r->page_bytes,
	    .time_ns = r->time_ns,
	    .took_ns = r->took_ns,
	    .rss_bytes = r->rss_bytes,
	    .swap_bytes = r->swap_bytes,
	    .moved_bytes = (uint64_t)r->moved_bytes,
	    .heap_swap_bytes = r->heap_swap_bytes,
	    .huge_bytes = r->huge_bytes,
	    .blocks = r->blocks,
	    .block_bytes = r->block_bytes,
	    .arenas = r->arenas,
	    .arena_free_bytes = r->arena_free_bytes,
	    .inherited_live = r->inherited_live,
	    .inherited_holds = r->inherited_holds,
	    .rest_live = r->rest_live,
	    .rest_holds = r->rest_holds,
	    .areas_bytes = r->areas_bytes,
	    .areas_count = r->areas_count,
	    .hugetlb_bytes = r->hugetlb_bytes,
	};

	memcpy(h.classes, r->classes, sizeof(h.classes));
	memcpy(h.fills, r->fills, sizeof(h.fills));
	memcpy(to, &h, sizeof(h));
}

static void put_rows(const struct residence *r, uint8_t *to, char *texts)
{
	size_t at = 0;

	for (size_t i = 0; i < r->site_count; i++, to += sizeof(struct site)) {
		const struct residence_site *s = &r->sites[i];
		const struct site row = {.id = s->id,
		    .blocks = s->blocks,
		    .live = s->live,
		    .holds = s->holds,
		    .thin = s->thin};

		memcpy(to, &row, sizeof(row));
	}
	for (size_t i = 0; i < r->area_count; i++, to += sizeof(struct area)) {
		const struct residence_area *a = &r->areas[i];
		size_t n = name_bytes(a);
		const struct area row = {.start = a->start,
		    .end = a->end,
		    .bytes = a->bytes,
		    .name = n > 0 ? (uint32_t)at + 1 : 0};

		memcpy(to, &row, sizeof(row));
		if (n > 0)
			memcpy(texts + at, a->name, n - 1);
		at += n;
	}
}

int rss_account_encode(const struct residence *r, uint8_t **ret, size_t *ret_len)
{
	size_t text_bytes = 0, len;
	uint8_t *bytes;

	if (r->site_count > RESIDENCE_SITES_MAX || r->area_count > RESIDENCE_AREAS_MAX)
		return -EFBIG;
	for (size_t i = 0; i < r->area_count; i++)
		text_bytes += name_bytes(&r->areas[i]);
	len = sizeof(struct head) + r->site_count * sizeof(struct site) +
	    r->area_count * sizeof(struct area) + text_bytes;
	bytes = calloc(1, len);
	if (!bytes)
		return -ENOMEM;
	put_head(r, text_bytes, bytes);
	put_rows(r, bytes + sizeof(struct head), (char *)bytes + len - text_bytes);
	*ret = bytes;
	*ret_len = len;
	return 0;
}

/* ---- reading ---- */

static size_t whole_bytes(const struct head *h)
{
	return (size_t)h->head_bytes + (size_t)h->site_count * h->site_bytes +
	    (size_t)h->area_count * h->area_bytes + h->text_bytes;
}

static bool head_fits(const struct head *h, size_t len)
{
	return h->head_bytes >= HEAD_MIN && h->head_bytes <= HEAD_MAX &&
	    h->site_bytes >= sizeof(struct site) && h->site_bytes <= ROW_MAX &&
	    h->area_bytes >= sizeof(struct area) && h->area_bytes <= ROW_MAX &&
	    h->site_count <= RESIDENCE_SITES_MAX && h->area_count <= RESIDENCE_AREAS_MAX &&
	    h->text_bytes <= TEXT_MAX && len >= whole_bytes(h) && h->page_bytes >= 4096 &&
	    (h->page_bytes & (h->page_bytes - 1)) == 0 &&
	    (h->lack == RESIDENCE_SPLIT || h->site_count == 0);
}

static void take_head(const struct head *h, struct residence *r)
{
	*r = (struct residence){
	    /* a reason of a later version */
	    .lack = h->lack < RESIDENCE_LACKS ? h->lack : RESIDENCE_OTHER,
	    .page_bytes = h->page_bytes,
	    .is_glibc = h->flags & FLAG_GLIBC,
	    .is_partial = h->flags & FLAG_PARTIAL,
	    .is_short = h->flags & FLAG_SHORT,
	    .time_ns = h->time_ns,
	    .took_ns = h->took_ns,
	    .rss_bytes = h->rss_bytes,
	    .swap_bytes = h->swap_bytes,
	    .moved_bytes = (int64_t)h->moved_bytes,
	    .heap_swap_bytes = h->heap_swap_bytes,
	    .huge_bytes = h->huge_bytes,
	    .blocks = h->blocks,
	    .block_bytes = h->block_bytes,
	    .arenas = h->arenas,
	    .arena_free_bytes = h->arena_free_bytes,
	    .inherited_live = h->inherited_live,
	    .inherited_holds = h->inherited_holds,
	    .rest_live = h->rest_live,
	    .rest_holds = h->rest_holds,
	    .areas_bytes = h->areas_bytes,
	    .areas_count = h->areas_count,
	    .hugetlb_bytes = h->hugetlb_bytes,
	};
	memcpy(r->classes, h->classes, sizeof(r->classes));
	memcpy(r->fills, h->fills, sizeof(r->fills));
}

/* Sorted, and no site twice: rss_account_find() relies on it. */
static int take_sites(const struct head *h, const uint8_t *rows, struct residence *r)
{
	for (uint32_t i = 0; i < h->site_count; i++) {
		struct residence_site *to = &r->sites[r->site_count++];
		struct site s;

		memcpy(&s, rows + (size_t)i * h->site_bytes, sizeof(s));
		if ((i > 0 && s.id <= to[-1].id) || s.live > s.holds || s.thin > s.holds)
			return -EBADMSG;
		*to = (struct residence_site){.id = s.id,
		    .blocks = s.blocks,
		    .live = s.live,
		    .holds = s.holds,
		    .thin = s.thin};
	}
	return 0;
}

static int take_areas(const struct head *h, const uint8_t *rows, struct residence *r)
{
	for (uint32_t i = 0; i < h->area_count; i++) {
		struct area a;

		memcpy(&a, rows + (size_t)i * h->area_bytes, sizeof(a));
		if (a.start >= a.end || a.name > h->text_bytes)
			return -EBADMSG;
		r->areas[r->area_count++] = (struct residence_area){.start = a.start,
		    .end = a.end,
		    .bytes = a.bytes,
		    .name = a.name ? r->text + a.name - 1 : ""};
	}
	return 0;
}

int rss_account_decode(const uint8_t *bytes, size_t len, struct residence *ret)
{
	struct residence r;
	const uint8_t *sites, *areas, *texts;
	struct head h = {0};
	int err = -ENOMEM;

	if (len < HEAD_MIN)
		return -EBADMSG;
	memcpy(&h, bytes, HEAD_MIN);
	if (!head_fits(&h, len))
		return -EBADMSG;
	if (h.head_bytes >= sizeof(h))
		memcpy(&h, bytes, sizeof(h));
	sites = bytes + h.head_bytes;
	areas = sites + (size_t)h.site_count * h.site_bytes;
	texts = areas + (size_t)h.area_count * h.area_bytes;
	if (h.text_bytes > 0 && texts[h.text_bytes - 1] != '\0')
		return -EBADMSG;
	take_head(&h, &r);
	r.sites = calloc(h.site_count + 1u, sizeof(*r.sites));
	r.areas = calloc(h.area_count + 1u, sizeof(*r.areas));
	r.text = malloc(h.text_bytes + 1u);
	if (r.sites && r.areas && r.text) {
		memcpy(r.text, texts, h.text_bytes);
		r.text[h.text_bytes] = '\0';
		err = take_sites(&h, sites, &r);
		if (err == 0)
			err = take_areas(&h, areas, &r);
	}
	if (err < 0) {
		rss_account_release(&r);
		return err;
	}
	*ret = r;
	return 0;
}

void rss_account_release(struct residence *r)
{
	free(r->sites);
	free(r->areas);
	free(r->text);
	*r = (struct residence){0};
}
