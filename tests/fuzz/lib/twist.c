/* twist.c - what hostile or broken writers do to a recording or segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "twist.h"

#include <string.h>

#include "fields.h"
#include "items.h"
#include "recording/file/recording.h"
#include "format/format.h"

static const uint64_t known[] = {0, 1, UINT64_MAX, UINT64_C(1) << 31, UINT64_C(1) << 63};
enum { KNOWN = sizeof(known) / sizeof(known[0]), WORDS_MAX = 12 };

uint64_t twist_value(struct chance *c, uint64_t was)
{
	static const uint64_t odd[] = {0, 1, 2, 3, 7, 8, 15, 16, 255, 256, 0x7fff, 0x8000, 0xffff,
	    0x10000, INT32_MAX, UINT64_C(1) << 31, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 47,
	    UINT64_C(1) << 48, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};

	switch (chance_below(c, 8)) {
	case 0:
		return was + 1;
	case 1:
		return was - 1;
	case 2:
		return was ^ UINT64_C(1) << chance_below(c, 64);
	case 3:
		return was * 2;
	case 4:
		return chance_below(c, 64);
	default:
		return odd[chance_below(c, sizeof(odd) / sizeof(odd[0]))];
	}
}

/* Of an account of resident memory: its uuid, then sizes and counts of 32 bits. */
enum { RSS_WORDS = 4 + 10, ACCOUNT_MAX = 64 };

/*
 * Of an event log, its index or a flight recorder: the head and the first run,
 * item or ring, in words of 32 bits. Words of the log are behind them.
 */
enum { LOG_WORDS = 32 };

/* ---- segments ---- */

/* Where the segment begins: an entry has struct recording_segment before. */
static size_t segment_start(uint32_t type)
{
	return type == RECORDING_SEGMENT ? sizeof(struct recording_segment) : 0;
}

static void swap_extents(struct codec_out *content, size_t start, struct chance *c)
{
	uint8_t *seg = content->bytes + start;
	struct seg_header h;
	struct seg_extent x, y;
	size_t a, b;

	memcpy(&h, seg, sizeof(h));
	a = (size_t)h.dir_offset + chance_below(c, h.dir_used) * sizeof(x);
	b = (size_t)h.dir_offset + chance_below(c, h.dir_used) * sizeof(x);
	if (h.dir_offset > content->len || a + sizeof(x) > content->len - start ||
	    b + sizeof(x) > content->len - start)
		return;
	memcpy(&x, seg + a, sizeof(x));
	memcpy(&y, seg + b, sizeof(y));
	if (chance_below(c, 2)) {
		memcpy(seg + b, &x, sizeof(x)); /* twice */
		return;
	}
	memcpy(seg + a, &y, sizeof(y));
	memcpy(seg + b, &x, sizeof(x));
	memcpy(seg + a + offsetof(struct seg_extent, kind), &x.kind,
	    sizeof(x.kind)); /* rows of one kind, told to be of another */
}

static void twist_segment(struct codec_out *content, size_t start, struct chance *c)
{
	struct fields_place p, q;
	size_t len, n;

	if (content->len < start + SEG_HEADER_BYTES)
		return;
	len = content->len - start;
	n = fields_count(content->bytes + start, len);
	if (!fields_find(content->bytes + start, len, chance_below(c, n), &p) ||
	    !fields_find(content->bytes + start, len, chance_below(c, n), &q))
		return;
	switch (chance_below(c, 12)) {
	case 0:
		swap_extents(content, start, c);
		break;
	case 1:
		content->len = start + chance_below(c, len);
		break;
	case 2: /* the value of another field */
		fields_set(content->bytes + start, &p, fields_get(content->bytes + start, &q));
		break;
	case 3: /* any byte at all, text too */
		content->bytes[start + chance_below(c, len)] = (uint8_t)chance_next(c);
		break;
	default:
		fields_set(content->bytes + start, &p,
		    twist_value(c, fields_get(content->bytes + start, &p)));
		break;
	}
}

/* ---- entries that are words or text ---- */

static void set_word(struct codec_out *content, size_t i, size_t width, uint64_t value)
{
	if (content->len >= (i + 1) * width)
		memcpy(content->bytes + i * width, &value, width);
}

static uint64_t get_word(const struct codec_out *content, size_t i)
{
	uint64_t value = 0;

	if (content->len >= (i + 1) * sizeof(value))
		memcpy(&value, content->bytes + i * 8, sizeof(value));
	return value;
}

static void twist_words(struct codec_out *content, struct chance *c)
{
	size_t i = chance_below(c, content->len / 8);

	if (chance_below(c, 8) == 0)
		content->len = chance_below(c, content->len + 1);
	else
		set_word(content, i, 8, twist_value(c, get_word(content, i)));
}

static void twist_text(struct codec_out *content, struct chance *c)
{
	static const char *const odd[] = {"\n", "=", "\\x", "\\x0", "\\xzz", "pid=-1\n",
	    "pid=99999999999999999999\n", "start_ns=-1\n", "start_ns=18446744073709551616\n",
	    "exe=\n", "\033[2J", "\xff\xfe", "%s%n", "command=a\\x20b c\n"};
	const char *word = odd[chance_below(c, sizeof(odd) / sizeof(odd[0]))];
	size_t at = chance_below(c, content->len + 1);
	struct codec_out whole = {0};

	codec_put_bytes(&whole, content->bytes, at);
	switch (chance_below(c, 4)) {
	case 0: /* a piece is gone */
		at += chance_below(c, content->len - at + 1);
		break;
	case 1: /* or twice */
		at = chance_below(c, at + 1);
		break;
	case 2: /* very long */
		for (size_t i = chance_below(c, 20000); i > 0; i--)
			codec_put_bytes(&whole, "A", 1);
		break;
	default:
		codec_put_bytes(&whole, word, strlen(word));
		break;
	}
	codec_put_bytes(&whole, content->bytes + at, content->len - at);
	codec_release(content);
	*content = whole;
}

void twist_content(struct codec_out *content, uint32_t type, struct chance *c)
{
	if (content->len == 0)
		return;
	switch (type) {
	case RECORDING_SEGMENT:
		if (chance_below(c, 10) == 0)
			set_word(content, chance_below(c, 16), 4, twist_value(c, 0));
		else
			twist_segment(content, segment_start(type), c);
		break;
	case RECORDING_LINE:
	case RECORDING_NAMES:
		items_twist(content, c);
		break;
	case RECORDING_INVENTORY:
	case RECORDING_RESIDENCE:
		if (chance_below(c, 2))
			set_word(content, chance_below(c, RSS_WORDS), 4, twist_value(c, 32));
		else
			twist_words(content, c);
		break;
	case RECORDING_LOG:
	case RECORDING_LOG_INDEX:
	case RECORDING_FLIGHT:
		if (chance_below(c, 2))
			set_word(content, chance_below(c, LOG_WORDS), 4, twist_value(c, 32));
		else if (chance_below(c, 2))
			content->bytes[chance_below(c, content->len)] = (uint8_t)chance_next(c);
		else
			twist_words(content, c);
		break;
	case RECORDING_META:
	case RECORDING_UNTRACED:
		twist_text(content, c);
		break;
	default:
		twist_words(content, c);
		break;
	}
}

/* ---- whole files ---- */

static void twist_head(struct shape *s, struct chance *c)
{
	uint64_t value = twist_value(c, 32);

	switch (chance_below(c, 4)) {
	case 0:
		s->head.version = (uint32_t)value;
		break;
	case 1:
		s->head.header_bytes = (uint32_t)value;
		break;
	case 2:
		s->head.features = value;
		break;
	default:
		s->head.reserved = value;
		break;
	}
}

/* Entries dropped, doubled, swapped, taken from another recording. */
static void twist_order(struct shape *s, const struct shape *other, struct chance *c)
{
	size_t i = chance_below(c, s->count), j = chance_below(c, s->count);
	struct shape_entry e = s->entries[i];

	switch (chance_below(c, 4)) {
	case 0:
		if (s->count > 1)
			shape_drop(s, i);
		break;
	case 1:
		shape_insert(s, j, &e);
		break;
	case 2:
		s->entries[i] = s->entries[j];
		s->entries[j] = e;
		break;
	default:
		if (!other->is_segment && other->count > 0)
			shape_insert(s, i, &other->entries[chance_below(c, other->count)]);
		break;
	}
}

static void twist_lie(struct shape_entry *e, struct chance *c)
{
	e->lie = (enum shape_lie)(1 + chance_below(c, SHAPE_LIES - 1));
	if (e->lie == SHAPE_BOMB && chance_below(c, 4) > 0)
		e->lie = SHAPE_LENGTH; /* bombs take long to go off */
	if (e->lie == SHAPE_TYPE)
		e->value = chance_below(c, RECORDING_FLIGHT + 2);
	else if (e->lie == SHAPE_FLAGS)
		e->value = chance_below(c, 4);
	else
		e->value = twist_value(c, e->content.len);
}

static void twist_once(struct shape *s, const struct shape *other, struct chance *c)
{
	struct shape_entry *e = &s->entries[chance_below(c, s->count)];

	if (s->is_segment) {
		twist_segment(&s->entries[0].content, 0, c);
		return;
	}
	switch (chance_below(c, 16)) {
	case 0:
		twist_head(s, c);
		break;
	case 1:
	case 2:
		twist_order(s, other, c);
		break;
	case 3:
	case 4:
		twist_lie(e, c);
		break;
	case 5:
		e->is_packed = !e->is_packed;
		break;
	case 6:
		s->loose = true;
		break;
	case 7:
		s->cut = 1 + chance_below(c, 4096);
		break;
	case 8:
		s->add = 1 + chance_below(c, 64);
		break;
	default:
		s->loose |= e->type == RECORDING_INDEX || e->type == RECORDING_END;
		twist_content(&e->content, e->type, c);
		break;
	}
}

void twist_random(struct shape *s, const struct shape *other, struct chance *c)
{
	for (size_t n = 1 + chance_below(c, 4); n > 0 && s->count > 0; n--)
		twist_once(s, other, c);
}

/* ---- one known field after the other ---- */

/* True where n has been counted down to this change. */
static bool is_here(size_t *n, size_t changes)
{
	if (*n < changes)
		return true;
	*n -= changes;
	return false;
}

static bool known_head(struct shape *s, size_t *n)
{
	const size_t fields = 5 * KNOWN;
	uint64_t value;

	if (!is_here(n, fields))
		return false;
	value = known[*n % KNOWN];
	switch (*n / KNOWN) {
	case 0:
		s->head.magic = value;
		break;
	case 1:
		s->head.version = (uint32_t)value;
		break;
	case 2:
		s->head.header_bytes = (uint32_t)value;
		break;
	case 3:
		s->head.features = value;
		break;
	default:
		s->head.reserved = value;
		break;
	}
	return true;
}

static bool known_entry(struct shape_entry *e, size_t *n)
{
	if (!is_here(n, 5 * KNOWN))
		return false;
	e->lie = (enum shape_lie)(SHAPE_TYPE + *n / KNOWN);
	e->value = known[*n % KNOWN];
	return true;
}

static bool known_segment(struct codec_out *content, size_t start, size_t *n)
{
	struct fields_place p;
	size_t count;

	if (content->len < start + SEG_HEADER_BYTES)
		return false;
	count = fields_count(content->bytes + start, content->len - start);
	if (!is_here(n, count * KNOWN))
		return false;
	if (fields_find(content->bytes + start, content->len - start, *n / KNOWN, &p))
		fields_set(content->bytes + start, &p, known[*n % KNOWN]);
	return true;
}

static bool known_words(struct codec_out *content, size_t width, size_t count, size_t *n)
{
	if (!is_here(n, count * KNOWN))
		return false;
	set_word(content, *n / KNOWN, width, known[*n % KNOWN]);
	return true;
}

static bool known_content(struct shape *s, struct shape_entry *e, size_t *n)
{
	size_t words = e->content.len / 8;
	bool is_it;

	switch (e->type) {
	case RECORDING_SEGMENT:
		return known_words(&e->content, 4, 4, n) ||
		    known_segment(&e->content, segment_start(e->type), n);
	case RECORDING_LINE:
	case RECORDING_NAMES:
		return items_known(&e->content, known, KNOWN, n);
	case RECORDING_INVENTORY:
	case RECORDING_RESIDENCE:
		return known_words(&e->content, 4, RSS_WORDS, n) ||
		    known_words(&e->content, 8, words < ACCOUNT_MAX ? words : ACCOUNT_MAX, n);
	case RECORDING_LOG:
	case RECORDING_LOG_INDEX:
	case RECORDING_FLIGHT:
		return known_words(&e->content, 4, LOG_WORDS, n);
	case RECORDING_INDEX:
	case RECORDING_END:
		is_it = known_words(&e->content, 8, words < WORDS_MAX ? words : WORDS_MAX, n);
		s->loose |= is_it;
		return is_it;
	default:
		return false;
	}
}

bool twist_known(struct shape *s, size_t n)
{
	if (s->is_segment)
		return known_segment(&s->entries[0].content, 0, &n);
	if (known_head(s, &n))
		return true;
	for (size_t i = 0; i < s->count; i++)
		if (known_entry(&s->entries[i], &n) || known_content(s, &s->entries[i], &n))
			return true;
	return false;
}

size_t twist_known_count(const struct shape *s)
{
	size_t low = 0, high = 1 << 20;

	while (low < high) {
		size_t middle = (low + high) / 2;
		struct shape copy;

		shape_copy(&copy, s);
		if (twist_known(&copy, middle))
			low = middle + 1;
		else
			high = middle;
		shape_release(&copy);
	}
	return low;
}
