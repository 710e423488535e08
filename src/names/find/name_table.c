/* name_table.c - places in modules, and the functions that are there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/name_table.h"

#include "base/std.h"
#include "names/find/demangle.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

/* All limits together allow about 300 MiB, whatever the input. */
enum {
	MAX_OBJECTS = 1 << 16,
	MAX_TEXTS = 1 << 20,
	MAX_TEXT_BYTES = 64 << 20,
	MAX_PLACES = 2 << 20,
	MAX_FRAMES = 2 << 20,
	CHUNK_BYTES = 256 << 10,
};

struct object {
	struct name_table_key key;
	struct name_table_state state;
};

/* Texts and chains never move, because callers keep pointers to them. */
struct chunk {
	struct chunk *next;
	size_t used, room;
	_Alignas(16) char bytes[];
};

struct chain {
	struct names_frame *frames;
	uint32_t count;
};

struct text {
	const char *text;
	uint32_t len;
};

struct table {
	struct chunk *chunks;
	struct object *objects;
	size_t object_count, object_room;
	struct dict object_index;
	struct text *texts;
	size_t text_count, text_room, text_bytes;
	struct dict text_index;
	struct chain *chains;
	size_t chain_count, chain_room, frame_count;
	struct table_row *places;
	size_t place_count, place_room;
	struct dict place_index;
};

int name_table_new(struct table **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void name_table_free(struct table *t)
{
	if (!t)
		return;
	while (t->chunks) {
		struct chunk *next = t->chunks->next;

		free(t->chunks);
		t->chunks = next;
	}
	dict_release(&t->object_index);
	dict_release(&t->text_index);
	dict_release(&t->place_index);
	free(t->objects);
	free(t->texts);
	free(t->chains);
	free(t->places);
	free(t);
}

static void *keep(struct table *t, size_t bytes)
{
	struct chunk *c = t->chunks;

	bytes = (bytes + 7) & ~(size_t)7;
	if (!c || c->room - c->used < bytes) {
		size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;

		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		*c = (struct chunk){.next = t->chunks, .room = room};
		t->chunks = c;
	}
	c->used += bytes;
	return c->bytes + c->used - bytes;
}

/* Like room_make(), for at most max items. */
static int make_room(void *items, size_t *room, size_t count, size_t size, size_t max)
{
	return count >= max ? -EFBIG : room_make(items, room, count, size);
}

static bool same_object(const void *items, uint32_t item, const void *key)
{
	const struct name_table_key *x = &((const struct object *)items)[item].key;
	const struct name_table_key *y = key;

	return x->kind == y->kind && x->id_bytes == y->id_bytes &&
	    memcmp(x->id, y->id, x->id_bytes) == 0 && x->view == y->view && x->owner == y->owner &&
	    strcmp(x->path, y->path) == 0;
}

static uint64_t hash_key(const struct name_table_key *key)
{
	return dict_hash(dict_hash_bytes(key->id, key->id_bytes), dict_hash_text(key->path),
	    key->kind ^ key->view ^ key->owner << 32);
}

bool name_table_has(const struct table *t, const struct name_table_key *key, uint32_t *ret)
{
	return key->id_bytes <= sizeof(key->id) &&
	    dict_seek(&t->object_index, hash_key(key), same_object, t->objects, key, ret);
}

int name_table_object(struct table *t, const struct name_table_key *key, uint32_t *ret)
{
	uint32_t at, n = (uint32_t)t->object_count;
	const char *path;
	int err;

	if (key->id_bytes > sizeof(key->id))
		return -EFBIG;
	err = make_room(
	    &t->objects, &t->object_room, t->object_count, sizeof(*t->objects), MAX_OBJECTS);
	if (err == 0)
		err = name_table_text(t, key->path, strlen(key->path), &path);
	if (err < 0)
		return err;
	err = dict_find(&t->object_index, hash_key(key), same_object, t->objects, key, n, &at);
	if (err < 0)
		return err;
	if (at == n) {
		t->objects[n] = (struct object){.key = *key};
		t->objects[n].key.path = path;
		t->object_count++;
	}
	*ret = at;
	return 0;
}

size_t name_table_objects(const struct table *t)
{
	return t->object_count;
}

const struct name_table_key *name_table_key(const struct table *t, uint32_t object)
{
	return &t->objects[object].key;
}

struct name_table_state *name_table_state(struct table *t, uint32_t object)
{
	return &t->objects[object].state;
}

static bool same_text(const void *items, uint32_t item, const void *key)
{
	const struct text *x = &((const struct text *)items)[item];
	const struct text *y = key;

	return x->len == y->len && memcmp(x->text, y->text, x->len) == 0;
}

int name_table_text(struct table *t, const char *text, size_t len, const char **ret)
{
	struct text key = {.text = text, .len = (uint32_t)len};
	uint32_t at, n = (uint32_t)t->text_count;
	char *copy;
	int err;

	if (len > MAX_TEXT_BYTES)
		return -EFBIG;
	err = make_room(&t->texts, &t->text_room, t->text_count, sizeof(*t->texts), MAX_TEXTS);
	if (err == 0)
		err = dict_find(
		    &t->text_index, dict_hash_bytes(text, len), same_text, t->texts, &key, n, &at);
	if (err < 0)
		return err;
	if (at == n) {
		static const char none[1];

		/* it is already in the index, so it must exist in any case */
		t->texts[n] = (struct text){.text = none};
		t->text_count++;
		if (t->text_bytes + len > MAX_TEXT_BYTES)
			return -EFBIG;
		copy = keep(t, len + 1);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, text, len);
		copy[len] = '\0';
		t->texts[n] = (struct text){.text = copy, .len = key.len};
		t->text_bytes += len;
	}
	*ret = t->texts[at].text;
	return 0;
}

/* Functions of seep.h belong to us, not to the program. */
static bool is_of_seep_h(const struct names_frame *f)
{
	static const char prefix[] = "seep_inline_";

	return f->inlined && f->symbol && strncmp(f->symbol, prefix, sizeof(prefix) - 1) == 0;
}

int name_table_chain(struct table *t, const struct names_frame *frames, size_t count, uint32_t *ret)
{
	struct names_frame *copy;
	int err;

	for (; count > 1 && is_of_seep_h(frames); frames++)
		count--;
	if (count == 0 || t->frame_count + count > MAX_FRAMES)
		return -EFBIG;
	err = make_room(&t->chains, &t->chain_room, t->chain_count, sizeof(*t->chains), MAX_PLACES);
	if (err < 0)
		return err;
	copy = keep(t, count * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		copy[i] = frames[i];
		copy[i].api = 0;
		if (copy[i].symbol)
			copy[i].api = demangle_operator_new(copy[i].symbol);
	}
	t->frame_count += count;
	*ret = (uint32_t)t->chain_count;
	t->chains[t->chain_count++] = (struct chain){.frames = copy, .count = (uint32_t)count};
	return 0;
}

static bool same_place(const void *items, uint32_t item, const void *key)
{
	const struct table_row *x = &((const struct table_row *)items)[item];
	const struct table_row *y = key;

	return x->address == y->address && x->object == y->object;
}

static uint64_t hash_place(const struct table_row *row)
{
	return dict_hash(row->address, row->object, 3);
}

/* The row of a place, made if it is new; NULL: no room or no memory. */
static int place_at(
    struct table *t, uint32_t object, uint64_t address, uint32_t chain, struct table_row **ret)
{
	struct table_row key = {.object = object, .address = address, .chain = chain};
	uint32_t at, n = (uint32_t)t->place_count;
	int err;

	if (object >= t->object_count || chain >= t->chain_count)
		return -EINVAL;
	err = make_room(&t->places, &t->place_room, t->place_count, sizeof(*t->places), MAX_PLACES);
	if (err == 0)
		err = dict_find(
		    &t->place_index, hash_place(&key), same_place, t->places, &key, n, &at);
	if (err < 0)
		return err;
	if (at == n)
		t->places[t->place_count++] = key;
	*ret = &t->places[at];
	return 0;
}

static unsigned worth(const struct table *t, uint32_t chain)
{
	const struct names_frame *f = t->chains[chain].frames;

	return (f->function ? 1 : 0) + (f->file ? 2 : 0) + (f->line ? 4 : 0);
}

int name_table_place(struct table *t, uint32_t object, uint64_t address, uint32_t chain)
{
	struct table_row *row;
	int err = place_at(t, object, address, chain, &row);

	if (err == 0 && worth(t, chain) > worth(t, row->chain))
		row->chain = chain;
	return err;
}

size_t name_table_find(
    const struct table *t, uint32_t object, uint64_t address, const struct names_frame **ret)
{
	struct table_row key = {.object = object, .address = address};
	uint32_t at;

	if (!dict_seek(&t->place_index, hash_place(&key), same_place, t->places, &key, &at))
		return 0;
	return name_table_frames(t, t->places[at].chain, ret);
}

BY(by_address, struct table_row, UP(object) ?: UP(address))

int name_table_places(
    const struct table *t, uint32_t object, struct table_row **ret, size_t *ret_count)
{
	struct table_row *rows = calloc(t->place_count + 1, sizeof(*rows));
	size_t n = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->place_count; i++)
		if (object == TABLE_ALL || t->places[i].object == object)
			rows[n++] = t->places[i];
	qsort(rows, n, sizeof(*rows), by_address);
	*ret = rows;
	*ret_count = n;
	return 0;
}

size_t name_table_frames(const struct table *t, uint32_t chain, const struct names_frame **ret)
{
	*ret = t->chains[chain].frames;
	return t->chains[chain].count;
}
