/* sheet.c - encodes and decodes a head, tables of rows, and texts (docs/RECORDING.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts/sheet.h"

enum { HEAD_MAX = 4096, ROW_MAX = 1024 };

static size_t count_of(const struct sheet_table *t, const void *x)
{
	size_t n;

	memcpy(&n, (const uint8_t *)x + t->count_at, sizeof(n));
	return n;
}

static uint8_t *rows_of(const struct sheet_table *t, const void *x)
{
	void *rows;

	memcpy(&rows, (const uint8_t *)x + t->rows_at, sizeof(rows));
	return rows;
}

/* ---- writing ---- */

static const char *text_of(const struct sheet_field *f, const uint8_t *item)
{
	const char *text;

	memcpy(&text, item + f->at, sizeof(text));
	return f->how == SHEET_NAME && text && !*text ? NULL : text;
}

static bool is_text(const struct sheet_field *f)
{
	return f->how == SHEET_TEXT || f->how == SHEET_NAME;
}

/* Bytes of the texts of one row, with a NUL each. */
static size_t text_bytes(const struct sheet *s, const struct sheet_field *f, const uint8_t *item)
{
	size_t n = 0;

	for (; f->how != SHEET_END; f++) {
		const char *text = is_text(f) ? text_of(f, item) : NULL;

		n += text ? strnlen(text, s->text_max) + 1 : 0;
	}
	return n;
}

/* Where the next row and the next text go. */
struct put {
	const struct sheet *sheet;
	struct sheet_sizes sizes;
	uint8_t *at, *texts;
	uint32_t text;
};

static uint32_t put_text(struct put *p, const char *text)
{
	uint32_t at = p->text;
	size_t n;

	if (!text)
		return 0;
	n = strnlen(text, p->sheet->text_max);
	memcpy(p->texts + at, text, n); /* the NUL is there */
	p->text += (uint32_t)n + 1;
	return at + 1;
}

static uint32_t flags_of(const struct sheet *s, const uint8_t *x)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < s->flag_count; i++)
		flags |= *(const bool *)(x + s->flags[i]) ? 1u << i : 0;
	return flags;
}

static void put_fields(
    struct put *p, const struct sheet_field *f, const uint8_t *x, size_t all_bytes)
{
	uint8_t *to = p->at;
	uint32_t n;

	for (; f->how != SHEET_END; to += is_text(f) ? sizeof(n) : f->bytes, f++) {
		if (f->how == SHEET_COPY) {
			memcpy(to, x + f->at, f->bytes);
		} else if (f->how == SHEET_SIZE) {
			memcpy(to, (const uint8_t *)&p->sizes + f->at, f->bytes);
		} else if (f->how != SHEET_ZERO) {
			n = is_text(f) ? put_text(p, text_of(f, x)) : flags_of(p->sheet, x);
			memcpy(to, &n, sizeof(n));
		}
	}
	p->at += all_bytes;
}

/* The numbers of the head, and the bytes of the whole. */
static int measure(const struct sheet *s, const void *x, struct sheet_sizes *ret, size_t *ret_len)
{
	size_t texts = 0, len = s->head_bytes;

	*ret = (struct sheet_sizes){.head = s->head_bytes};
	for (int i = 0; i < SHEET_TABLES; i++) {
		const struct sheet_table *t = &s->tables[i];
		size_t count = t->max ? count_of(t, x) : 0;

		if (count > t->max)
			return -EFBIG;
		for (size_t k = 0; k < count; k++)
			texts += text_bytes(s, t->fields, rows_of(t, x) + k * t->item_bytes);
		ret->row[i] = t->row_bytes;
		ret->count[i] = (uint32_t)count;
		len += count * t->row_bytes;
	}
	if (texts > s->texts_max)
		return -EFBIG;
	ret->texts = (uint32_t)texts;
	*ret_len = len + texts;
	return 0;
}

int sheet_encode(const struct sheet *s, const void *x, uint8_t **ret, size_t *ret_len)
{
	struct put p = {.sheet = s};
	size_t len;
	int err = measure(s, x, &p.sizes, &len);

	if (err < 0)
		return err;
	p.at = calloc(1, len);
	if (!p.at)
		return -ENOMEM;
	*ret = p.at;
	*ret_len = len;
	p.texts = p.at + len - p.sizes.texts;
	put_fields(&p, s->head, x, s->head_bytes);
	for (int i = 0; i < SHEET_TABLES; i++) {
		const struct sheet_table *t = &s->tables[i];

		for (size_t k = 0; k < p.sizes.count[i]; k++)
			put_fields(&p, t->fields, rows_of(t, x) + k * t->item_bytes, t->row_bytes);
	}
	return 0;
}

/* ---- reading ---- */

/* What a head or a row is read with. */
struct take {
	const struct sheet *sheet;
	struct sheet_sizes sizes;
	const char *texts;
};

/* false: a text begins behind the last one */
static bool take_fields(
    struct take *t, const struct sheet_field *f, const uint8_t *from, uint8_t *x)
{
	for (; f->how != SHEET_END; from += is_text(f) ? sizeof(uint32_t) : f->bytes, f++) {
		const char *text = f->how == SHEET_NAME ? "" : NULL;
		uint32_t n;

		if (f->how == SHEET_COPY)
			memcpy(x + f->at, from, f->bytes);
		if (f->how == SHEET_SIZE)
			memcpy((uint8_t *)&t->sizes + f->at, from, f->bytes);
		if (!is_text(f) && f->how != SHEET_FLAGS)
			continue;
		memcpy(&n, from, sizeof(n));
		for (size_t i = 0; f->how == SHEET_FLAGS && i < t->sheet->flag_count; i++)
			*(bool *)(x + t->sheet->flags[i]) = n & 1u << i;
		if (f->how == SHEET_FLAGS)
			continue;
		if (n > t->sizes.texts)
			return false;
		text = n ? t->texts + n - 1 : text;
		memcpy(x + f->at, &text, sizeof(text));
	}
	return true;
}

/* Do the sizes in the head add up to the number of bytes? */
static bool sizes_fit(const struct sheet *s, const struct sheet_sizes *n, size_t len)
{
	size_t sum = (size_t)n->head + n->texts;

	if (n->head < (s->head_least ? s->head_least : s->head_bytes) || n->head > HEAD_MAX ||
	    n->texts > s->texts_max)
		return false;
	for (int i = 0; i < SHEET_TABLES; i++) {
		const struct sheet_table *t = &s->tables[i];

		if (t->max == 0)
			continue;
		if (n->row[i] < t->row_bytes || n->row[i] > ROW_MAX || n->count[i] > t->max)
			return false;
		sum += (size_t)n->count[i] * n->row[i];
	}
	return s->has_tail ? len >= sum : len == sum;
}

static int take_head(struct take *t, const uint8_t *bytes, size_t len, void *x)
{
	const struct sheet *s = t->sheet;
	size_t least = s->head_least ? s->head_least : s->head_bytes;
	uint8_t head[HEAD_MAX] = {0};

	if (len < least)
		return -EBADMSG;
	memcpy(head, bytes, least);
	take_fields(t, s->head, head, x);
	if (!sizes_fit(s, &t->sizes, len))
		return -EBADMSG;
	if (t->sizes.head >= s->head_bytes) {
		memcpy(head, bytes, s->head_bytes);
		take_fields(t, s->head, head, x);
	}
	return s->fits(x, &t->sizes) ? 0 : -EBADMSG;
}

/* Makes the array of a table; *from moves behind its rows. */
static int take_table(struct take *t, int number, const uint8_t **from, void *x)
{
	const struct sheet_table *table = &t->sheet->tables[number];
	uint8_t *rows = calloc(t->sizes.count[number] + 1u, table->item_bytes), *to = rows;
	size_t count;

	if (!rows)
		return -ENOMEM;
	memcpy((uint8_t *)x + table->rows_at, &rows, sizeof(rows));
	for (uint32_t i = 0; i < t->sizes.count[number]; i++, *from += t->sizes.row[number]) {
		const uint8_t *before = to > rows ? to - table->item_bytes : NULL;
		enum sheet_row how = SHEET_BAD;

		if (take_fields(t, table->fields, *from, to))
			how = table->judge(x, to, before);
		if (how == SHEET_BAD)
			return -EBADMSG;
		to += how == SHEET_KEEP ? table->item_bytes : 0;
	}
	count = (size_t)(to - rows) / table->item_bytes;
	memcpy((uint8_t *)x + table->count_at, &count, sizeof(count));
	return 0;
}

static int take_all(struct take *t, const uint8_t *bytes, size_t len, void *x)
{
	const uint8_t *texts, *from;
	int err = take_head(t, bytes, len, x);
	char *copy;

	if (err < 0)
		return err;
	texts = from = bytes + t->sizes.head;
	for (int i = 0; i < SHEET_TABLES; i++)
		texts += (size_t)t->sizes.count[i] * t->sizes.row[i];
	if (t->sizes.texts > 0 && texts[t->sizes.texts - 1] != '\0')
		return -EBADMSG;
	copy = malloc(t->sizes.texts + 1u);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, texts, t->sizes.texts);
	copy[t->sizes.texts] = '\0';
	memcpy((uint8_t *)x + t->sheet->text_at, &copy, sizeof(copy));
	t->texts = copy;
	for (int i = 0; i < SHEET_TABLES && err == 0; i++)
		if (t->sheet->tables[i].max > 0)
			err = take_table(t, i, &from, x);
	return err;
}

int sheet_decode(const struct sheet *s, const uint8_t *bytes, size_t len, void *x)
{
	struct take t = {.sheet = s};
	int err;

	memset(x, 0, s->struct_bytes);
	err = take_all(&t, bytes, len, x);
	if (err < 0)
		sheet_release(s, x);
	return err;
}

void sheet_release(const struct sheet *s, void *x)
{
	void *text;

	for (int i = 0; i < SHEET_TABLES; i++)
		if (s->tables[i].max > 0)
			free(rows_of(&s->tables[i], x));
	memcpy(&text, (uint8_t *)x + s->text_at, sizeof(text));
	free(text);
	memset(x, 0, s->struct_bytes);
}
