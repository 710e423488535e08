/* survey_spare.c - blocks that are equal, and memory that nobody uses. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "base/hash.h"

#include "base/std.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "analysis/leaks/heap.h"
#include "analysis/types/survey_parts.h"

enum {
	PAGE = SURVEY_PAGE,
	WORD = 8,
	EQUAL_LEAST = 16,        /* bytes of blocks that are compared */
	LARGE_LEAST = 16 * PAGE, /* of blocks whose pages are counted */
	TAIL_LEAST = 64,         /* bytes of zeros that count */
	TAIL_SHARE = 4,          /* a quarter of the block at least */
};

/*
 * What is known of a block's contents. The hash is a sum over its words that
 * are not zero, each mixed with its place and a seed of this run. So pages that
 * were never written need not be read, the pieces of a block may come in any
 * order, and nobody can make blocks that only seem equal.
 */
struct content {
	uint64_t hash;
	uint64_t used;          /* bytes up to the last one that is not zero */
	uint64_t pages : 63;    /* whole pages of it that are there */
	uint64_t is_unread : 1; /* some of it could not be read */
};

struct survey_spare {
	const struct heap *heap;
	struct content *of; /* by block */
	uint64_t seed;
	struct dict find;
};

int survey_spare_new(const struct heap *heap, struct survey_spare **ret)
{
	struct survey_spare *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->heap = heap;
	s->seed = dict_hash(1, 2, 3); /* differs in each run */
	s->of = large_zeroed((heap_count(heap) + 1) * sizeof(*s->of));
	if (!s->of) {
		survey_spare_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void survey_spare_free(struct survey_spare *s)
{
	if (!s)
		return;
	free(s->of);
	dict_release(&s->find);
	free(s);
}

/* ---- contents ------------------------------------------------------------- */

/* Whole pages of [start, end). */
static uint64_t whole_pages(uint64_t start, uint64_t end)
{
	uint64_t first = (start + PAGE - 1) / PAGE, last = end / PAGE;

	return last > first ? last - first : 0;
}

/* Bytes [offset, offset + len) of a block; offset is a multiple of a word. */
static void add_bytes(const struct survey_spare *s, struct content *c, uint64_t offset,
    const uint8_t *bytes, size_t len)
{
	uint64_t hash = c->hash;
	size_t at, used = 0;

	for (at = 0; at < len; at += WORD) {
		size_t n = len - at < WORD ? len - at : WORD;
		uint64_t word = 0;

		if (n == WORD)
			memcpy(&word, bytes + at, WORD);
		else
			memcpy(&word, bytes + at, n);
		if (word == 0)
			continue;
		hash += hash_finish(hash_mix(hash_mix(s->seed, offset + at), word));
		used = at + WORD - (size_t)__builtin_clzll(word) / 8;
	}
	c->hash = hash;
	if (used > 0 && offset + used > c->used)
		c->used = offset + used;
}

void survey_spare_piece(struct survey_spare *s, const struct survey_piece *x)
{
	const struct heap_block *b = heap_blocks(s->heap);
	uint64_t end = x->address + x->len;

	for (size_t i = x->first; i < heap_count(s->heap); i++) {
		uint64_t from = b[i].address, to = from + b[i].size;

		if (from >= end)
			break;
		if (from < x->address)
			from = x->address;
		if (to > end)
			to = end;
		s->of[i].pages += whole_pages(from, to);
		if (!x->bytes)
			s->of[i].is_unread = 1;
		else
			add_bytes(s, &s->of[i], from - b[i].address, x->bytes + (from - x->address),
			    (size_t)(to - from));
	}
}

/* ---- by site -------------------------------------------------------------- */

struct site_sums {
	struct census_spare *at;
	size_t count, room;
	struct dict *find;
};

static bool is_site(const void *items, uint32_t item, const void *key)
{
	const struct census_spare *all = items;

	return all[item].site == *(const uint32_t *)key;
}

/* The sums of a site; NULL: no memory. */
static struct census_spare *sums_of(struct site_sums *s, const struct process *p, uint32_t site)
{
	uint32_t id = survey_id(p, site), fresh = (uint32_t)s->count, i;

	if (room_make(&s->at, &s->room, s->count, sizeof(*s->at)) < 0 ||
	    dict_find(s->find, dict_hash(id, 0, 0), is_site, s->at, &id, fresh, &i) < 0)
		return NULL;
	if (i == fresh)
		s->at[s->count++] = (struct census_spare){.site = id};
	return &s->at[i];
}

/* Pages of a large block that were never written, and zeros at the end of any. */
static int add_unused(
    const struct survey_spare *s, const struct process *p, size_t i, struct site_sums *sums)
{
	const struct heap_block *b = &heap_blocks(s->heap)[i];
	const struct content *c = &s->of[i];
	uint64_t whole = whole_pages(b->address, b->address + b->size);
	uint64_t unwritten = 0, tail = b->size - c->used;
	struct census_spare *to;

	if (b->size >= LARGE_LEAST && whole > c->pages)
		unwritten = (whole - c->pages) * PAGE;
	/* these cost no memory, so they are not counted twice */
	tail = tail > unwritten ? tail - unwritten : 0;
	if (c->is_unread || tail < TAIL_LEAST || tail < b->size / TAIL_SHARE)
		tail = 0;
	if (unwritten == 0 && tail == 0)
		return 0;
	to = sums_of(sums, p, b->site);
	if (!to)
		return -ENOMEM;
	to->unwritten_blocks += unwritten > 0;
	to->unwritten_bytes += unwritten;
	to->tail_blocks += tail > 0;
	to->tail_bytes += tail;
	return 0;
}

struct twin {
	uint64_t hash, size;
	uint32_t block;
};

BY(by_content, struct twin, UP(hash) ?: UP(size) ?: UP(block))

/* Blocks of zeros alone are not compared: their bytes are a tail. */
static size_t list_twins(const struct survey_spare *s, struct twin *to)
{
	const struct heap_block *b = heap_blocks(s->heap);
	size_t n = 0;

	for (size_t i = 0; i < heap_count(s->heap); i++)
		if (b[i].size >= EQUAL_LEAST && s->of[i].used > 0 && !s->of[i].is_unread)
			to[n++] = (struct twin){s->of[i].hash, b[i].size, (uint32_t)i};
	qsort(to, n, sizeof(*to), by_content);
	return n;
}

static int add_equal(const struct survey_spare *s, const struct process *p, struct site_sums *sums,
    struct census *ret)
{
	const struct heap_block *b = heap_blocks(s->heap);
	struct twin *twins = large_zeroed((heap_count(s->heap) + 1) * sizeof(*twins));
	size_t count = twins ? list_twins(s, twins) : 0, same = 0;
	int err = twins ? 0 : -ENOMEM;

	for (size_t i = 1; i < count && err == 0; i++) {
		struct census_spare *to;

		if (twins[i].hash != twins[i - 1].hash || twins[i].size != twins[i - 1].size) {
			same = 0;
			continue;
		}
		ret->equal_groups += same++ == 0;
		to = sums_of(sums, p, b[twins[i].block].site);
		if (!to) {
			err = -ENOMEM;
			break;
		}
		to->equal_blocks++;
		to->equal_bytes += twins[i].size;
	}
	free(twins);
	return err;
}

BY(by_site, struct census_spare, UP(site))

int survey_spare_finish(struct survey_spare *s, const struct process *p, struct census *ret)
{
	struct site_sums sums = {.find = &s->find};
	int err = 0;

	for (size_t i = 0; i < heap_count(s->heap) && err == 0; i++) {
		ret->unread_blocks += s->of[i].is_unread;
		err = add_unused(s, p, i, &sums);
	}
	if (err == 0)
		err = add_equal(s, p, &sums, ret);
	if (err < 0) {
		free(sums.at);
		return err;
	}
	if (sums.count > 0)
		qsort(sums.at, sums.count, sizeof(*sums.at), by_site);
	ret->spare = sums.at;
	ret->spare_count = sums.count;
	return 0;
}
