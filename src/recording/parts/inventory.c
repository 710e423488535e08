/* inventory.c - encodes and decodes inventories (docs/RECORDING.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts/inventory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A head, the rows of sites, of holders and of types, then the texts, each with
 * a NUL. The head has its own size and those of rows, so a reader skips what a
 * later version appends to them. A text is its offset + 1; 0: there is none.
 */
struct head {
	uint32_t head_bytes, flags;
	uint32_t site_bytes, site_count;
	uint32_t holder_bytes, holder_count;
	uint32_t type_bytes, type_count;
	uint32_t text_bytes, reserved;
	uint64_t time_ns, taken_ns;
	struct inventory_sum all, unheld, counted, untyped;
};
_Static_assert(sizeof(struct head) == 120, "head of an inventory");

struct site_row {
	uint32_t id, function, held, reserved;
	struct inventory_sum live, retained;
};
_Static_assert(sizeof(struct site_row) == 48, "site of an inventory");

struct holder_row {
	uint32_t way, reserved;
	struct inventory_sum retained;
};
_Static_assert(sizeof(struct holder_row) == 24, "holder of an inventory");

struct type_row {
	uint32_t name, container, basis, reserved;
	struct inventory_sum live;
};
_Static_assert(sizeof(struct type_row) == 32, "type of an inventory");

enum {
	HAS_HOLDERS = 1,
	HAS_TYPES = 2,
	AT_EXIT = 4,
	IS_PARTIAL = 8,
	IS_SHORT = 16,
};
enum { HEAD_MAX = 4096, ROW_MAX = 1024, TEXTS_MAX = 64 << 20 };

/* ---- writing ---- */

static size_t text_bytes(const char *text)
{
	return text ? strnlen(text, INVENTORY_TEXT_MAX) + 1 : 0;
}

static size_t all_texts(const struct inventory *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->site_count; i++)
		n += text_bytes(v->sites[i].function) + text_bytes(v->sites[i].held);
	for (size_t i = 0; i < v->holder_count; i++)
		n += text_bytes(v->holders[i].way);
	for (size_t i = 0; i < v->type_count; i++)
		n += text_bytes(v->types[i].name) + text_bytes(v->types[i].container);
	return n;
}

/* Where the next row and the next text go. */
struct put {
	uint8_t *row, *texts;
	uint32_t at;
};

static uint32_t put_text(struct put *p, const char *text)
{
	size_t n = text_bytes(text);
	uint32_t at = p->at;

	if (n == 0)
		return 0;
	memcpy(p->texts + at, text, n - 1); /* the NUL is there */
	p->at += (uint32_t)n;
	return at + 1;
}

static void put_row(struct put *p, const void *row, size_t bytes)
{
	memcpy(p->row, row, bytes);
	p->row += bytes;
}

static void put_rows(const struct inventory *v, struct put *p)
{
	for (size_t i = 0; i < v->site_count; i++) {
		const struct inventory_site *x = &v->sites[i];
		const struct site_row r = {.id = x->id,
		    .function = put_text(p, x->function),
		    .held = put_text(p, x->held),
		    .live = x->live,
		    .retained = x->retained};

		put_row(p, &r, sizeof(r));
	}
	for (size_t i = 0; i < v->holder_count; i++) {
		const struct inventory_holder *x = &v->holders[i];
		const struct holder_row r = {.way = put_text(p, x->way), .retained = x->retained};

		put_row(p, &r, sizeof(r));
	}
	for (size_t i = 0; i < v->type_count; i++) {
		const struct inventory_type *x = &v->types[i];
		const struct type_row r = {.name = put_text(p, x->name),
		    .container = put_text(p, x->container),
		    .basis = x->basis,
		    .live = x->live};

		put_row(p, &r, sizeof(r));
	}
}

int inventory_encode(const struct inventory *v, uint8_t **ret, size_t *ret_len)
{
	struct head h = {.head_bytes = sizeof(struct head),
	    .flags = (v->has_holders ? HAS_HOLDERS : 0u) | (v->has_types ? HAS_TYPES : 0u) |
	        (v->at_exit ? AT_EXIT : 0u) | (v->is_partial ? IS_PARTIAL : 0u) |
	        (v->is_short ? IS_SHORT : 0u),
	    .site_bytes = sizeof(struct site_row),
	    .site_count = (uint32_t)v->site_count,
	    .holder_bytes = sizeof(struct holder_row),
	    .holder_count = (uint32_t)v->holder_count,
	    .type_bytes = sizeof(struct type_row),
	    .type_count = (uint32_t)v->type_count,
	    .time_ns = v->time_ns,
	    .taken_ns = v->taken_ns,
	    .all = v->all,
	    .unheld = v->unheld,
	    .counted = v->counted,
	    .untyped = v->untyped};
	size_t texts, len;
	uint8_t *bytes;
	struct put p;

	if (v->site_count > INVENTORY_SITES_MAX || v->holder_count > INVENTORY_HOLDERS_MAX ||
	    v->type_count > INVENTORY_TYPES_MAX)
		return -EFBIG;
	texts = all_texts(v);
	if (texts > TEXTS_MAX)
		return -EFBIG;
	h.text_bytes = (uint32_t)texts;
	len = sizeof(h) + v->site_count * sizeof(struct site_row) +
	    v->holder_count * sizeof(struct holder_row) + v->type_count * sizeof(struct type_row) +
	    texts;
	bytes = calloc(1, len);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &h, sizeof(h));
	p = (struct put){.row = bytes + sizeof(h), .texts = bytes + len - texts};
	put_rows(v, &p);
	*ret = bytes;
	*ret_len = len;
	return 0;
}

/* ---- reading ---- */

static bool row_fits(uint32_t bytes, size_t least)
{
	return bytes >= least && bytes <= ROW_MAX;
}

static bool sizes_fit(const struct head *h, size_t len)
{
	return h->head_bytes >= sizeof(*h) && h->head_bytes <= HEAD_MAX &&
	    row_fits(h->site_bytes, sizeof(struct site_row)) &&
	    row_fits(h->holder_bytes, sizeof(struct holder_row)) &&
	    row_fits(h->type_bytes, sizeof(struct type_row)) &&
	    h->site_count <= INVENTORY_SITES_MAX && h->holder_count <= INVENTORY_HOLDERS_MAX &&
	    h->type_count <= INVENTORY_TYPES_MAX && h->text_bytes <= TEXTS_MAX &&
	    len ==
	    (size_t)h->head_bytes + (size_t)h->site_count * h->site_bytes +
	        (size_t)h->holder_count * h->holder_bytes + (size_t)h->type_count * h->type_bytes +
	        h->text_bytes;
}

static bool sum_fits(const struct inventory_sum *part, const struct inventory_sum *all)
{
	return part->blocks <= all->blocks && part->bytes <= all->bytes;
}

/* The text at an offset + 1, which was checked. */
static const char *text_at(const struct inventory *v, uint32_t at)
{
	return at ? v->text + at - 1 : NULL;
}

static int take_sites(const struct head *h, const uint8_t *rows, struct inventory *v)
{
	for (uint32_t i = 0; i < h->site_count; i++) {
		struct site_row r;

		memcpy(&r, rows + (size_t)i * h->site_bytes, sizeof(r));
		if (r.function > h->text_bytes || r.held > h->text_bytes ||
		    (i > 0 && r.id < v->sites[i - 1].id))
			return -EBADMSG;
		v->sites[v->site_count++] = (struct inventory_site){.id = r.id,
		    .function = text_at(v, r.function),
		    .held = text_at(v, r.held),
		    .live = r.live,
		    .retained = r.retained};
	}
	return 0;
}

static int take_holders(const struct head *h, const uint8_t *rows, struct inventory *v)
{
	for (uint32_t i = 0; i < h->holder_count; i++) {
		struct holder_row r;

		memcpy(&r, rows + (size_t)i * h->holder_bytes, sizeof(r));
		if (r.way == 0 || r.way > h->text_bytes || !sum_fits(&r.retained, &h->all))
			return -EBADMSG;
		v->holders[v->holder_count++] =
		    (struct inventory_holder){.retained = r.retained, .way = text_at(v, r.way)};
	}
	return 0;
}

/* Types of unknown bases were written by a later version and are left out. */
static int take_types(const struct head *h, const uint8_t *rows, struct inventory *v)
{
	for (uint32_t i = 0; i < h->type_count; i++) {
		struct type_row r;

		memcpy(&r, rows + (size_t)i * h->type_bytes, sizeof(r));
		if (r.name == 0 || r.name > h->text_bytes || r.container > h->text_bytes ||
		    !sum_fits(&r.live, &h->counted))
			return -EBADMSG;
		if (r.basis >= INVENTORY_BASES)
			continue;
		v->types[v->type_count++] = (struct inventory_type){.name = text_at(v, r.name),
		    .container = text_at(v, r.container),
		    .basis = r.basis,
		    .live = r.live};
	}
	return 0;
}

static void take_head(const struct head *h, struct inventory *v)
{
	*v = (struct inventory){.has_holders = h->flags & HAS_HOLDERS,
	    .has_types = h->flags & HAS_TYPES,
	    .at_exit = h->flags & AT_EXIT,
	    .is_partial = h->flags & IS_PARTIAL,
	    .is_short = h->flags & IS_SHORT,
	    .time_ns = h->time_ns,
	    .taken_ns = h->taken_ns,
	    .all = h->all,
	    .unheld = h->unheld,
	    .counted = h->counted,
	    .untyped = h->untyped};
}

static int take_rows(const struct head *h, const uint8_t *bytes, struct inventory *v)
{
	const uint8_t *sites = bytes + h->head_bytes;
	const uint8_t *holders = sites + (size_t)h->site_count * h->site_bytes;
	const uint8_t *types = holders + (size_t)h->holder_count * h->holder_bytes;
	const uint8_t *texts = types + (size_t)h->type_count * h->type_bytes;
	int err;

	memcpy(v->text, texts, h->text_bytes);
	v->text[h->text_bytes] = '\0';
	err = take_sites(h, sites, v);
	if (err == 0)
		err = take_holders(h, holders, v);
	return err == 0 ? take_types(h, types, v) : err;
}

int inventory_decode(const uint8_t *bytes, size_t len, struct inventory *ret)
{
	struct inventory v;
	struct head h;
	int err = -ENOMEM;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, bytes, sizeof(h));
	if (!sizes_fit(&h, len) || !sum_fits(&h.untyped, &h.counted) ||
	    (h.text_bytes > 0 && bytes[len - 1] != '\0'))
		return -EBADMSG;
	take_head(&h, &v);
	v.sites = calloc(h.site_count + 1u, sizeof(*v.sites));
	v.holders = calloc(h.holder_count + 1u, sizeof(*v.holders));
	v.types = calloc(h.type_count + 1u, sizeof(*v.types));
	v.text = malloc(h.text_bytes + 1u);
	if (v.sites && v.holders && v.types && v.text)
		err = take_rows(&h, bytes, &v);
	if (err < 0) {
		inventory_release(&v);
		return err;
	}
	*ret = v;
	return 0;
}

void inventory_release(struct inventory *v)
{
	free(v->sites);
	free(v->holders);
	free(v->types);
	free(v->text);
	*v = (struct inventory){0};
}

static int by_id(const void *key, const void *item)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = ((const struct inventory_site *)item)->id;

	return (a > b) - (a < b);
}

const struct inventory_site *inventory_find(const struct inventory *v, uint32_t id)
{
	return id && v->site_count ? bsearch(&id, v->sites, v->site_count, sizeof(*v->sites), by_id)
	                           : NULL;
}
