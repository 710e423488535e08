/* frames_table.c - the stacks of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/frames_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/json/json_put.h"
#include "kit/words/text.h"

struct cached {
	char *text; /* NULL: not made yet */
	size_t len;
};

struct frames_table {
	const struct view *view;
	size_t count;
	uint64_t bytes;
	struct frames_shared *table; /* NULL: sites have their frames in full */
	uint32_t *numbers;           /* by frame: position in the table + 1, or 0 */
	struct cached cache[];
};

struct frames_shared {
	struct frame *list;
	size_t count, room;
	struct dict index;
};

int frames_table_shared_new(struct frames_shared **ret)
{
	*ret = calloc(1, sizeof(struct frames_shared));
	return *ret ? 0 : -ENOMEM;
}

void frames_table_shared_free(struct frames_shared *t)
{
	if (!t)
		return;
	dict_release(&t->index);
	free(t->list);
	free(t);
}

static bool same_frame(const void *items, uint32_t item, const void *key)
{
	const struct frame *a = (const struct frame *)items + item;
	const struct frame *b = key;

	return a->offset == b->offset && a->line == b->line && a->inlined == b->inlined &&
	    a->is_missing == b->is_missing && a->is_guessed == b->is_guessed &&
	    a->language == b->language && text_same(a->function, b->function) &&
	    text_same(a->file, b->file) && text_same(a->module, b->module);
}

/*
 * The position of a frame in the table; adds the frame if necessary. -ENOMEM.
 */
static int table_find(struct frames_shared *t, const struct frame *x, uint32_t *ret)
{
	int err = room_make(&t->list, &t->room, t->count, sizeof(*t->list));

	if (err == 0)
		err = dict_find(&t->index,
		    dict_hash(dict_hash_text(x->function), dict_hash_text(x->module),
		        x->offset ^ x->line),
		    same_frame, t->list, x, (uint32_t)t->count, ret);
	if (err == 0 && *ret == t->count)
		t->list[t->count++] = *x;
	return err;
}

int frames_table_new(const struct view *v, struct frames_shared *table, struct frames_table **ret)
{
	size_t cached = table ? 0 : v->frame_count;
	struct frames_table *j = calloc(1, sizeof(*j) + cached * sizeof(j->cache[0]));

	if (!j)
		return -ENOMEM;
	j->view = v;
	j->count = cached;
	j->table = table;
	if (table) {
		j->numbers = calloc(v->frame_count + 1, sizeof(*j->numbers));
		if (!j->numbers) {
			free(j);
			return -ENOMEM;
		}
	}
	*ret = j;
	return 0;
}

void frames_table_free(struct frames_table *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->count; i++)
		free(j->cache[i].text);
	free(j->numbers);
	free(j);
}

void frames_table_put_source(FILE *out, const struct frame *x, const char *file)
{
	(void)fputs("\"function\":", out);
	json_string(out, x->function);
	json_text(out, "file", file);
	if (x->line > 0)
		json_number(out, "line", x->line);
	else
		(void)fputs(",\"line\":null", out);
	json_text(out, "module", x->module);
}

void frames_table_put_place(FILE *out, const struct frame *x)
{
	frames_table_put_source(out, x, x->file);
	if (x->is_missing)
		(void)fputs(",\"offset\":null", out);
	else
		json_number(out, "offset", x->offset);
}

static void write_frame(FILE *out, const struct frame *x)
{
	(void)putc('{', out);
	frames_table_put_place(out, x);
	json_boolean(out, "inlined", x->inlined);
	if (x->language)
		json_text(out, "language", mapname_word((enum mapname_language)x->language));
	if (x->is_guessed)
		json_boolean(out, "guessed", true);
	(void)putc('}', out);
}

static void put_frame(FILE *out, const struct frame *x, struct cached *c)
{
	FILE *memory;

	if (!c->text) {
		memory = open_memstream(&c->text, &c->len);
		if (memory) {
			write_frame(memory, x);
			if (fclose(memory) != 0) {
				free(c->text);
				c->text = NULL;
			}
		}
	}
	if (c->text)
		(void)fwrite_unlocked(c->text, 1, c->len, out);
	else
		write_frame(out, x); /* out of memory */
}

void frames_table_shared_put(FILE *out, const struct frames_shared *t)
{
	(void)fputs(",\"frames\":[", out);
	for (size_t i = 0; i < t->count && !ferror(out); i++) {
		(void)fputs(i ? ",\n" : "\n", out);
		write_frame(out, &t->list[i]);
	}
	(void)putc(']', out);
}

/* Decimal digits at the end of a buffer; printf would take most of the time. */
static char *digits(char *end, uint32_t n)
{
	do {
		*--end = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	return end;
}

static int put_shared(FILE *out, struct frames_table *j, const struct view_site *s)
{
	char buffer[16];

	for (uint32_t i = 0; i < s->frame_count; i++) {
		uint32_t *number = &j->numbers[s->frames[i]];
		char *end = buffer + sizeof(buffer), *at;

		if (*number == 0) {
			int err = table_find(j->table, &j->view->frames[s->frames[i]], number);

			if (err < 0)
				return err;
			++*number;
		}
		at = digits(end, *number - 1);
		if (i > 0)
			*--at = ',';
		(void)fwrite_unlocked(at, 1, (size_t)(end - at), out);
	}
	return 0;
}

static void put_full(FILE *out, struct frames_table *j, const struct view_site *s)
{
	for (uint32_t i = 0; i < s->frame_count; i++) {
		uint32_t n = s->frames[i];

		if (i > 0)
			(void)putc(',', out);
		put_frame(out, &j->view->frames[n], &j->cache[n]);
		j->bytes += j->cache[n].len + 1;
	}
}

int frames_table_put(FILE *out, struct frames_table *j, const struct view_site *s)
{
	int err = 0;

	(void)fputs(",\"frames\":[", out);
	if (j->table)
		err = put_shared(out, j, s);
	else
		put_full(out, j, s);
	(void)putc(']', out);
	if (j->table && !s->repeats)
		return err;
	json_key(out, "recursion");
	if (!s->repeats) {
		(void)fputs("null", out);
		return err;
	}
	for (uint32_t i = 0; i < s->frame_count; i++)
		(void)fprintf(out, "%c%u", i ? ',' : '[', s->repeats[i]);
	(void)putc(']', out);
	return err;
}

uint64_t frames_table_bytes(const struct frames_table *j)
{
	return j->bytes;
}
