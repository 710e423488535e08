/* lookup.c - reads the files of one module, and names its addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/dwarf/lookup.h"

#include "names/jail/ask.h"
#include "names/dwarf/objfile.h"
#include "names/dwarf/debuginfo.h"
#include "names/find/demangle.h"
#include "names/jail/jail.h"
#include "kit/data/room.h"
#include "kit/os/outfile.h"

enum {
	TABLES = 2,
	WRITE_BYTES = 64 << 10,
	MAX_CHAIN = 256, /* the limit of debuginfo.c */
	MAP_NAME_BYTES = 4097,
};

/* A symbol, and its demangled form. */
struct reading {
	char *symbol, *function;
};

struct lookup {
	const struct lookup_request *request;
	int fd;
	struct debugfile_search search;
	struct objfile module, debug, alt, mini;
	struct symbols *symbols[TABLES]; /* the better one first; NULL: none */
	struct symbols *data[TABLES][2]; /* variables: SYMBOLS_DATA, _TLS */
	struct debuginfo *info;
	struct name_table_state state;
	char detail[256];
	struct wire_out out;
	bool *answered; /* by address */
	struct reading *readings;
	size_t reading_count, reading_room;
	struct dict reading_index;
};

static void set_problem(struct lookup *l, enum table_problem problem, const char *detail)
{
	l->state.problem = problem;
	(void)snprintf(l->detail, sizeof(l->detail), "%s", detail);
	l->state.detail = l->detail[0] ? l->detail : NULL;
}

/* Tries a file that may be the module; true: it is. */
static bool is_module(struct lookup *l, const struct ask_answer *a, int err)
{
	const struct lookup_request *r = l->request;
	char hex[65];
	const uint8_t *id;
	size_t n;

	if (err == 0)
		err = objfile_open(a->fd, a->path, &l->module);
	if (err == -ENOEXEC && !a->by_id)
		set_problem(l, TABLE_NOT_ELF, "");
	else if (err < 0 && !a->by_id && l->state.problem == TABLE_NO_FILE)
		set_problem(l, TABLE_NO_FILE,
		    err == -ETIMEDOUT ? "its file system does not answer" : strerror(-err));
	if (err < 0)
		return false;
	if (objfile_has_build_id(&l->module, r->key.id, r->key.id_bytes)) {
		set_problem(l, TABLE_FINE, "");
		return true;
	}
	n = objfile_build_id(&l->module, &id);
	buildid_hex(hex, id, n);
	if (!a->by_id)
		set_problem(l, TABLE_OTHER_FILE, n ? hex : "none");
	objfile_close(&l->module);
	return false;
}

/* The file that was executed, if it still exists. */
static void open_module(struct lookup *l)
{
	struct ask q = {.kind = ASK_MODULE};
	struct ask_answer a;

	set_problem(l, TABLE_NO_FILE, strerror(ENOENT));
	do {
		int err = ask_file(l->fd, &q, &a);

		q.n = a.next;
		if (a.by_id && l->request->key.id_bytes == 0) {
			if (a.fd >= 0)
				close(a.fd);
			continue;
		}
		if (is_module(l, &a, err))
			return;
	} while (a.next > 0);
}

static void open_debug_info(struct lookup *l)
{
	struct objfile *file = &l->module;
	char id[65];
	int err;

	if (!l->module.elf || !objfile_has_debug_info(&l->module)) {
		err = debugfile_find(&l->search, l->module.elf ? &l->module : NULL, &l->debug);
		if (err < 0) {
			if (l->state.problem == TABLE_FINE)
				set_problem(l, TABLE_NO_DEBUG, "");
			return;
		}
		file = &l->debug;
	}
	set_problem(l, TABLE_FINE, "");
	if (l->request->jail_error)
		set_problem(l, TABLE_NO_JAIL, strerror(-l->request->jail_error));
	if (l->request->symbols_only || l->request->jail_error)
		return;
	trap_set_path(file->path);
	err = debugfile_find_alt(&l->search, file, &l->alt, id);
	if (err < 0)
		set_problem(l, TABLE_NO_ALT, id);
	objfile_hide_unneeded(file);
	if (l->alt.elf)
		objfile_hide_unneeded(&l->alt);
	err = debuginfo_new(file->elf, l->alt.elf, &l->info);
	if (err < 0)
		set_problem(
		    l, TABLE_UNREADABLE, err == -ENOMEM ? "out of memory" : "its DWARF is damaged");
}

static void open_symbols(struct lookup *l)
{
	if (l->module.elf)
		(void)symbols_new(l->module.elf, false, SYMBOLS_CODE, &l->symbols[0]);
	if (!l->symbols[0] && l->debug.elf)
		(void)symbols_new(l->debug.elf, false, SYMBOLS_CODE, &l->symbols[0]);
	if (l->symbols[0] || !l->module.elf)
		return;
	if (debugfile_open_mini(&l->module, &l->mini) == 0)
		(void)symbols_new(l->mini.elf, false, SYMBOLS_CODE, &l->symbols[0]);
	(void)symbols_new(l->module.elf, true, SYMBOLS_CODE, &l->symbols[1]);
}

static const char *find_symbol(const struct lookup *l, uint64_t address, const char **ret_file)
{
	const char *name = NULL;

	*ret_file = NULL;
	for (size_t i = 0; i < TABLES && !name; i++)
		if (l->symbols[i])
			name = symbols_name(l->symbols[i], address, ret_file);
	return name;
}

static bool is_folded(const struct lookup *l, uint64_t address)
{
	for (size_t i = 0; i < TABLES; i++)
		if (l->symbols[i] && symbols_is_folded(l->symbols[i], address))
			return true;
	return false;
}

static int flush(struct lookup *l, size_t from)
{
	int err = 0;

	if (wire_failed(&l->out))
		return -ENOMEM;
	if (l->out.out.len >= from && l->out.out.len > 0) {
		err = write_all(l->fd, l->out.out.bytes, l->out.out.len);
		l->out.out.len = 0;
	}
	return err;
}

static bool same_symbol(const void *items, uint32_t item, const void *key)
{
	return strcmp(((const struct reading *)items)[item].symbol, key) == 0;
}

/* The demangled form, made once for each symbol. NULL: out of memory. */
static const char *read_symbol(struct lookup *l, const char *symbol)
{
	uint32_t at, n = (uint32_t)l->reading_count;

	if (room_make(&l->readings, &l->reading_room, l->reading_count, sizeof(*l->readings)) < 0)
		return NULL;
	if (dict_find(&l->reading_index, dict_hash_text(symbol), same_symbol, l->readings, symbol,
	        n, &at) < 0)
		return NULL;
	if (at == n) {
		struct reading fresh = {
		    .symbol = strdup(symbol), .function = demangle_name(symbol)};

		if (!fresh.symbol || !fresh.function) {
			free(fresh.symbol);
			free(fresh.function);
			return NULL; /* the end of this run */
		}
		l->readings[l->reading_count++] = fresh;
	}
	return l->readings[at].function;
}

/* dir/file; the caller frees it. NULL: out of memory. */
static char *absolute(const struct debuginfo_frame *f)
{
	size_t len = f->dir ? strlen(f->dir) : 0;
	char *path;

	/*
	 * in some tables of files the name already has the directory in front
	 */
	if (len == 0 || f->file[0] == '/' ||
	    (strncmp(f->file, f->dir, len) == 0 && f->file[len] == '/'))
		return strdup(f->file);
	if (asprintf(&path, "%s%s%s", f->dir, f->dir[len - 1] == '/' ? "" : "/", f->file) < 0)
		return NULL;
	return path;
}

/* Names one function: by its ELF symbol if that is known, else by DWARF. */
static int name_frame(struct lookup *l, struct names_frame *to, const struct debuginfo_frame *from,
    const char *symbol, char **ret_text)
{
	to->symbol = symbol ? symbol : from->name;
	if (!to->symbol)
		return 0;
	to->function = read_symbol(l, to->symbol);
	if (!to->function)
		return -ENOMEM;
	/* a plain name, for example of a static function: add its scopes */
	if (!symbol && from->scope && asprintf(ret_text, "%s::%s", from->scope, to->function) > 0)
		to->function = *ret_text;
	return 0;
}

/*
 * The outermost function gets the name of its ELF symbol: in DWARF, static
 * functions and lambdas have no full name, and clones have another one.
 */
static int tell(void *context, size_t number, const struct debuginfo_frame *from, size_t count)
{
	struct lookup *l = context;
	uint64_t address = l->request->addresses[number];
	const char *file, *symbol = find_symbol(l, address, &file);
	struct names_frame frames[MAX_CHAIN] = {0};
	char *texts[2 * MAX_CHAIN] = {0};
	int err = 0;

	for (size_t i = 0; i < count && i < MAX_CHAIN && err == 0; i++) {
		struct names_frame *to = &frames[i];

		err = name_frame(l, to, &from[i], i + 1 == count ? symbol : NULL, &texts[2 * i]);
		if (err == 0 && from[i].file) {
			texts[2 * i + 1] = absolute(&from[i]);
			to->file = texts[2 * i + 1];
			err = to->file ? 0 : -ENOMEM;
		}
		if (err == 0 && !from[i].file && i + 1 == count)
			to->file = file;
		to->line = from[i].line;
		to->inlined = from[i].inlined;
		to->folded = i + 1 == count && is_folded(l, address);
	}
	if (err == 0) {
		l->answered[number] = true;
		wire_put_place(&l->out, address, wire_put_chain(&l->out, frames, count));
		err = flush(l, WRITE_BYTES);
	}
	for (size_t i = 0; i < count && i < MAX_CHAIN; i++) {
		free(texts[2 * i]);
		free(texts[2 * i + 1]);
	}
	return err;
}

/* Used if DWARF says nothing. */
static int tell_symbols(struct lookup *l, size_t count)
{
	static const struct debuginfo_frame nothing;
	const char *file;
	int err = 0;

	for (size_t i = 0; i < count && err == 0; i++)
		if (!l->answered[i] && find_symbol(l, l->request->addresses[i], &file))
			err = tell(l, i, &nothing, 1);
	return err;
}

/* ---- variables ---- */

/* Opened only if a variable is asked for. */
static void open_variables(struct lookup *l, enum symbols_kind kind)
{
	int i = kind == SYMBOLS_TLS;

	if (l->data[0][i] || l->data[1][i])
		return;
	if (l->module.elf)
		(void)symbols_new(l->module.elf, false, kind, &l->data[0][i]);
	if (!l->data[0][i] && l->debug.elf)
		(void)symbols_new(l->debug.elf, false, kind, &l->data[0][i]);
	if (!l->data[0][i] && l->module.elf)
		(void)symbols_new(l->module.elf, true, kind, &l->data[1][i]);
}

/* A frame with the meanings of names_variable(). */
static int tell_variable(struct lookup *l, uint64_t address)
{
	enum symbols_kind kind = address & TABLE_TLS ? SYMBOLS_TLS : SYMBOLS_DATA;
	uint64_t at = address & ~(TABLE_TLS | TABLE_DATA);
	struct names_frame frame = {0};
	struct symbols_variable v;
	bool found = false;

	for (size_t i = 0; i < TABLES && !found; i++) {
		const struct symbols *s = l->data[i][kind == SYMBOLS_TLS];

		found = s && symbols_variable(s, at, &v);
	}
	if (!found)
		return 0;
	frame.symbol = v.name;
	frame.function = read_symbol(l, v.name);
	if (!frame.function)
		return -ENOMEM;
	frame.file = v.file;
	frame.line = v.offset < UINT32_MAX ? (uint32_t)v.offset : UINT32_MAX;
	frame.inlined = v.is_local;
	wire_put_place(&l->out, address, wire_put_chain(&l->out, &frame, 1));
	return flush(l, WRITE_BYTES);
}

static int tell_variables(struct lookup *l, size_t from)
{
	const struct lookup_request *r = l->request;
	int err = 0;

	for (size_t i = from; i < r->count && err == 0; i++) {
		open_variables(l, r->addresses[i] & TABLE_TLS ? SYMBOLS_TLS : SYMBOLS_DATA);
		err = tell_variable(l, r->addresses[i]);
	}
	return err;
}

/* Addresses are sorted, so those of variables come last. */
static size_t code_count(const struct lookup_request *r)
{
	size_t n = r->count;

	while (n > 0 && r->addresses[n - 1] & (TABLE_DATA | TABLE_TLS))
		n--;
	return n;
}

static int tell_all(struct lookup *l)
{
	const struct lookup_request *r = l->request;
	size_t missing, code = code_count(r);
	int err = 0;

	if (l->info)
		l->state.level = TABLE_DEBUG;
	else if (l->symbols[0])
		l->state.level = TABLE_SYMBOLS;
	else if (l->symbols[1])
		l->state.level = TABLE_EXPORTS;
	missing = l->info ? debuginfo_missing_units(l->info) : 0;
	if (missing > 0) {
		char number[24];

		(void)snprintf(number, sizeof(number), "%zu", missing);
		set_problem(l, TABLE_NO_SPLIT, number);
	}
	wire_put_object(&l->out, &r->key, &l->state);
	err = flush(l, 0);
	if (l->info && err == 0)
		err = debuginfo_resolve(l->info, r->addresses, code, tell, l);
	if (err == 0)
		err = tell_symbols(l, code);
	if (err == 0)
		err = tell_variables(l, code);
	if (err == 0) {
		wire_put_done(&l->out);
		err = flush(l, 0);
	}
	return err;
}

/* ---- code outside of modules ---- */

static void tell_mapped(void *context, size_t number, const char *name, size_t len)
{
	struct lookup *l = context;
	char text[MAP_NAME_BYTES], function[MAP_NAME_BYTES];
	char file[MAP_NAME_BYTES];
	struct names_frame frame = {.function = function, .symbol = text};
	struct mapname m;

	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	memcpy(text, name, len);
	text[len] = '\0';
	mapname_parse(text, len, &m);
	mapname_function(&m, function, sizeof(function));
	frame.line = m.line;
	if (m.file) {
		memcpy(file, m.file, m.file_len);
		file[m.file_len] = '\0';
		frame.file = file;
	}
	wire_put_place(&l->out, l->request->addresses[number], wire_put_chain(&l->out, &frame, 1));
	(void)flush(l, WRITE_BYTES);
}

static int tell_map(struct lookup *l)
{
	const struct lookup_request *r = l->request;
	struct ask q = {.kind = ASK_MAP};
	struct ask_answer a;
	struct perfmap_gaps gaps = {0};
	char number[24];
	int err = ask_file(l->fd, &q, &a);

	wire_put_object(&l->out, &r->key, &l->state);
	if (err == 0)
		err = perfmap_read(a.fd, r->addresses, r->count, tell_mapped, l, &gaps);
	if (gaps.is_cut || gaps.malformed > 0) {
		(void)snprintf(number, sizeof(number), "%zu", gaps.malformed);
		set_problem(
		    l, gaps.is_cut ? TABLE_CUT_MAP : TABLE_FINE, gaps.malformed > 0 ? number : "");
		wire_put_object(&l->out, &r->key, &l->state);
	}
	if (err == 0) {
		wire_put_done(&l->out);
		err = flush(l, 0);
	}
	return err;
}

int lookup_run(const struct lookup_request *r, int fd)
{
	struct lookup l = {.request = r, .fd = fd};
	int err = -ENOMEM;

	if (r->key.kind == TABLE_PROCESS) {
		err = tell_map(&l);
		wire_release(&l.out);
		return err;
	}
	l.search = (struct debugfile_search){
	    .ask_fd = fd, .build_id = r->key.id, .build_id_bytes = r->key.id_bytes};
	l.answered = calloc(r->count + 1, sizeof(*l.answered));
	if (l.answered) {
		open_module(&l);
		open_debug_info(&l);
		open_symbols(&l);
		err = tell_all(&l);
	}
	debuginfo_free(l.info);
	for (size_t i = 0; i < TABLES; i++)
		symbols_free(l.symbols[i]);
	for (size_t i = 0; i < TABLES; i++) {
		symbols_free(l.data[i][0]);
		symbols_free(l.data[i][1]);
	}
	for (size_t i = 0; i < l.reading_count; i++) {
		free(l.readings[i].symbol);
		free(l.readings[i].function);
	}
	free(l.readings);
	dict_release(&l.reading_index);
	wire_release(&l.out);
	free(l.answered);
	objfile_close(&l.mini);
	objfile_close(&l.alt);
	objfile_close(&l.debug);
	objfile_close(&l.module);
	return err;
}
