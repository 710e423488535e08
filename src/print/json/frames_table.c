/* frames_table.c - the stacks of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/processes.h"

#include "base/std.h"
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

void frames_table_put_source(struct json *out, const struct frame *x, const char *file)
{
	json_text(out, "function", x->function);
	json_text(out, "file", file);
	json_number_or_null(out, "line", x->line > 0, x->line);
	json_text(out, "module", x->module);
}

void frames_table_put_place(struct json *out, const struct frame *x)
{
	frames_table_put_source(out, x, x->file);
	if (x->is_missing)
		json_null(out, "offset");
	else
		json_number(out, "offset", x->offset);
}

static void write_frame(struct json *out, const struct frame *x)
{
	json_object(out, NULL);
	frames_table_put_place(out, x);
	json_boolean(out, "inlined", x->inlined);
	if (x->language)
		json_text(out, "language", mapname_word((enum mapname_language)x->language));
	if (x->is_guessed)
		json_boolean(out, "guessed", true);
	json_end(out);
}

static void put_frame(struct json *out, const struct frame *x, struct cached *c)
{
	if (!c->text) {
		struct json memory = {.file = open_memstream(&c->text, &c->len)};

		if (memory.file) {
			write_frame(&memory, x);
			if (fclose(memory.file) != 0) {
				free(c->text);
				c->text = NULL;
			}
		}
	}
	if (c->text)
		json_copy(out, c->text, c->len);
	else
		write_frame(out, x); /* out of memory */
}

void frames_table_shared_put(struct json *out, const struct frames_shared *t)
{
	json_rows(out, "frames");
	for (size_t i = 0; i < t->count && !ferror(out->file); i++)
		write_frame(out, &t->list[i]);
	json_end(out);
}

static int put_shared(struct json *out, struct frames_table *j, const struct view_site *s)
{
	for (uint32_t i = 0; i < s->frame_count; i++) {
		uint32_t *number = &j->numbers[s->frames[i]];

		if (*number == 0) {
			int err = table_find(j->table, &j->view->frames[s->frames[i]], number);

			if (err < 0)
				return err;
			++*number;
		}
		json_number(out, NULL, *number - 1);
	}
	return 0;
}

static void put_full(struct json *out, struct frames_table *j, const struct view_site *s)
{
	for (uint32_t i = 0; i < s->frame_count; i++) {
		uint32_t n = s->frames[i];

		put_frame(out, &j->view->frames[n], &j->cache[n]);
		j->bytes += j->cache[n].len + 1;
	}
}

int frames_table_put(struct json *out, struct frames_table *j, const struct view_site *s)
{
	int err = 0;

	json_list(out, "frames");
	if (j->table)
		err = put_shared(out, j, s);
	else
		put_full(out, j, s);
	json_end(out);
	if (j->table && !s->repeats)
		return err;
	if (!s->repeats) {
		json_null(out, "recursion");
		return err;
	}
	json_list(out, "recursion");
	for (uint32_t i = 0; i < s->frame_count; i++)
		json_number(out, NULL, s->repeats[i]);
	json_end(out);
	return err;
}

uint64_t frames_table_bytes(const struct frames_table *j)
{
	return j->bytes;
}
