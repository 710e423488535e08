/* inventory.c - encodes and decodes inventories (docs/RECORDING.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts/inventory.h"

#include "recording/parts/census.h"
#include "recording/parts/sheet.h"

static bool sum_fits(const struct inventory_sum *part, const struct inventory_sum *all)
{
	return part->blocks <= all->blocks && part->bytes <= all->bytes;
}

static enum sheet_row judge_site(const void *inventory, const void *row, const void *before)
{
	const struct inventory_site *r = row, *last = before;

	(void)inventory;
	return last && r->id < last->id ? SHEET_BAD : SHEET_KEEP;
}

static enum sheet_row judge_holder(const void *inventory, const void *row, const void *before)
{
	const struct inventory *v = inventory;
	const struct inventory_holder *r = row;

	(void)before;
	return r->way && sum_fits(&r->retained, &v->all) ? SHEET_KEEP : SHEET_BAD;
}

/* Types of unknown bases were written by a later version and are left out. */
static enum sheet_row judge_type(const void *inventory, const void *row, const void *before)
{
	const struct inventory *v = inventory;
	const struct inventory_type *r = row;

	(void)before;
	if (!r->name || !sum_fits(&r->live, &v->counted))
		return SHEET_BAD;
	return r->basis < INVENTORY_BASES ? SHEET_KEEP : SHEET_SKIP;
}

static bool head_fits(const void *inventory, const struct sheet_sizes *n)
{
	const struct inventory *v = inventory;

	(void)n;
	return sum_fits(&v->untyped, &v->counted);
}

static const struct sheet sheet = {
    .struct_bytes = sizeof(struct inventory),
    .text_at = offsetof(struct inventory, text),
    .head_bytes = 120,
    .texts_max = 64 << 20,
    .text_max = INVENTORY_TEXT_MAX,
    .flag_count = 5,
    .flags = {offsetof(struct inventory, has_holders), offsetof(struct inventory, has_types),
        offsetof(struct inventory, at_exit), offsetof(struct inventory, is_partial),
        offsetof(struct inventory, is_short)},
    .head = {SHEET_NUMBER(head), {SHEET_FLAGS, 0, 4}, SHEET_NUMBER(row[0]), SHEET_NUMBER(count[0]),
        SHEET_NUMBER(row[1]), SHEET_NUMBER(count[1]), SHEET_NUMBER(row[2]), SHEET_NUMBER(count[2]),
        SHEET_NUMBER(texts), {SHEET_ZERO, 0, 4}, SHEET_RUN(struct inventory, time_ns, untyped)},
    .tables = {{
                   .row_bytes = 48,
                   .max = INVENTORY_SITES_MAX,
                   .rows_at = offsetof(struct inventory, sites),
                   .count_at = offsetof(struct inventory, site_count),
                   .item_bytes = sizeof(struct inventory_site),
                   .fields = {SHEET_ONE(struct inventory_site, id),
                       {SHEET_TEXT, offsetof(struct inventory_site, function), 0},
                       {SHEET_TEXT, offsetof(struct inventory_site, held), 0}, {SHEET_ZERO, 0, 4},
                       SHEET_RUN(struct inventory_site, live, retained)},
                   .judge = judge_site,
               },
        {
            .row_bytes = 24,
            .max = INVENTORY_HOLDERS_MAX,
            .rows_at = offsetof(struct inventory, holders),
            .count_at = offsetof(struct inventory, holder_count),
            .item_bytes = sizeof(struct inventory_holder),
            .fields = {{SHEET_TEXT, offsetof(struct inventory_holder, way), 0}, {SHEET_ZERO, 0, 4},
                SHEET_ONE(struct inventory_holder, retained)},
            .judge = judge_holder,
        },
        {
            .row_bytes = 32,
            .max = INVENTORY_TYPES_MAX,
            .rows_at = offsetof(struct inventory, types),
            .count_at = offsetof(struct inventory, type_count),
            .item_bytes = sizeof(struct inventory_type),
            .fields = {{SHEET_TEXT, offsetof(struct inventory_type, name), 0},
                {SHEET_TEXT, offsetof(struct inventory_type, container), 0},
                SHEET_ONE(struct inventory_type, basis), {SHEET_ZERO, 0, 4},
                SHEET_ONE(struct inventory_type, live)},
            .judge = judge_type,
        }},
    .fits = head_fits,
};

int inventory_encode(const struct inventory *v, uint8_t **ret, size_t *ret_len)
{
	return sheet_encode(&sheet, v, ret, ret_len);
}

int inventory_decode(const uint8_t *bytes, size_t len, struct inventory *ret)
{
	return sheet_decode(&sheet, bytes, len, ret);
}

void inventory_release(struct inventory *v)
{
	sheet_release(&sheet, v);
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

/* ---- census: gives the memory of a census back ---- */

void census_release(struct census *c)
{
	free(c->types);
	free(c->spare);
	free(c->text);
	*c = (struct census){0};
}
