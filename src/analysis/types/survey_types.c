/* survey_types.c - blocks by the class whose vtable they begin with. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "analysis/types/survey_parts.h"
#include "analysis/leaks/heap.h"

enum {
	WORD = 8,
	CACHE = 1024,        /* words that were looked up last */
	WORDS_MAX = 1 << 17, /* different ones; the rest has no type */
	TEXT_MAX = 64 << 20,
	CONTROL_LEAST = 3 * WORD, /* size of a control block: a vtable, two */
	CONTROL_MOST = 8 * WORD,  /* counts, a deleter, a pointer */
	COUNT_MAX = 1 << 30,      /* objects of an array */
};

/* A word that points into a module, and so may be a vtable. */
struct word {
	uint64_t address; /* 0: stands for objects behind control blocks */
	size_t name;      /* in the text; 0: it is none */
	size_t object;    /* of a control block: the object's type in the text */
	uint32_t basis;   /* enum census_basis */
	uint32_t behind;  /* the word for objects that it points to; 0: none */
	size_t size;      /* that such a control block must have; 0: any */
};

/* The last word of a small block, which may be a control block. */
struct last {
	uint32_t block;
	uint64_t word;
};

/* Blocks of one site and one size. */
struct kin {
	uint32_t site;
	uint64_t size;
	uint64_t blocks, typed;
};

struct survey_types {
	const struct heap *heap;
	const struct roots_areas *areas;
	uint32_t *head; /* by block: number of a word + 1; 0: none */
	struct word *words;
	size_t word_count, word_room;
	struct dict find_word;
	struct {
		uint64_t word;
		uint32_t number; /* + 1; 0: it is in no module */
	} cache[CACHE];
	struct last *lasts;
	size_t last_count, last_room;
	uint64_t wanted; /* address of the word that the last `last` lacks; 0 */
	struct kin *kin;
	size_t kin_count, kin_room;
	struct dict find_kin;
	struct dict find_sum;
	char *text;
	size_t text_len, text_room;
};

int survey_types_new(
    const struct heap *heap, const struct roots_areas *areas, struct survey_types **ret)
{
	struct survey_types *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->heap = heap;
	t->areas = areas;
	t->text_len = 1;
	t->head = large_zeroed((heap_count(heap) + 1) * sizeof(*t->head));
	if (!t->head) {
		survey_types_free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void survey_types_free(struct survey_types *t)
{
	if (!t)
		return;
	free(t->head);
	free(t->words);
	free(t->lasts);
	free(t->kin);
	free(t->text);
	dict_release(&t->find_word);
	dict_release(&t->find_kin);
	dict_release(&t->find_sum);
	free(t);
}

/* ---- the beginnings of blocks --------------------------------------------- */

static bool is_word(const void *items, uint32_t item, const void *key)
{
	const struct word *all = items;

	return all[item].address == *(const uint64_t *)key;
}

static int enter_word(struct survey_types *t, uint64_t word, uint32_t *ret)
{
	uint32_t fresh = (uint32_t)t->word_count, i;
	int err;

	*ret = 0;
	if (!survey_is_module(t->areas, word))
		return 0;
	if (t->word_count >= WORDS_MAX) {
		if (dict_seek(&t->find_word, dict_hash(word, 0, 0), is_word, t->words, &word, &i))
			*ret = i + 1;
		return 0;
	}
	err = room_make(&t->words, &t->word_room, t->word_count, sizeof(*t->words));
	if (err == 0)
		err = dict_find(
		    &t->find_word, dict_hash(word, 0, 0), is_word, t->words, &word, fresh, &i);
	if (err < 0)
		return err;
	if (i == fresh) {
		t->words[i] = (struct word){.address = word};
		t->word_count++;
	}
	*ret = i + 1;
	return 0;
}

/* The number of a word that may be a vtable, + 1; 0: it is none. -ENOMEM. */
static int find_word(struct survey_types *t, uint64_t word, uint32_t *ret)
{
	size_t slot = (word / WORD ^ word >> 13) % CACHE;

	*ret = 0;
	if (word % WORD || word < SURVEY_PAGE || word >> 47)
		return 0;
	if (t->cache[slot].word != word) {
		int err = enter_word(t, word, ret);

		if (err < 0)
			return err;
		t->cache[slot].word = word;
		t->cache[slot].number = *ret;
	}
	*ret = t->cache[slot].number;
	return 0;
}

/*
 * An array of objects with destructors begins with their number; where they are
 * aligned to 16 bytes, with a word of any value before that.
 */
static bool is_array(uint64_t size, uint64_t count, uint64_t begin)
{
	return count > 0 && count < COUNT_MAX && size > begin && (size - begin) % count == 0 &&
	    (size - begin) / count >= WORD;
}

/* `have` bytes of the block's beginning are there. */
static int find_head(struct survey_types *t, const struct heap_block *b, const uint8_t *bytes,
    size_t have, uint32_t *ret)
{
	uint64_t w[3] = {0};
	int err;

	if (have > sizeof(w))
		have = sizeof(w);
	memcpy(w, bytes, have / WORD * WORD);
	err = find_word(t, w[0], ret);
	if (err == 0 && !*ret && is_array(b->size, w[0], WORD))
		err = find_word(t, w[1], ret);
	if (err == 0 && !*ret && is_array(b->size, w[1], UINT64_C(2) * WORD))
		err = find_word(t, w[2], ret);
	return err;
}

/* Its last word is kept: a control block has a pointer there. */
static int keep_last(struct survey_types *t, size_t block, const struct survey_piece *x)
{
	const struct heap_block *b = &heap_blocks(t->heap)[block];
	uint64_t at = b->address + b->size - WORD;
	struct last *l;

	if (b->size < CONTROL_LEAST || b->size > CONTROL_MOST || b->size % WORD)
		return 0;
	if (room_make(&t->lasts, &t->last_room, t->last_count, sizeof(*l)) < 0)
		return -ENOMEM;
	l = &t->lasts[t->last_count++];
	*l = (struct last){.block = (uint32_t)block};
	if (at + WORD <= x->address + x->len)
		memcpy(&l->word, x->bytes + (at - x->address), WORD);
	else
		t->wanted = at; /* it comes with the next piece */
	return 0;
}

int survey_types_piece(struct survey_types *t, const struct survey_piece *x)
{
	const struct heap_block *b = heap_blocks(t->heap);
	uint64_t end = x->address + x->len;
	int err = 0;

	if (t->wanted >= x->address && t->wanted + WORD <= end && t->wanted)
		memcpy(
		    &t->lasts[t->last_count - 1].word, x->bytes + (t->wanted - x->address), WORD);
	t->wanted = 0;
	for (size_t i = x->first; i < heap_count(t->heap) && err == 0; i++) {
		uint64_t have;

		if (b[i].address + WORD > end)
			break;
		if (b[i].address < x->address || b[i].size < WORD)
			continue;
		have = end - b[i].address;
		if (have > b[i].size)
			have = b[i].size;
		err = find_head(
		    t, &b[i], x->bytes + (b[i].address - x->address), (size_t)have, &t->head[i]);
		if (err == 0 && t->head[i])
			err = keep_last(t, i, x);
	}
	return err;
}

/* ---- names ---------------------------------------------------------------- */

/* Where the text is from now on; 0: there is no room for it. -ENOMEM. */
static int put_text(struct survey_types *t, const char *text, size_t len, size_t *ret)
{
	*ret = 0;
	if (t->text_len + len + 1 > TEXT_MAX)
		return 0;
	while (t->text_len + len + 1 > t->text_room) {
		size_t room = t->text_room ? t->text_room * 2 : 65536;
		char *bigger = realloc(t->text, room);

		if (!bigger)
			return -ENOMEM;
		t->text = bigger;
		t->text_room = room;
	}
	*ret = t->text_len;
	memcpy(t->text + t->text_len, text, len);
	t->text[t->text_len + len] = '\0';
	t->text_len += len + 1;
	return 0;
}

/* The word for objects to which control blocks of this class point. */
static int add_behind(struct survey_types *t, size_t number, size_t object)
{
	if (room_make(&t->words, &t->word_room, t->word_count, sizeof(*t->words)) < 0)
		return -ENOMEM;
	t->words[t->word_count] = (struct word){.name = object, .basis = CENSUS_SHARED};
	t->words[number].behind = (uint32_t)t->word_count++;
	return 0;
}

static int name_word(struct survey_types *t, const struct vtable_memory *memory, size_t number)
{
	char name[VTABLE_NAME_BYTES], plain[2 * VTABLE_NAME_BYTES];
	char first[2 * VTABLE_NAME_BYTES];
	size_t len = vtable_name(memory, t->words[number].address, name);
	size_t raw = len;
	struct control c;
	size_t at = 0;
	int err;

	if (len == 0)
		return 0;
	len = type_name_plain(name, len, plain, sizeof(plain));
	c = control_of(plain);
	/* a deleter may be of a type that is not known, as some lambdas are */
	if (c.kind == CONTROL_NONE && raw == len &&
	    type_name_first(name, raw, first, sizeof(first)) > 0)
		c = control_of(first);
	if (c.kind == CONTROL_INSIDE)
		err = put_text(t, c.type, c.len, &at);
	else
		err = put_text(t, plain, len, &at);
	t->words[number].name = at;
	t->words[number].basis = c.kind == CONTROL_INSIDE ? CENSUS_SHARED : CENSUS_VTABLE;
	t->words[number].size = c.size;
	if (err == 0 && c.kind == CONTROL_POINTER) {
		err = put_text(t, c.type, c.len, &at);
		if (err == 0 && at)
			err = add_behind(t, number, at);
	}
	return err;
}

/* In the order of addresses, so that pages are read once. */
struct order {
	uint64_t address;
	size_t number;
};

BY(by_address, struct order, UP(address))

static int name_words(struct survey_types *t, struct foreign *files)
{
	struct survey_pages *pages;
	struct vtable_memory memory;
	size_t count = t->word_count;
	struct order *order = calloc(count + 1, sizeof(*order));
	int err = order ? survey_pages_new(files, t->areas, &pages) : -ENOMEM;

	if (err < 0) {
		free(order);
		return err;
	}
	memory = survey_pages_memory(pages);
	for (size_t i = 0; i < count; i++)
		order[i] = (struct order){t->words[i].address, i};
	qsort(order, count, sizeof(*order), by_address);
	for (size_t i = 0; i < count && err == 0; i++)
		err = name_word(t, &memory, order[i].number);
	if (err == 0)
		err = survey_pages_failure(pages);
	survey_pages_free(pages);
	free(order);
	return err;
}

/* ---- what is likely ------------------------------------------------------- */

static bool is_kin(const void *items, uint32_t item, const void *key)
{
	const struct kin *all = items, *x = key;

	return all[item].site == x->site && all[item].size == x->size;
}

/* Neighbours are often alike, so *last is tried first. -ENOMEM. */
static int find_kin(struct survey_types *t, const struct heap_block *b, uint32_t *last)
{
	const struct kin key = {.site = b->site, .size = b->size};
	uint32_t fresh = (uint32_t)t->kin_count;
	int err;

	if (*last < t->kin_count && is_kin(t->kin, *last, &key))
		return 0;
	err = room_make(&t->kin, &t->kin_room, t->kin_count, sizeof(*t->kin));
	if (err == 0)
		err = dict_find(&t->find_kin, dict_hash(b->site, b->size, 0), is_kin, t->kin, &key,
		    fresh, last);
	if (err == 0 && *last == fresh)
		t->kin[t->kin_count++] = key;
	return err;
}

/*
 * Memory that a program gets and has not written yet may begin with what was
 * there before: the vtable of an object that is long gone. So blocks of one
 * site and size have a type only where half of them have one.
 */
static int drop_remains(struct survey_types *t)
{
	const struct heap_block *b = heap_blocks(t->heap);
	size_t count = heap_count(t->heap);
	uint32_t k = 0;
	int err = 0;

	for (size_t i = 0; i < count && err == 0; i++) {
		if (t->head[i] && !t->words[t->head[i] - 1].name)
			t->head[i] = 0;
		err = find_kin(t, &b[i], &k);
		if (err == 0) {
			t->kin[k].blocks++;
			t->kin[k].typed += t->head[i] > 0;
		}
	}
	for (size_t i = 0; i < count && err == 0; i++) {
		if (!t->head[i])
			continue;
		err = find_kin(t, &b[i], &k);
		if (err == 0 && t->kin[k].typed * 2 < t->kin[k].blocks)
			t->head[i] = 0;
	}
	return err;
}

/* Objects without a vtable, to which a control block of shared_ptr points. */
static void follow_control(struct survey_types *t)
{
	const struct heap_block *b = heap_blocks(t->heap);

	for (size_t i = 0; i < t->last_count; i++) {
		const struct last *l = &t->lasts[i];
		const struct word *w;
		int64_t to;

		if (!t->head[l->block])
			continue;
		w = &t->words[t->head[l->block] - 1];
		if (!w->behind || (w->size && w->size != b[l->block].size))
			continue;
		to = heap_find(t->heap, l->word);
		if (to >= 0 && b[to].address == l->word && !t->head[to])
			t->head[to] = w->behind + 1;
	}
}

/* ---- sums ----------------------------------------------------------------- */

struct type_sums {
	struct census_type *at;
	size_t count, room;
	uint32_t last;
};

/* vtable is the number of the word here, + 1 */
static bool is_sum(const void *items, uint32_t item, const void *key)
{
	const struct census_type *all = items, *x = key;

	return all[item].site == x->site && all[item].vtable == x->vtable;
}

static int add_block(struct survey_types *t, struct type_sums *s, size_t i)
{
	const struct heap_block *b = &heap_blocks(t->heap)[i];
	const struct census_type key = {.site = b->site, .vtable = t->head[i]};
	uint32_t fresh = (uint32_t)s->count;
	int err = 0;

	if (s->last >= s->count || !is_sum(s->at, s->last, &key)) {
		err = room_make(&s->at, &s->room, s->count, sizeof(*s->at));
		if (err == 0)
			err = dict_find(&t->find_sum, dict_hash(b->site, t->head[i], 0), is_sum,
			    s->at, &key, fresh, &s->last);
		if (err < 0)
			return err;
		if (s->last == fresh)
			s->at[s->count++] = key;
	}
	s->at[s->last].blocks++;
	s->at[s->last].bytes += b->size;
	return 0;
}

static int by_site_and_name(const void *a, const void *b)
{
	const struct census_type *x = a, *y = b;
	int names;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (!x->name || !y->name)
		return !x->name - !y->name;
	names = strcmp(x->name, y->name);
	return names ? names : (x->basis > y->basis) - (x->basis < y->basis);
}

/* Sites with one stack, and vtables of one name, become one. */
static void join(struct type_sums *s)
{
	size_t kept = 0;

	if (s->count > 0)
		qsort(s->at, s->count, sizeof(*s->at), by_site_and_name);
	for (size_t i = 0; i < s->count; i++) {
		struct census_type *to = kept ? &s->at[kept - 1] : NULL;

		if (!to || by_site_and_name(to, &s->at[i]) != 0) {
			s->at[kept++] = s->at[i];
			continue;
		}
		to->blocks += s->at[i].blocks;
		to->bytes += s->at[i].bytes;
		if (to->vtable != s->at[i].vtable)
			to->vtable = 0;
	}
	s->count = kept;
}

int survey_types_finish(
    struct survey_types *t, const struct process *p, struct foreign *files, struct census *ret)
{
	struct type_sums s = {0};
	int err = name_words(t, files);

	if (err == 0)
		err = drop_remains(t);
	if (err == 0)
		follow_control(t);
	for (size_t i = 0; i < heap_count(t->heap) && err == 0; i++)
		err = add_block(t, &s, i);
	if (err < 0) {
		free(s.at);
		return err;
	}
	for (size_t i = 0; i < s.count; i++) {
		struct census_type *x = &s.at[i];
		const struct word *w = x->vtable ? &t->words[x->vtable - 1] : NULL;

		x->site = survey_id(p, x->site);
		x->name = w ? t->text + w->name : NULL;
		x->basis = w ? w->basis : CENSUS_NONE;
		x->vtable = w ? w->address : 0;
	}
	join(&s);
	ret->types = s.at;
	ret->type_count = s.count;
	ret->text = t->text;
	t->text = NULL;
	return 0;
}
