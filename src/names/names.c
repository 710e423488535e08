/* names.c - the door to names: a frame in, function, file and line out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/demangle.h"
#include "names/symbols.h"
#include "reader/index.h"

#define DEBUG_FILES "/usr/lib/debug/.build-id"

/* One file, whichever processes have it. */
struct object {
	char *path;
	uint8_t build_id[32];
	uint8_t build_id_bytes;
	struct symbols *symbols;    /* NULL: no names */
	struct names_frame *frames; /* by symbol; made when first asked for */
};

struct names {
	struct names_options options;
	struct object *objects;
	size_t count, room;
	struct index index;
	char **notes;
	size_t note_count;
};

static const struct names_frame nothing;

int
names_new(const struct names_options *options, struct names **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	if (options)
		(*ret)->options = *options;
	return 0;
}

void
names_free(struct names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->count; i++) {
		struct object *o = &n->objects[i];
		size_t count = o->symbols ? symbols_count(o->symbols) : 0;

		for (size_t k = 0; o->frames && k < count; k++)
			free((void *)(uintptr_t)o->frames[k].function);
		free(o->frames);
		symbols_free(o->symbols);
		free(o->path);
	}
	for (size_t i = 0; i < n->note_count; i++)
		free(n->notes[i]);
	free(n->notes);
	free(n->objects);
	index_release(&n->index);
	free(n);
}

static bool
same_object(const void *items, uint32_t item, const void *key)
{
	const struct object *o = (const struct object *)items + item;
	const struct process_module *m = key;

	return o->build_id_bytes == m->build_id_bytes &&
	    memcmp(o->build_id, m->build_id, m->build_id_bytes) == 0 &&
	    strcmp(o->path, m->path) == 0;
}

static uint64_t
hash_module(const struct process_module *m)
{
	uint64_t h = 0, id = 0;

	memcpy(&id, m->build_id, sizeof(id));
	for (const char *p = m->path; *p; p++)
		h = h * 31 + (unsigned char)*p;
	return index_hash(h, id, m->build_id_bytes);
}

static void
add_note(struct names *n, const char *path, int err)
{
	const char *why = strerror(-err);
	char **notes, *text;

	if (err == -ESTALE)
		why = "the file there now has another build-id";
	else if (err == -ENODATA)
		why = "it has no symbols";
	else if (err == -ENOEXEC)
		why = "it is not an ELF file";
	if (asprintf(&text, "no names from %s: %s", path, why) < 0)
		return;
	notes = reallocarray(n->notes, n->note_count + 1, sizeof(*notes));
	if (!notes) {
		free(text);
		return;
	}
	n->notes = notes;
	notes[n->note_count++] = text;
}

/* Symbols that were stripped off the module, installed beside it. */
static struct symbols *
open_debug_file(const struct process_module *m)
{
	char path[sizeof(DEBUG_FILES) + 2 * sizeof(m->build_id) + 16];
	struct symbols *symbols = NULL;
	size_t at;

	if (m->build_id_bytes < 2)
		return NULL;
	at = (size_t)snprintf(
	    path, sizeof(path), DEBUG_FILES "/%02x/", m->build_id[0]);
	for (int i = 1; i < m->build_id_bytes; i++)
		at += (size_t)snprintf(
		    path + at, sizeof(path) - at, "%02x", m->build_id[i]);
	(void)snprintf(path + at, sizeof(path) - at, ".debug");
	if (symbols_open(path, m->build_id, m->build_id_bytes, &symbols) < 0)
		return NULL;
	return symbols;
}

static void
open_object(struct names *n, struct object *o, const struct process *p,
    const struct process_module *m)
{
	struct symbols *better;
	int err = -ENOENT;
	char *rooted;

	if (m->path[0] != '/')
		return; /* the kernel's vdso: there is no such file */
	if (p->alive_pid > 0 &&
	    asprintf(&rooted, "/proc/%d/root%s", (int)p->alive_pid, m->path) >
	        0) {
		err = symbols_open(
		    rooted, m->build_id, m->build_id_bytes, &o->symbols);
		free(rooted);
	}
	if (err < 0)
		err = symbols_open(
		    m->path, m->build_id, m->build_id_bytes, &o->symbols);
	if (err < 0 || !symbols_is_full(o->symbols)) {
		better = open_debug_file(m);
		if (better) {
			symbols_free(o->symbols);
			o->symbols = better;
			err = 0;
		}
	}
	if (err < 0)
		add_note(n, m->path, err);
	else
		o->frames =
		    calloc(symbols_count(o->symbols) + 1, sizeof(*o->frames));
}

static struct object *
object_of(
    struct names *n, const struct process *p, const struct process_module *m)
{
	uint32_t at;

	if (n->count == n->room) {
		size_t room = n->room ? n->room * 2 : 64;
		struct object *bigger =
		    reallocarray(n->objects, room, sizeof(*bigger));

		if (!bigger)
			return NULL;
		n->objects = bigger;
		n->room = room;
	}
	if (index_find(&n->index, hash_module(m), same_object, n->objects, m,
	        (uint32_t)n->count, &at) < 0)
		return NULL;
	if (at == n->count) {
		struct object *o = &n->objects[n->count++];

		*o = (struct object){.path = strdup(m->path),
		    .build_id_bytes = m->build_id_bytes};
		memcpy(o->build_id, m->build_id, m->build_id_bytes);
		if (!o->path)
			o->path = strdup("");
		open_object(n, o, p, m);
	}
	return &n->objects[at];
}

/* Symbol number in *ret_object for a frame, or negative. */
static int64_t
find_symbol(struct names *n, const struct process *p, uint64_t frame,
    struct object **ret_object)
{
	const struct process_module *m = process_module(p, frame);
	uint64_t address;

	if (!m || !m->path || n->options.no_symbols)
		return -ENOENT;
	*ret_object = object_of(n, p, m);
	if (!*ret_object || !(*ret_object)->symbols || !(*ret_object)->frames)
		return -ENOENT;
	address = SEG_FRAME_PC(frame) - m->base;
	/* a return address may be the first byte of the next function */
	if (!(frame & SEG_FRAME_EXACT))
		address--;
	return symbols_find((*ret_object)->symbols, address);
}

size_t
names_chain(struct names *n, const struct process *p, uint64_t frame,
    const struct names_frame **ret)
{
	struct names_frame *f;
	struct object *o;
	int64_t at;

	*ret = &nothing;
	at = find_symbol(n, p, frame, &o);
	if (at < 0)
		return 1;
	f = &o->frames[at];
	if (!f->function) {
		f->symbol = symbols_name(o->symbols, (size_t)at);
		f->function = demangle_name(f->symbol);
		f->api = demangle_operator_new(f->symbol);
	}
	*ret = f;
	return 1;
}

size_t
names_skip_operators(struct names *n, const struct process *p,
    const uint64_t *frames, size_t count, uint8_t *api, size_t *ret_entries)
{
	size_t skip = 0, entries, length;

	*ret_entries = 0;
	/* the nothrow and array forms call the plain one: up to three */
	while (skip < count && skip < 4) {
		const struct names_frame *chain;

		length = names_chain(n, p, frames[skip], &chain);
		for (entries = 0; entries < length; entries++) {
			if (chain[entries].api == 0)
				break;
			*api = chain[entries].api;
		}
		if (entries < length) {
			*ret_entries = entries;
			break;
		}
		skip++;
	}
	return skip;
}

size_t
names_notes(const struct names *n, char *const **ret)
{
	*ret = n->notes;
	return n->note_count;
}
