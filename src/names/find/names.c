/* names.c - the interface to names: from a frame to functions, files, lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/names.h"

#include "base/std.h"
#include "names/find/places.h"
#include "names/find/seek.h"
#include "names/find/name_table.h"
#include "names/find/wire.h"
#include "kit/data/dict.h"
#include "kit/words/words.h"
#include "session/process/family.h"
#include "format/frame.h"

enum {
	PIECE_ROWS = 16384, /* bytes of one piece of names_write() */
	MODULE_NOTES = 40,
};

/* Names from a recording. */
struct embedded {
	const struct process_names *names;
	struct table *table; /* NULL: no memory for it */
	bool is_damaged;
};

/* The list is built again by each call of names_notes(). */
struct notes {
	char **list;
	size_t count;
};

struct names {
	struct names_options options; /* the texts are ours */
	struct table *table;          /* what we looked up ourselves */
	struct seek *seek;
	struct embedded *embedded;
	size_t embedded_count;
	struct notes *notes;
	pid_t view_pid; /* of the process that was asked about last */
	uint64_t view;
	bool is_full; /* some places that were looked up are not in the table */
};

static const struct names_frame nothing;

static int copy_options(struct names *n, const struct names_options *o)
{
	n->options = *o;
	n->options.debug_dirs = o->debug_dirs ? strdup(o->debug_dirs) : NULL;
	n->options.sysroot = o->sysroot ? strdup(o->sysroot) : NULL;
	return (o->debug_dirs && !n->options.debug_dirs) || (o->sysroot && !n->options.sysroot)
	    ? -ENOMEM
	    : 0;
}

int names_new(const struct names_options *options, struct names **ret)
{
	struct names *n = calloc(1, sizeof(*n));
	int err = 0;

	if (!n)
		return -ENOMEM;
	n->notes = calloc(1, sizeof(*n->notes));
	if (!n->notes)
		err = -ENOMEM;
	if (options && err == 0)
		err = copy_options(n, options);
	if (err == 0)
		err = name_table_new(&n->table);
	if (err == 0)
		err = seek_new(&n->options, n->table, &n->seek);
	if (err < 0) {
		names_free(n);
		return err;
	}
	*ret = n;
	return 0;
}

static void clear(struct notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->list[i]);
	free(notes->list);
	*notes = (struct notes){0};
}

void names_free(struct names *n)
{
	if (!n)
		return;
	if (n->notes)
		clear(n->notes);
	free(n->notes);
	for (size_t i = 0; i < n->embedded_count; i++)
		name_table_free(n->embedded[i].table);
	free(n->embedded);
	seek_free(n->seek);
	name_table_free(n->table);
	free((void *)(uintptr_t)n->options.debug_dirs);
	free((void *)(uintptr_t)n->options.sysroot);
	free(n);
}

/* ---- what a recording brings along ---- */

static void read_embedded(struct embedded *e)
{
	const struct process_names *part;

	if (name_table_new(&e->table) < 0)
		return;
	for (part = e->names; part; part = part->next) {
		struct wire_in in = {.table = e->table};
		size_t used;

		if (wire_get(&in, part->bytes, part->len, &used) < 0 || used != part->len)
			e->is_damaged = true;
		wire_get_release(&in);
	}
}

static const struct embedded *embedded_of(struct names *n, const struct process *p)
{
	struct embedded *more;

	if (!p->names)
		return NULL;
	for (size_t i = 0; i < n->embedded_count; i++)
		if (n->embedded[i].names == p->names)
			return &n->embedded[i];
	more = reallocarray(n->embedded, n->embedded_count + 1, sizeof(*more));
	if (!more)
		return NULL;
	n->embedded = more;
	more += n->embedded_count++;
	*more = (struct embedded){.names = p->names};
	read_embedded(more);
	return more;
}

/* Did the user name a directory that may have better names? */
static bool wants_better(const struct names *n)
{
	return n->options.debug_dirs || n->options.sysroot || n->options.debuginfod;
}

/*
 * The owner in the key of a module, or of code in no module (NULL). A file at
 * an absolute path, in our own view of the file system, is the same for every
 * process that loaded it. Every other file is looked for where a process says
 * that it is, and a hostile process may say the same as another.
 */
static uint64_t owner_for(const struct process *p, const struct process_module *m, uint64_t view)
{
	return m && view == 0 && !relative_is(m) ? 0 : p->owner;
}

/* The table's number of an object; false: the table does not have it. */
static bool find_embedded(struct names *n, const struct process *p, const struct process_module *m,
    const struct name_table_key *wanted, uint64_t address, const struct names_frame **ret,
    size_t *ret_count)
{
	const struct embedded *e = embedded_of(n, p);
	struct name_table_key key = *wanted;
	uint32_t object;

	key.view = p->view; /* it was made on another machine, or earlier */
	key.owner = owner_for(p, m, key.view);
	if (!e || !e->table || !name_table_has(e->table, &key, &object))
		return false;
	if (wants_better(n) && key.kind == TABLE_MODULE &&
	    name_table_state(e->table, object)->level < TABLE_DEBUG)
		return false;
	*ret_count = name_table_find(e->table, object, address, ret);
	return *ret_count > 0 && (*ret)[0].function;
}

/* ---- frames ---- */

/* Frames come process by process. */
uint64_t names_view(struct names *n, const struct process *p)
{
	if (p->running_pid == 0 && p->root.fd > 0)
		return n->options.sysroot ? 0 : p->root.view;
	if (n->view_pid != p->running_pid) {
		n->view_pid = p->running_pid;
		n->view = n->options.sysroot ? 0 : fs_view_of(p->running_pid);
	}
	return n->view;
}

uint64_t names_source(struct names *n, const struct process *p, const struct process_module *m)
{
	uint64_t here = names_view(n, p), recorded = p->names ? p->view : 0;

	return dict_hash(
	    here ^ (uint64_t)(uintptr_t)p->names, recorded, owner_for(p, m, here | recorded));
}

/* The object and address of a frame; false: it is at nothing that has names. */
static bool place_of(struct names *n, const struct process *p, uint64_t frame,
    struct name_table_key *key, uint64_t *ret_address)
{
	const struct process_module *m = process_module(p, frame);

	*ret_address = frame_code(frame);
	*key = (struct name_table_key){.kind = TABLE_PROCESS, .path = ""};
	if (m) {
		if (!m->path || m->build_id_bytes > sizeof(key->id))
			return false;
		key->kind = TABLE_MODULE;
		key->path = relative_path(m);
		key->id_bytes = m->build_id_bytes;
		memcpy(key->id, m->build_id, m->build_id_bytes);
		key->view = names_view(n, p);
		*ret_address -= m->base;
	} else {
		key->id_bytes = sizeof(p->header.uuid);
		memcpy(key->id, p->header.uuid, key->id_bytes);
	}
	key->owner = owner_for(p, m, key->view);
	return true;
}

/* The main program can be opened even if its path is not known. */
static int note_relative(
    struct names *n, const struct process *p, const struct process_module *m, uint32_t object)
{
	char exe[32];

	(void)snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)p->running_pid);
	return seek_relative(n->seek, object, m->is_main && p->running_pid > 0 ? exe : m->mapped);
}

static int gather_frame(struct names *n, const struct process *p, uint64_t frame)
{
	const struct perfmap_process who = {.pid = p->header.pid,
	    .running_pid = p->running_pid,
	    .start_ns = p->header.start_realtime_ns,
	    .root_fd = p->running_pid > 0 ? 0 : p->root.fd};
	const struct process_module *m = process_module(p, frame);
	const struct names_frame *chain;
	struct name_table_key key;
	uint64_t address;
	uint32_t object;
	size_t len;
	int err;

	if (!place_of(n, p, frame, &key, &address) ||
	    find_embedded(n, p, m, &key, address, &chain, &len))
		return 0;
	err = name_table_object(n->table, &key, &object);
	if (err == 0 && m && relative_is(m))
		err = note_relative(n, p, m, object);
	return err < 0 ? err : seek_add(n->seek, object, address, &who);
}

int names_gather_frames(
    struct names *n, const struct process *p, const uint64_t *frames, size_t count)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < count && !n->options.no_symbols; i++)
		err = gather_frame(n, p, frames[i]);
	return err == -EFBIG ? 0 : err; /* those frames stay without names */
}

/*
 * Notes the callers of free() for sites that have live blocks, because reports
 * of leaks show them.
 */
static int gather_freers(struct names *n, const struct process *p)
{
	int err = 0;

	for (size_t i = 0; i < p->site_count && err == 0; i++) {
		const struct process_freers *f = p->sites[i].freed_by;

		if (p->sites[i].figures.live_blocks == 0)
			continue;
		for (size_t k = 0; f && k < f->count && err == 0; k++)
			err = names_gather_frames(n, p, &f->at[k].frame, 1);
	}
	return err;
}

int names_gather(struct names *n, const struct process *p)
{
	uint64_t *frames;
	size_t count;
	int err;

	if (n->options.no_symbols || !p->stacks)
		return 0;
	err = stacks_all_frames(p->stacks, &frames, &count);
	if (err < 0)
		return err;
	err = names_gather_frames(n, p, frames, count);
	free(frames);
	return err < 0 ? err : gather_freers(n, p);
}

void names_resolve(struct names *n)
{
	seek_run(n->seek);
}

size_t names_chain(
    struct names *n, const struct process *p, uint64_t frame, const struct names_frame **ret)
{
	struct name_table_key key;
	uint64_t address;
	uint32_t object;
	size_t count;

	if (n->options.no_symbols || !place_of(n, p, frame, &key, &address))
		goto unknown;
	if (find_embedded(n, p, process_module(p, frame), &key, address, ret, &count))
		return count;
	for (int round = 0; round < 2; round++) {
		if (name_table_has(n->table, &key, &object)) {
			count = name_table_find(n->table, object, address, ret);
			if (count > 0)
				return count;
		}
		/* all frames of this process, and this frame in any case */
		if (round > 0 || n->is_full || names_gather(n, p) < 0 ||
		    names_gather_frames(n, p, &frame, 1) < 0)
			break;
		names_resolve(n);
	}
	n->is_full = true; /* trying again would only take time */
unknown:
	*ret = &nothing;
	return 1;
}

/* ---- variables ---- */

/* A frame of the module, because keys are made of frames. */
static bool place_of_variable(struct names *n, const struct process *p, const struct names_place *x,
    struct name_table_key *key, uint64_t *ret_address)
{
	const struct process_module *m;
	uint64_t frame, code;

	if (x->module == 0 || x->module >= p->module_count)
		return false;
	m = &p->modules[x->module];
	frame = frame_pack(m->start, true, x->module);
	if (process_module(p, frame) != m || !place_of(n, p, frame, key, &code))
		return false;
	*ret_address =
	    (x->address & ~(TABLE_DATA | TABLE_TLS)) | (x->is_tls ? TABLE_TLS : TABLE_DATA);
	return true;
}

int names_gather_variables(
    struct names *n, const struct process *p, const struct names_place *places, size_t count)
{
	const struct perfmap_process who = {.pid = p->header.pid,
	    .running_pid = p->running_pid,
	    .start_ns = p->header.start_realtime_ns,
	    .root_fd = p->running_pid > 0 ? 0 : p->root.fd};
	int err = 0;

	for (size_t i = 0; err == 0 && i < count && !n->options.no_symbols; i++) {
		const struct process_module *m;
		struct name_table_key key;
		uint64_t address;
		uint32_t object;

		if (!place_of_variable(n, p, &places[i], &key, &address))
			continue;
		m = &p->modules[places[i].module];
		err = name_table_object(n->table, &key, &object);
		if (err == 0 && relative_is(m))
			err = note_relative(n, p, m, object);
		if (err == 0)
			err = seek_add(n->seek, object, address, &who);
	}
	return err == -EFBIG ? 0 : err;
}

bool names_variable(struct names *n, const struct process *p, const struct names_place *place,
    struct names_variable *ret)
{
	const struct names_frame *f;
	struct name_table_key key;
	uint64_t address;
	uint32_t object;

	if (n->options.no_symbols || !place_of_variable(n, p, place, &key, &address) ||
	    !name_table_has(n->table, &key, &object) ||
	    name_table_find(n->table, object, address, &f) == 0 || !f->function)
		return false;
	*ret = (struct names_variable){
	    .name = f->function, .file = f->file, .offset = f->line, .is_static = f->inlined};
	return true;
}

int names_write(const struct names *n,
    int (*write)(void *context, const uint8_t *bytes, size_t len), void *context)
{
	struct table_row *rows;
	size_t count, piece;
	int err;

	err = name_table_places(n->table, TABLE_ALL, &rows, &count);
	if (err < 0)
		return err;
	for (size_t i = 0; i < count && err == 0; i += piece) {
		struct wire_out out = {0};

		piece = count - i < PIECE_ROWS ? count - i : PIECE_ROWS;
		wire_put_rows(&out, n->table, rows + i, piece);
		err = wire_failed(&out) ? -ENOMEM : write(context, out.out.bytes, out.out.len);
		wire_release(&out);
	}
	free(rows);
	return err;
}

/* Takes ownership of text, which may be NULL. */
static void add_note(struct notes *notes, char *text)
{
	char **more;

	if (!text)
		return;
	more = reallocarray(notes->list, notes->count + 1, sizeof(*more));
	if (!more) {
		free(text);
		return;
	}
	notes->list = more;
	more[notes->count++] = text;
}

/* One sentence for each module, up to a number that a user would read. */
static void note_modules(
    const struct names *n, names_lacks lacks, void *context, struct notes *notes)
{
	size_t asked, unknown, more = 0;
	char *text;

	for (uint32_t i = 0; i < name_table_objects(n->table); i++) {
		if (lacks && hints_is_lack(name_table_state(n->table, i)) &&
		    !lacks(context, name_table_key(n->table, i)->path))
			continue;
		seek_counts(n->seek, i, &asked, &unknown);
		text = asked > 0
		    ? hints_sentence(name_table_key(n->table, i), name_table_state(n->table, i),
		          seek_is_relative(n->seek, i), asked, unknown)
		    : NULL;
		if (text && notes->count >= MODULE_NOTES) {
			free(text);
			more++;
		} else {
			add_note(notes, text);
		}
	}
	if (more > 0 &&
	    asprintf(&text, "names are missing from %s", WORDS_COUNTED(more, "more module")) > 0)
		add_note(notes, text);
}

static void note_maps(struct table *t, struct notes *notes)
{
	for (uint32_t i = 0; i < name_table_objects(t); i++)
		add_note(notes, hints_map(name_table_key(t, i), name_table_state(t, i)));
}

void names_gaps(const struct names *n, struct names_gaps *ret)
{
	*ret = (struct names_gaps){.left_processes = seek_left(n->seek)};
	for (uint32_t i = 0; i < name_table_objects(n->table); i++) {
		enum table_problem problem = name_table_state(n->table, i)->problem;
		size_t asked, unknown;

		seek_counts(n->seek, i, &asked, &unknown);
		if (problem == TABLE_NO_TIME && unknown > 0) {
			ret->late_frames += unknown;
			ret->late_modules++;
		}
		if (name_table_key(n->table, i)->kind == TABLE_PROCESS)
			ret->outside_frames += unknown;
		ret->unconfined_modules += problem == TABLE_NO_JAIL && asked > 0;
	}
}

/* Why the process that reads debug information could not be confined. */
static const char *jail_error(const struct names *n)
{
	for (uint32_t i = 0; i < name_table_objects(n->table); i++) {
		const struct name_table_state *s = name_table_state(n->table, i);

		if (s->problem == TABLE_NO_JAIL && s->detail)
			return s->detail;
	}
	return "not known";
}

/* One sentence for all modules that have the same problem. */
static void note_gaps(const struct names *n, struct notes *notes)
{
	struct names_gaps g;
	char *text;

	names_gaps(n, &g);
	if (g.late_frames > 0 &&
	    asprintf(&text,
	        "%s of %s %s no name: finding names took longer than %u s; "
	        "--patience SECONDS allows more",
	        WORDS_COUNTED(g.late_frames, "frame"), WORDS_COUNTED(g.late_modules, "module"),
	        words_has(g.late_frames), n->options.seconds) > 0)
		add_note(notes, text);
	if (g.unconfined_modules > 0 &&
	    asprintf(&text,
	        "the debug information of %s was not read, because "
	        "the kernel refuses to confine the process that reads it "
	        "(seccomp: %s); names there come from symbols alone",
	        WORDS_COUNTED(g.unconfined_modules, "module"), jail_error(n)) > 0)
		add_note(notes, text);
	if (g.left_processes > 0 &&
	    asprintf(&text,
	        "%s that read%s files for names did not end when "
	        "killed, because a file system does not answer",
	        WORDS_COUNTED(g.left_processes, "process"), g.left_processes == 1 ? "s" : "") > 0)
		add_note(notes, text);
}

size_t names_notes(const struct names *n, char *const **ret)
{
	return names_notes_shown(n, NULL, NULL, ret);
}

size_t names_notes_shown(const struct names *n, names_lacks lacks, void *context, char *const **ret)
{
	struct notes *notes = n->notes;
	int server = seek_server_error(n->seek);

	clear(notes);
	for (size_t i = 0; i < n->embedded_count; i++)
		if (n->embedded[i].is_damaged || !n->embedded[i].table)
			add_note(notes,
			    strdup("the names in the recording are damaged; "
			           "missing names were looked for on this "
			           "machine"));
	if (server == -EDESTADDRREQ)
		add_note(notes,
		    strdup("--debuginfod: no server is named in "
		           "DEBUGINFOD_URLS; nothing was asked"));
	else if (server == -ENOSYS)
		add_note(notes,
		    strdup("--debuginfod: libdebuginfod.so.1 is not "
		           "installed; nothing was asked"));
	note_gaps(n, notes);
	for (size_t i = 0; i < n->embedded_count; i++)
		if (n->embedded[i].table)
			note_maps(n->embedded[i].table, notes);
	note_maps(n->table, notes);
	note_modules(n, lacks, context, notes);
	*ret = notes->list;
	return notes->count;
}
