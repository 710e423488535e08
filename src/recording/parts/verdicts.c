/* verdicts.c - encodes and decodes verdicts (docs/RECORDING.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts/verdicts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A head, the rows, then the texts, each with a NUL. The head has the size of a
 * row and its own size, so a reader skips what a later version appends to them.
 */
struct head {
	uint32_t head_bytes, row_bytes;
	uint32_t count, text_bytes;
	uint32_t reason, looks;
	uint32_t flags;
	uint32_t reserved;
	uint64_t begin_ns, end_ns;
	uint64_t blocks, bytes;
	uint64_t refused_blocks;
	uint64_t ignored_blocks, ignored_bytes;
	uint64_t swapped_bytes, unreadable_bytes, device_bytes, ring_bytes;
	uint64_t pause_ns;
};
_Static_assert(sizeof(struct head) == 128, "head of verdicts");

struct row {
	uint32_t site, class, notes;
	uint32_t first_birth, last_birth;
	uint32_t type; /* offset in the texts + 1; 0: not known */
	uint64_t blocks, bytes;
	uint64_t direct_blocks, direct_bytes;
	uint64_t cycle_blocks, cycle_bytes;
	uint64_t indirect_blocks, indirect_bytes;
	uint64_t held_again, freed_late;
	uint64_t reserved;
};
_Static_assert(sizeof(struct row) == 112, "row of verdicts");

enum { FLAG_AT_EXIT = 1, FLAG_STOPPED = 2, FLAG_HEADS_ONLY = 4 };
enum { HEAD_MAX = 4096, ROW_MAX = 1024, TEXT_MAX = 64 << 20 };

/* ---- writing ---- */

/* Bytes of the text of a site with its NUL; long names of types are cut. */
static size_t type_bytes(const struct verdict_site *s)
{
	return s->type ? strnlen(s->type, VERDICTS_TYPE_MAX) + 1 : 0;
}

static void put_head(const struct verdicts *v, size_t text_bytes, uint8_t *to)
{
	const struct head h = {
	    .head_bytes = sizeof(struct head),
	    .row_bytes = sizeof(struct row),
	    .count = (uint32_t)v->count,
	    .text_bytes = (uint32_t)text_bytes,
	    .reason = v->reason,
	    .looks = v->looks,
	    .flags = (v->at_exit ? FLAG_AT_EXIT : 0u) | (v->stopped ? FLAG_STOPPED : 0u) |
	        (v->heads_only ? FLAG_HEADS_ONLY : 0u),
	    .begin_ns = v->begin_ns,
	    .end_ns = v->end_ns,
	    .blocks = v->blocks,
	    .bytes = v->bytes,
	    .refused_blocks = v->refused_blocks,
	    .ignored_blocks = v->ignored_blocks,
	    .ignored_bytes = v->ignored_bytes,
	    .swapped_bytes = v->swapped_bytes,
	    .unreadable_bytes = v->unreadable_bytes,
	    .device_bytes = v->device_bytes,
	    .ring_bytes = v->ring_bytes,
	    .pause_ns = v->pause_ns,
	};

	memcpy(to, &h, sizeof(h));
}

static void put_row(const struct verdict_site *s, size_t type, uint8_t *to)
{
	const struct row r = {
	    .site = s->site,
	    .class = s->class,
	    .notes = s->notes,
	    .first_birth = s->first_birth,
	    .last_birth = s->last_birth,
	    .type = s->type ? (uint32_t)type + 1 : 0,
	    .blocks = s->blocks,
	    .bytes = s->bytes,
	    .direct_blocks = s->direct_blocks,
	    .direct_bytes = s->direct_bytes,
	    .cycle_blocks = s->cycle_blocks,
	    .cycle_bytes = s->cycle_bytes,
	    .indirect_blocks = s->indirect_blocks,
	    .indirect_bytes = s->indirect_bytes,
	    .held_again = s->held_again,
	    .freed_late = s->freed_late,
	};

	memcpy(to, &r, sizeof(r));
}

int verdicts_encode(const struct verdicts *v, uint8_t **ret, size_t *ret_len)
{
	size_t text_bytes = 0, at = 0, len;
	uint8_t *bytes, *texts;

	if (v->count > VERDICTS_SITES_MAX)
		return -EFBIG;
	for (size_t i = 0; i < v->count; i++)
		text_bytes += type_bytes(&v->sites[i]);
	if (text_bytes > TEXT_MAX)
		return -EFBIG;
	len = sizeof(struct head) + v->count * sizeof(struct row) + text_bytes;
	bytes = calloc(1, len);
	if (!bytes)
		return -ENOMEM;
	put_head(v, text_bytes, bytes);
	texts = bytes + len - text_bytes;
	for (size_t i = 0; i < v->count; i++) {
		const struct verdict_site *s = &v->sites[i];
		size_t n = type_bytes(s);

		put_row(s, at, bytes + sizeof(struct head) + i * sizeof(struct row));
		if (n > 0)
			memcpy(texts + at, s->type, n - 1);
		at += n;
	}
	*ret = bytes;
	*ret_len = len;
	return 0;
}

/* ---- reading ---- */

/* Do the sizes in the head add up to the number of bytes? */
static bool sizes_fit(const struct head *h, size_t len)
{
	return h->head_bytes >= sizeof(*h) && h->head_bytes <= HEAD_MAX &&
	    h->row_bytes >= sizeof(struct row) && h->row_bytes <= ROW_MAX &&
	    h->count <= VERDICTS_SITES_MAX && h->text_bytes <= TEXT_MAX &&
	    len == (size_t)h->head_bytes + (size_t)h->count * h->row_bytes + h->text_bytes;
}

static void take_head(const struct head *h, struct verdicts *v)
{
	*v = (struct verdicts){
	    .reason = h->reason,
	    .looks = h->looks,
	    .at_exit = h->flags & FLAG_AT_EXIT,
	    .stopped = h->flags & FLAG_STOPPED,
	    .heads_only = h->flags & FLAG_HEADS_ONLY,
	    .begin_ns = h->begin_ns,
	    .end_ns = h->end_ns,
	    .blocks = h->blocks,
	    .bytes = h->bytes,
	    .refused_blocks = h->refused_blocks,
	    .ignored_blocks = h->ignored_blocks,
	    .ignored_bytes = h->ignored_bytes,
	    .swapped_bytes = h->swapped_bytes,
	    .unreadable_bytes = h->unreadable_bytes,
	    .device_bytes = h->device_bytes,
	    .ring_bytes = h->ring_bytes,
	    .pause_ns = h->pause_ns,
	};
}

/* part + rest <= whole, without wrapping round */
static bool fits(uint64_t part, uint64_t rest, uint64_t whole)
{
	return part <= whole && rest <= whole - part;
}

static bool row_makes_sense(const struct row *r, uint32_t text_bytes)
{
	return r->first_birth <= r->last_birth && r->type <= text_bytes &&
	    fits(r->direct_blocks, r->indirect_blocks, r->blocks) &&
	    fits(r->direct_bytes, r->indirect_bytes, r->bytes) &&
	    r->cycle_blocks <= r->direct_blocks && r->cycle_bytes <= r->direct_bytes;
}

static struct verdict_site site_of(const struct row *r, const char *text)
{
	return (struct verdict_site){
	    .site = r->site,
	    .class = r->class,
	    .notes = r->notes,
	    .first_birth = r->first_birth,
	    .last_birth = r->last_birth,
	    .blocks = r->blocks,
	    .bytes = r->bytes,
	    .direct_blocks = r->direct_blocks,
	    .direct_bytes = r->direct_bytes,
	    .cycle_blocks = r->cycle_blocks,
	    .cycle_bytes = r->cycle_bytes,
	    .indirect_blocks = r->indirect_blocks,
	    .indirect_bytes = r->indirect_bytes,
	    .held_again = r->held_again,
	    .freed_late = r->freed_late,
	    .type = r->type ? text + r->type - 1 : NULL,
	};
}

/* Rows of unknown classes were written by a later version and are left out. */
static int take_rows(const struct head *h, const uint8_t *rows, struct verdicts *v)
{
	for (uint32_t i = 0; i < h->count; i++) {
		struct row r;

		memcpy(&r, rows + (size_t)i * h->row_bytes, sizeof(r));
		if (!row_makes_sense(&r, h->text_bytes))
			return -EBADMSG;
		if (r.class == VERDICT_LEAK || r.class == VERDICT_POSSIBLE)
			v->sites[v->count++] = site_of(&r, v->text);
	}
	return 0;
}

int verdicts_decode(const uint8_t *bytes, size_t len, struct verdicts *ret)
{
	const uint8_t *rows, *texts;
	struct verdicts v;
	struct head h;
	int err;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, bytes, sizeof(h));
	if (!sizes_fit(&h, len))
		return -EBADMSG;
	rows = bytes + h.head_bytes;
	texts = bytes + len - h.text_bytes;
	if ((h.text_bytes > 0 && texts[h.text_bytes - 1] != '\0') ||
	    (h.reason == VERDICT_JUDGED ? h.looks == 0 : h.count > 0) || h.begin_ns > h.end_ns)
		return -EBADMSG;
	take_head(&h, &v);
	v.sites = calloc(h.count + 1u, sizeof(*v.sites));
	v.text = malloc(h.text_bytes + 1u);
	err = -ENOMEM;
	if (v.sites && v.text) {
		memcpy(v.text, texts, h.text_bytes);
		v.text[h.text_bytes] = '\0';
		err = take_rows(&h, rows, &v);
	}
	if (err < 0) {
		verdicts_release(&v);
		return err;
	}
	*ret = v;
	return 0;
}

void verdicts_release(struct verdicts *v)
{
	free(v->sites);
	free(v->text);
	*v = (struct verdicts){0};
}
