/* logcode.c - words of the event log as an entry of a recording: columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/log/logcode.h"

#include "format/seg_log.h"
#include "kit/data/room.h"

/* The column of kinds. */
enum {
	KIND_ALLOC = LOG_TAG_ALLOC,
	KIND_FREE = LOG_TAG_FREE,
	KIND_OTHER = 0x40, /* and the type */
};

/* Bytes in the columns of one word, beside its kind. */
enum { ALLOC_BYTES = 9, FREE_BYTES = 4, OTHER_BYTES = 7 };

int logcode_add_run(struct logcode *c, const struct logcode_run *run)
{
	if (room_make(&c->runs, &c->run_room, c->head.runs, sizeof(*run)) < 0)
		return -ENOMEM;
	c->runs[c->head.runs++] = *run;
	return 0;
}

int logcode_add_word(struct logcode *c, uint64_t word)
{
	if (room_make(&c->words, &c->word_room, c->head.words, sizeof(word)) < 0)
		return -ENOMEM;
	c->words[c->head.words++] = word;
	c->runs[c->head.runs - 1].words++;
	return 0;
}

void logcode_release(struct logcode *c)
{
	free(c->runs);
	free(c->words);
	memset(c, 0, sizeof(*c));
}

/*
 * Columns are planes of bytes: first the lowest byte of all numbers, then the
 * next one. `at` is where each plane goes on.
 */
struct planes {
	uint8_t *at[OTHER_BYTES + 2];
};

static struct planes planes_of(uint8_t **at, size_t count, int bytes)
{
	struct planes p = {{NULL}};

	for (int i = 0; i < bytes; i++, *at += count)
		p.at[i] = *at;
	return p;
}

static void put(struct planes *p, int first, int bytes, uint64_t v)
{
	for (int i = first; i < first + bytes; i++, v >>= 8)
		*p->at[i]++ = (uint8_t)v;
}

static uint64_t get(struct planes *p, int first, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)*p->at[first + i]++ << 8 * i;
	return v;
}

struct columns {
	uint8_t *kinds;
	struct planes allocs, frees, others;
};

static struct columns columns_of(uint8_t *at, size_t words, const size_t counts[3])
{
	struct columns c = {.kinds = at};

	at += words;
	c.allocs = planes_of(&at, counts[0], ALLOC_BYTES);
	c.frees = planes_of(&at, counts[1], FREE_BYTES);
	c.others = planes_of(&at, counts[2], OTHER_BYTES);
	return c;
}

static size_t columns_bytes(size_t words, const size_t counts[3])
{
	return words + counts[0] * ALLOC_BYTES + counts[1] * FREE_BYTES + counts[2] * OTHER_BYTES;
}

static uint8_t kind_of(uint64_t word)
{
	switch (log_tag(word)) {
	case LOG_TAG_ALLOC:
		return KIND_ALLOC;
	case LOG_TAG_FREE:
		return KIND_FREE;
	case LOG_TAG_OTHER:
		return (uint8_t)(KIND_OTHER | log_type(word));
	default: /* no collector stores it; type 0 has no meaning either */
		return KIND_OTHER;
	}
}

static int column_of(uint8_t kind)
{
	return kind == KIND_ALLOC ? 0 : kind == KIND_FREE ? 1 : 2;
}

static void put_word(struct columns *c, uint64_t word, uint32_t name)
{
	uint8_t kind = kind_of(word);

	*c->kinds++ = kind;
	if (kind == KIND_ALLOC) {
		put(&c->allocs, 0, 4, log_site(word));
		put(&c->allocs, 4, 5, log_size(word));
	} else if (kind == KIND_FREE) {
		/* how far back the allocation is: small, and often the same */
		put(&c->frees, 0, 4, name - (uint32_t)word);
	} else {
		put(&c->others, 0, 7, log_payload(word));
	}
}

int logcode_pack(const struct logcode *c, uint8_t **ret, size_t *ret_len)
{
	const size_t runs = sizeof(*c->runs) * c->head.runs;
	size_t counts[3] = {0}, n = 0;
	struct columns to;
	uint8_t *bytes;

	for (size_t i = 0; i < c->head.words; i++)
		counts[column_of(kind_of(c->words[i]))]++;
	*ret_len = runs + columns_bytes(c->head.words, counts);
	bytes = malloc(*ret_len + 1);
	if (!bytes)
		return -ENOMEM;
	if (runs > 0)
		memcpy(bytes, c->runs, runs);
	to = columns_of(bytes + runs, c->head.words, counts);
	for (size_t i = 0; i < c->head.runs; i++) {
		const struct logcode_run *r = &c->runs[i];

		for (uint32_t k = 0; k < r->words; k++)
			put_word(&to, c->words[n++], (r->number << LOG_INDEX_BITS) + r->index + k);
	}
	*ret = bytes;
	return 0;
}

static uint64_t get_word(struct columns *c, uint32_t name)
{
	uint8_t kind = *c->kinds++;
	uint64_t size;
	uint32_t site;

	if (kind == KIND_ALLOC) {
		site = (uint32_t)get(&c->allocs, 0, 4);
		size = get(&c->allocs, 4, 5) & LOG_SIZE_MASK;
		return log_alloc_word(site & ((1u << LOG_SITE_BITS) - 1), size);
	}
	if (kind == KIND_FREE)
		return log_free_word((name - (uint32_t)get(&c->frees, 0, 4)) & INT32_MAX);
	return log_word((enum log_type)(kind & 63), get(&c->others, 0, OTHER_BYTES));
}

/* Are the runs within their chunks, and do they have all words? */
static bool runs_are_sound(const struct logcode *c)
{
	uint64_t words = 0;

	for (size_t i = 0; i < c->head.runs; i++) {
		const struct logcode_run *r = &c->runs[i];

		if (r->number >> LOG_NUMBER_BITS || r->index < LOG_FIRST ||
		    r->words > LOG_CHUNK_WORDS || r->index > LOG_CHUNK_WORDS - r->words)
			return false;
		words += r->words;
	}
	return words == c->head.words;
}

static int make_room(struct logcode *c, const struct logcode_head *h)
{
	if (c->run_room < h->runs) {
		free(c->runs);
		c->runs = calloc(h->runs, sizeof(*c->runs));
		c->run_room = c->runs ? h->runs : 0;
	}
	if (c->word_room < h->words) {
		free(c->words);
		c->words = calloc(h->words, sizeof(*c->words));
		c->word_room = c->words ? h->words : 0;
	}
	return c->run_room < h->runs || c->word_room < h->words ? -ENOMEM : 0;
}

int logcode_unpack(struct logcode *ret, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	struct logcode_head h;
	size_t counts[3] = {0}, n = 0;
	struct columns from;
	int err;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, at, sizeof(h));
	at += sizeof(h);
	len -= sizeof(h);
	if (h.version != LOGCODE_VERSION)
		return -ENOTSUP;
	if (h.words > LOGCODE_WORDS_MAX || h.runs > h.words ||
	    len < h.runs * sizeof(*ret->runs) + h.words)
		return -EBADMSG;
	err = make_room(ret, &h);
	if (err < 0)
		return err;
	ret->head = h;
	if (h.runs > 0)
		memcpy(ret->runs, at, h.runs * sizeof(*ret->runs));
	at += h.runs * sizeof(*ret->runs);
	len -= h.runs * sizeof(*ret->runs);
	for (size_t i = 0; i < h.words; i++)
		counts[column_of(at[i])]++;
	if (len != columns_bytes(h.words, counts) || !runs_are_sound(ret))
		return -EBADMSG;
	from = columns_of((uint8_t *)(uintptr_t)at, h.words, counts);
	for (size_t i = 0; i < h.runs; i++) {
		const struct logcode_run *r = &ret->runs[i];

		for (uint32_t k = 0; k < r->words; k++, n++)
			ret->words[n] =
			    get_word(&from, (r->number << LOG_INDEX_BITS) + r->index + k);
	}
	return 0;
}

/* ---- logindex: what a part of an event log changed: so it can be passed over ---- */

int logindex_open(struct logindex *ret, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	struct logindex_head h;
	uint64_t blocks;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, at, sizeof(h));
	if (h.version != LOGINDEX_VERSION)
		return -ENOTSUP;
	blocks = (uint64_t)h.born + h.moved;
	/* four numbers of 32 bits, so that no sum wraps */
	if (h.log.words > LOGCODE_WORDS_MAX ||
	    len - sizeof(h) !=
	        h.sites * sizeof(*ret->sites) + blocks * sizeof(*ret->born) +
	            h.gone * sizeof(*ret->gone))
		return -EBADMSG;
	at += sizeof(h);
	ret->head = h;
	ret->sites = (const void *)at;
	at += h.sites * sizeof(*ret->sites);
	ret->born = (const void *)at;
	ret->moved = ret->born + h.born;
	ret->gone = (const void *)(ret->moved + h.moved);
	return 0;
}
