/* verdicts.c - encodes and decodes verdicts (docs/RECORDING.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts/verdicts.h"

#include "recording/parts/sheet.h"

/* part + rest <= whole, without wrapping round */
static bool fits(uint64_t part, uint64_t rest, uint64_t whole)
{
	return part <= whole && rest <= whole - part;
}

/* Rows of unknown classes were written by a later version and are left out. */
static enum sheet_row judge(const void *verdicts, const void *row, const void *before)
{
	const struct verdict_site *r = row;

	(void)verdicts;
	(void)before;
	if (r->first_birth > r->last_birth ||
	    !fits(r->direct_blocks, r->indirect_blocks, r->blocks) ||
	    !fits(r->direct_bytes, r->indirect_bytes, r->bytes) ||
	    r->cycle_blocks > r->direct_blocks || r->cycle_bytes > r->direct_bytes)
		return SHEET_BAD;
	return r->class == VERDICT_LEAK || r->class == VERDICT_POSSIBLE ? SHEET_KEEP : SHEET_SKIP;
}

static bool head_fits(const void *verdicts, const struct sheet_sizes *n)
{
	const struct verdicts *v = verdicts;

	return (v->reason == VERDICT_JUDGED ? v->looks > 0 : n->count[0] == 0) &&
	    v->begin_ns <= v->end_ns;
}

static const struct sheet sheet = {
    .struct_bytes = sizeof(struct verdicts),
    .text_at = offsetof(struct verdicts, text),
    .head_bytes = 128,
    .texts_max = 64 << 20,
    .text_max = VERDICTS_TYPE_MAX,
    .flag_count = 3,
    .flags = {offsetof(struct verdicts, at_exit), offsetof(struct verdicts, stopped),
        offsetof(struct verdicts, heads_only)},
    .head = {SHEET_NUMBER(head), SHEET_NUMBER(row[0]), SHEET_NUMBER(count[0]), SHEET_NUMBER(texts),
        SHEET_RUN(struct verdicts, reason, looks), {SHEET_FLAGS, 0, 4}, {SHEET_ZERO, 0, 4},
        SHEET_RUN(struct verdicts, begin_ns, ring_bytes), SHEET_ONE(struct verdicts, pause_ns)},
    .tables = {{
        .row_bytes = 112,
        .max = VERDICTS_SITES_MAX,
        .rows_at = offsetof(struct verdicts, sites),
        .count_at = offsetof(struct verdicts, count),
        .item_bytes = sizeof(struct verdict_site),
        .fields = {SHEET_RUN(struct verdict_site, site, last_birth),
            {SHEET_TEXT, offsetof(struct verdict_site, type), 0},
            SHEET_RUN(struct verdict_site, blocks, freed_late)},
        .judge = judge,
    }},
    .fits = head_fits,
};

int verdicts_encode(const struct verdicts *v, uint8_t **ret, size_t *ret_len)
{
	return sheet_encode(&sheet, v, ret, ret_len);
}

int verdicts_decode(const uint8_t *bytes, size_t len, struct verdicts *ret)
{
	return sheet_decode(&sheet, bytes, len, ret);
}

void verdicts_release(struct verdicts *v)
{
	sheet_release(&sheet, v);
}
