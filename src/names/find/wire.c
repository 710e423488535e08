/* wire.c - encodes and decodes names: recording, cache, jail. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/wire.h"

#include "base/std.h"
#include "kit/data/room.h"

enum {
	PLACES_BYTES = 4096, /* about the size of one item */
	MAX_ITEM = 1 << 20,  /* longer items are damage */
};

bool wire_failed(const struct wire_out *w)
{
	return w->out.failed || w->body.failed || w->places.failed;
}

void wire_release(struct wire_out *w)
{
	codec_release(&w->out);
	codec_release(&w->body);
	codec_release(&w->places);
	dict_release(&w->texts);
	for (size_t i = 0; i < w->text_count; i++)
		free(w->copies[i]);
	free(w->copies);
	*w = (struct wire_out){0};
}

static void put_item(struct wire_out *w, enum wire_tag tag, struct codec_out *body)
{
	codec_put_item(&w->out, (enum codec_tag)tag, body);
	body->len = 0;
}

static bool same_text(const void *items, uint32_t item, const void *key)
{
	return strcmp(((char *const *)items)[item], key) == 0;
}

/*
 * The number of a text, which is written if it is new; 0: NULL, too long, or no
 * memory.
 */
static uint32_t put_text(struct wire_out *w, const char *text)
{
	uint32_t at, n = (uint32_t)w->text_count;
	struct codec_out body = {0};

	if (!text || strlen(text) > MAX_ITEM / 2 || wire_failed(w))
		return 0;
	if (room_make(&w->copies, &w->text_room, w->text_count, sizeof(*w->copies)) < 0) {
		w->out.failed = true;
		return 0;
	}
	if (dict_find(&w->texts, dict_hash_text(text), same_text, w->copies, text, n, &at) < 0) {
		w->out.failed = true;
		return 0;
	}
	if (at == n) {
		w->copies[n] = strdup(text);
		w->out.failed |= !w->copies[n];
		if (!w->copies[n])
			return 0;
		w->text_count++;
		codec_put_bytes(&body, text, strlen(text));
		put_item(w, WIRE_TEXT, &body);
		codec_release(&body);
	}
	return at + 1;
}

/* Writes the places that were gathered. */
static void flush(struct wire_out *w)
{
	if (w->places.len > 0)
		put_item(w, WIRE_PLACES, &w->places);
}

/* Writes owner and view of the next object, unless they have not changed. */
static void put_scope(struct wire_out *w, const struct name_table_key *key)
{
	if (key->owner == w->owner && key->view == w->view)
		return;
	w->owner = key->owner;
	w->view = key->view;
	codec_put(&w->body, key->owner);
	codec_put(&w->body, key->view);
	put_item(w, WIRE_SCOPE, &w->body);
}

void wire_put_object(
    struct wire_out *w, const struct name_table_key *key, const struct name_table_state *state)
{
	uint32_t path = put_text(w, key->path);
	uint32_t detail = put_text(w, state->detail);

	flush(w);
	put_scope(w, key);
	w->last_address = 0;
	codec_put(&w->body, key->kind);
	codec_put(&w->body, path);
	codec_put(&w->body, state->level);
	codec_put(&w->body, state->problem);
	codec_put(&w->body, detail);
	codec_put_bytes(&w->body, key->id, key->id_bytes);
	put_item(w, WIRE_OBJECT, &w->body);
}

uint32_t wire_put_chain(struct wire_out *w, const struct names_frame *frames, size_t count)
{
	for (size_t i = 0; i < count && i < WIRE_MAX_CHAIN; i++) {
		const struct names_frame *f = &frames[i];

		codec_put(&w->body, put_text(w, f->function));
		codec_put(&w->body, put_text(w, f->symbol));
		codec_put(&w->body, put_text(w, f->file));
		codec_put(&w->body, f->line);
		codec_put(
		    &w->body, (f->inlined ? WIRE_INLINED : 0) | (f->folded ? WIRE_FOLDED : 0));
	}
	put_item(w, WIRE_CHAIN, &w->body);
	return w->chain_count++;
}

void wire_put_place(struct wire_out *w, uint64_t address, uint32_t chain)
{
	codec_put_signed(&w->places, (int64_t)(address - w->last_address));
	codec_put(&w->places, chain);
	w->last_address = address;
	if (w->places.len >= PLACES_BYTES)
		flush(w);
}

void wire_put_done(struct wire_out *w)
{
	flush(w);
	put_item(w, WIRE_DONE, &w->body);
}

static void put_row(
    struct wire_out *w, const struct table *t, const struct table_row *row, uint32_t *numbers)
{
	const struct names_frame *frames;
	size_t n;

	if (!numbers[row->chain]) {
		n = name_table_frames(t, row->chain, &frames);
		numbers[row->chain] = wire_put_chain(w, frames, n) + 1;
	}
	wire_put_place(w, row->address, numbers[row->chain] - 1);
}

void wire_put_rows(struct wire_out *w, struct table *t, const struct table_row *rows, size_t count)
{
	uint32_t *numbers; /* of chains, + 1 */
	size_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].chain >= most)
			most = rows[i].chain + 1;
	numbers = calloc(most + 1, sizeof(*numbers));
	w->out.failed |= !numbers;
	for (size_t i = 0; i < count && numbers; i++) {
		if (i == 0 || rows[i].object != rows[i - 1].object)
			wire_put_object(w, name_table_key(t, rows[i].object),
			    name_table_state(t, rows[i].object));
		put_row(w, t, &rows[i], numbers);
	}
	flush(w);
	free(numbers);
}

void wire_get_release(struct wire_in *w)
{
	free(w->texts);
	free(w->chains);
	*w = (struct wire_in){0};
}

static int get_text(struct wire_in *w, const struct codec_in *body)
{
	size_t len = (size_t)(body->end - body->at);
	int err;

	/* a text with a NUL inside would be shown differently */
	if (memchr(body->at, '\0', len))
		return -EBADMSG;
	err = room_make(&w->texts, &w->text_room, w->text_count, sizeof(*w->texts));
	if (err == 0)
		err = name_table_text(
		    w->table, (const char *)body->at, len, &w->texts[w->text_count]);
	if (err == 0)
		w->text_count++;
	return err;
}

/* 0 is NULL; a number that was not given out yet is damage. */
static const char *text_at(const struct wire_in *w, struct codec_in *body)
{
	uint64_t number = codec_get(body);

	if (number > w->text_count)
		body->bad = true;
	return body->bad || number == 0 ? NULL : w->texts[number - 1];
}

static int get_chain(struct wire_in *w, struct codec_in *body)
{
	struct names_frame frames[WIRE_MAX_CHAIN];
	size_t n = 0;
	int err;

	while (body->at < body->end && !body->bad) {
		struct names_frame *f = &frames[n++];
		uint64_t line, flags;

		if (n > WIRE_MAX_CHAIN)
			return -EBADMSG;
		*f = (struct names_frame){.function = text_at(w, body)};
		f->symbol = text_at(w, body);
		f->file = text_at(w, body);
		line = codec_get(body);
		f->line = line > UINT32_MAX ? 0 : (uint32_t)line;
		flags = codec_get(body);
		f->inlined = (flags & WIRE_INLINED) != 0;
		f->folded = (flags & WIRE_FOLDED) != 0;
	}
	if (body->bad || n == 0)
		return -EBADMSG;
	err = room_make(&w->chains, &w->chain_room, w->chain_count, sizeof(*w->chains));
	if (err == 0)
		err = name_table_chain(w->table, frames, n, &w->chains[w->chain_count]);
	if (err == 0)
		w->chain_count++;
	return err;
}

static int get_object(struct wire_in *w, struct codec_in *body)
{
	struct name_table_key key = {.path = ""};
	struct name_table_state state, *now;
	uint64_t kind, level, problem;
	const char *path;
	int err;

	kind = codec_get(body);
	path = text_at(w, body);
	level = codec_get(body);
	problem = codec_get(body);
	state.detail = text_at(w, body);
	key.id_bytes = (size_t)(body->end - body->at);
	if (body->bad || (kind != TABLE_MODULE && kind != TABLE_PROCESS) || level > TABLE_DEBUG ||
	    key.id_bytes > sizeof(key.id))
		return -EBADMSG;
	memcpy(key.id, body->at, key.id_bytes);
	key.kind = (enum table_kind)kind;
	key.path = path ? path : "";
	key.owner = w->owner;
	key.view = w->view;
	if (w->only) { /* the path may differ; the contents are the same */
		if (w->only->kind != key.kind || w->only->id_bytes != key.id_bytes ||
		    memcmp(w->only->id, key.id, key.id_bytes) != 0)
			return -EBADMSG;
		key.path = w->only->path;
		key.view = w->only->view;
		key.owner = w->only->owner;
	}
	w->last = 0;
	err = name_table_object(w->table, &key, &w->object);
	if (err < 0) {
		w->object = 0;
		return err;
	}
	state.level = (enum table_level)level;
	/* a later version may have more kinds */
	state.problem = problem > TABLE_LAST ? TABLE_UNREADABLE : (enum table_problem)problem;
	now = name_table_state(w->table, w->object);
	*now = state;
	w->object++;
	return 0;
}

static int get_scope(struct wire_in *w, struct codec_in *body)
{
	uint64_t owner = codec_get(body), view = codec_get(body);

	if (body->bad)
		return -EBADMSG;
	w->owner = owner;
	w->view = view;
	return 0;
}

static int get_places(struct wire_in *w, struct codec_in *body)
{
	int err = 0;

	if (!w->object)
		return -EBADMSG;
	while (err == 0 && body->at < body->end) {
		uint64_t chain;

		w->last += (uint64_t)codec_get_signed(body);
		chain = codec_get(body);
		if (body->bad || chain >= w->chain_count)
			return -EBADMSG;
		err = name_table_place(w->table, w->object - 1, w->last, w->chains[chain]);
	}
	return err;
}

static int get_item(struct wire_in *w, uint64_t tag, struct codec_in *body)
{
	switch (tag) {
	case WIRE_TEXT:
		return get_text(w, body);
	case WIRE_CHAIN:
		return get_chain(w, body);
	case WIRE_OBJECT:
		return get_object(w, body);
	case WIRE_PLACES:
		return get_places(w, body);
	case WIRE_SCOPE:
		return get_scope(w, body);
	case WIRE_DONE:
		w->done = true;
		return 0;
	case WIRE_ASK:
		return w->ask ? w->ask(w->ask_context, body->at, (size_t)(body->end - body->at))
		              : 0;
	default:
		return 0; /* a tag of a later version */
	}
}

int wire_get(struct wire_in *w, const void *bytes, size_t len, size_t *ret_used)
{
	struct codec_in in = {.at = bytes};
	int err = 0;

	*ret_used = 0;
	if (len == 0)
		return 0;
	in.end = in.at + len;
	while (err == 0) {
		uint64_t tag = codec_get(&in), size = codec_get(&in);
		struct codec_in body;

		/*
		 * ten bytes, and the number still goes on: not cut, but wrong
		 */
		if (in.bad)
			return len - *ret_used > 32 ? -EBADMSG : 0;
		if (size > MAX_ITEM)
			return -EBADMSG;
		if (size > (uint64_t)(in.end - in.at))
			return 0; /* the rest has not arrived yet */
		body = (struct codec_in){.at = in.at, .end = in.at + size};
		err = get_item(w, tag, &body);
		in.at += size;
		if (err == 0)
			*ret_used = (size_t)(in.at - (const uint8_t *)bytes);
	}
	return err;
}
