/* places.c - where the file of a module and its debug information may be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/places.h"

#include "kit/words/text.h"
#include "kit/words/words.h"
#include "names/dwarf/lookup.h"
#include "names/dwarf/objfile.h"

#define USUAL "/usr/lib/debug"
#define PROC  "/proc/"

enum { NAME_BYTES = 2 * 32 + 33 };

/* Counts down to the place that is wanted. */
struct counter {
	size_t left;
	struct places_place *ret;
};

/* Concatenates root, dir and name. A path that is too long is no place. */
static bool is_at(struct counter *c, const char *root, const char *dir, const char *name)
{
	struct places_place *p = c->ret;
	int n;

	if (c->left-- > 0)
		return false;
	n = snprintf(p->path, sizeof(p->path), "%s%s%s", root, dir, name);
	if (n < 0 || (size_t)n >= sizeof(p->path))
		p->path[0] = '\0';
	p->root_bytes = p->path[0] ? strlen(root) : 0;
	return true;
}

static bool is_foreign_root(const char *root)
{
	return strncmp(root, PROC, strlen(PROC)) == 0;
}

/* The same, for a place where a traced process may have put files. */
static bool is_below(struct counter *c, const char *root, const char *dir, const char *name)
{
	if (!is_at(c, root, dir, name))
		return false;
	c->ret->check_owner = is_foreign_root(root);
	return true;
}

/* The same, if the contents of somebody's file decide what is opened. */
static bool is_chosen(struct counter *c, const char *root, const char *dir, const char *name)
{
	if (!is_at(c, root, dir, name))
		return false;
	c->ret->check_owner = true;
	return true;
}

/* Is one of its parts ".."? */
static bool leads_up(const char *path)
{
	for (const char *p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
			return true;
	}
	return false;
}

/* ---- the module ---- */

/* One of several names, below one of several roots. */
static bool is_named(struct counter *c, const struct places_search *s, const char *const *names)
{
	for (size_t i = 0; names && names[i]; i++)
		for (size_t k = 0; names[i][0] == '/' && s->roots[k]; k++)
			if (is_at(c, s->roots[k], "", names[i]))
				return true;
	return false;
}

/*
 * By the whole path and by its last part, below a directory that the user gave.
 */
static bool is_in_dirs(struct counter *c, const struct places_search *s)
{
	const char *last = text_base(s->path);
	char dir[PATH_MAX];

	for (size_t i = 0; s->dirs[i]; i++) {
		(void)snprintf(dir, sizeof(dir), "%s/", s->dirs[i]);
		if ((!leads_up(s->path) && is_at(c, "", dir, s->path + (s->path[0] == '/'))) ||
		    is_at(c, "", dir, last))
			return true;
	}
	return false;
}

bool places_module(const struct places_search *s, size_t n, struct places_place *ret)
{
	const char *const own[] = {s->path, NULL};
	struct counter c = {.left = n, .ret = ret};

	*ret = (struct places_place){0};
	if (is_named(&c, s, s->mapped) || is_named(&c, s, own))
		return true;
	ret->by_id = true;
	if (is_named(&c, s, s->twins)) {
		/* a hostile process may give this name to a file of its own */
		ret->check_owner = true;
		ret->by_session = true;
		return true;
	}
	return is_in_dirs(&c, s);
}

/* ---- debug information ---- */

/* ".build-id/ab/cdef.debug"; false: too short for a build-id. */
static bool name_by_id(char name[NAME_BYTES], const uint8_t *id, size_t bytes)
{
	char hex[65];

	if (bytes < 2 || bytes > 32)
		return false;
	buildid_hex(hex, id, bytes);
	(void)snprintf(name, NAME_BYTES, "/.build-id/%.2s/%s.debug", hex, hex + 2);
	return true;
}

static bool has_id(
    struct counter *c, const struct places_search *s, const uint8_t *id, size_t bytes)
{
	char name[NAME_BYTES];

	if (!name_by_id(name, id, bytes))
		return false;
	for (size_t i = 0; s->dirs[i]; i++)
		if (is_at(c, "", s->dirs[i], name) ||
		    is_at(c, "", s->dirs[i], name + strlen("/.build-id")))
			return true;
	for (size_t i = 0; s->roots[i]; i++)
		if (is_below(c, s->roots[i], USUAL, name))
			return true;
	return false;
}

/* `name` comes from .gnu_debuglink: a file in one of these directories. */
static bool is_linked(struct counter *c, const struct places_search *s, const char *name)
{
	const char *slash = strrchr(s->path, '/');
	char dir[PATH_MAX], below[PATH_MAX + sizeof(USUAL)], file[NAME_MAX + 2];
	bool up = leads_up(s->path);

	if (!name[0] || strchr(name, '/') || strlen(name) > NAME_MAX || leads_up(name))
		return false;
	(void)snprintf(file, sizeof(file), "/%s", name);
	(void)snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - s->path) : 0, s->path);
	for (size_t i = 0; s->dirs[i]; i++)
		if ((!up && is_at(c, s->dirs[i], dir, file)) || is_at(c, "", s->dirs[i], file))
			return true;
	for (size_t i = 0; s->roots[i]; i++) {
		if (is_chosen(c, s->roots[i], dir, file))
			return true;
		(void)snprintf(below, sizeof(below), "%s/.debug", dir);
		if (is_chosen(c, s->roots[i], below, file))
			return true;
		(void)snprintf(below, sizeof(below), USUAL "%s", dir);
		if (!up && is_below(c, s->roots[i], below, file))
			return true;
	}
	return false;
}

/* `name` comes from .gnu_debugaltlink. */
static bool is_alt(struct counter *c, const struct places_search *s, const char *name)
{
	/* "../../.dwz/x.debug" is relative to a file in such a directory */
	while (strncmp(name, "../", 3) == 0)
		name += 3;
	if (!name[0] || leads_up(name))
		return false;
	if (strncmp(name, USUAL "/", sizeof(USUAL)) == 0)
		name += sizeof(USUAL);
	for (size_t i = 0; s->dirs[i]; i++) {
		char dir[PATH_MAX];

		(void)snprintf(dir, sizeof(dir), "%s/", s->dirs[i]);
		if (is_at(c, "", dir, name))
			return true;
	}
	for (size_t i = 0; s->roots[i]; i++)
		if (name[0] == '/' ? is_chosen(c, s->roots[i], "", name)
		                   : is_below(c, s->roots[i], USUAL "/", name))
			return true;
	return false;
}

/* A .dwo file; libdw has already put the directory in front of its name. */
static bool is_split(struct counter *c, const struct places_search *s, const char *path)
{
	for (size_t i = 0; s->roots[i]; i++) {
		size_t len = strlen(s->roots[i]);

		if (len > 0 && strncmp(path, s->roots[i], len) == 0)
			return is_chosen(c, s->roots[i], "", path + len);
	}
	return path[0] == '/' && is_chosen(c, "", "", path);
}

bool places_of(const struct places_search *s, const struct ask *q, struct places_place *ret)
{
	struct counter c = {.left = q->n, .ret = ret};

	*ret = (struct places_place){0};
	switch (q->kind) {
	case ASK_MODULE:
		return places_module(s, q->n, ret);
	case ASK_DEBUG:
		return (s->given && is_at(&c, "", "", s->given)) ||
		    has_id(&c, s, q->id, q->id_bytes);
	case ASK_LINK:
		return is_linked(&c, s, q->name);
	case ASK_ALT:
		return (s->given_alt && is_at(&c, "", "", s->given_alt)) ||
		    has_id(&c, s, q->id, q->id_bytes) || is_alt(&c, s, q->name);
	case ASK_SPLIT:
		return is_split(&c, s, q->name);
	case ASK_MAP:
	default:
		return false;
	}
}

/* ---- fs_view: do two processes see the same files under the same paths? ---- */

/* False: it cannot be read. */
static bool read_link(const char *process, const char *what, char to[PATH_MAX])
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%s/%s", process, what);
	n = readlink(path, to, PATH_MAX - 1);
	to[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/*
 * FNV-1a: the number is stored in the cache, so it must be the same each time
 */
static uint64_t add(uint64_t hash, const char *text)
{
	for (const char *p = text; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t number_of(const char *process)
{
	char space[PATH_MAX], root[PATH_MAX];

	if (!read_link(process, "ns/mnt", space) || !read_link(process, "root", root))
		return 0;
	return add(add(UINT64_C(0xcbf29ce484222325), space), root) | 1;
}

uint64_t fs_view_of(pid_t pid)
{
	char text[16];
	uint64_t number;

	if (pid <= 0)
		return 0;
	(void)snprintf(text, sizeof(text), "%d", (int)pid);
	number = number_of(text);
	return number == number_of("self") ? 0 : number;
}

/* ---- hints: sentences about modules whose names are missing ---- */

static char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *format(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

static char *about_process(const struct name_table_state *state, size_t unknown)
{
	if (state->problem == TABLE_NO_TIME)
		return NULL; /* names.c has one sentence for all */
	if (state->problem == TABLE_UNREADABLE)
		return format(
		    "its /tmp/perf-PID.map is unreadable: %s", state->detail ? state->detail : "");
	if (state->problem == TABLE_OTHER_FILE)
		return format("%s %s outside of any module: its "
		              "/tmp/perf-PID.map is older than the process or "
		              "belongs to another user",
		    WORDS_COUNTED(unknown, "frame"), words_is(unknown));
	return format("%s %s outside of any module, as of code made at "
	              "run time; a /tmp/perf-PID.map would name %s: seep "
	              "record --runtime-names makes java, node and Python "
	              "3.12 or later write one (an earlier Python cannot)",
	    WORDS_COUNTED(unknown, "frame"), words_is(unknown), unknown == 1 ? "it" : "them");
}

static char *about_missing(const struct name_table_key *key, size_t unknown, const char *id)
{
	char *package = package_of(key->path), *text;

	text = format("%s: %s %s no name: it is stripped and its debug information "
	              "(build-id %s) is not here; install %s%s, or use --debug-dir or "
	              "--debuginfod",
	    key->path, WORDS_COUNTED(unknown, "frame"), words_has(unknown), *id ? id : "not known",
	    package ? package : "the debug package of what it belongs to",
	    package ? "-dbgsym or -dbg" : "");
	free(package);
	return text;
}

char *hints_map(const struct name_table_key *key, const struct name_table_state *state)
{
	uint64_t lines;

	if (key->kind != TABLE_PROCESS || !state->detail ||
	    (state->problem != TABLE_FINE && state->problem != TABLE_CUT_MAP))
		return NULL;
	lines = strtoull(state->detail, NULL, 10);
	if (lines == 0)
		return NULL;
	return format(
	    "a /tmp/perf-PID.map has %s, skipped", WORDS_COUNTED(lines, "malformed line"));
}

bool hints_is_lack(const struct name_table_state *state)
{
	return state->problem != TABLE_UNREADABLE && state->problem != TABLE_NO_ALT &&
	    state->problem != TABLE_NO_SPLIT && state->problem != TABLE_CUT_MAP;
}

char *hints_sentence(const struct name_table_key *key, const struct name_table_state *state,
    bool is_relative, size_t asked, size_t unknown)
{
	static const char lost[] =
	    "; it was loaded by a relative path, maybe from another directory: "
	    "--debug-dir DIR searches DIR for it";
	const char *detail = state->detail ? state->detail : "";
	char id[65], frames[WORDS_COUNTED_MAX];

	(void)words_counted(frames, unknown, "frame");
	if (key->kind == TABLE_PROCESS && state->problem == TABLE_CUT_MAP)
		return format("a /tmp/perf-PID.map has more than %d MiB or "
		              "%d million lines: only its end was read; %s "
		              "outside of modules %s no name",
		    PERFMAP_MAX_BYTES >> 20, PERFMAP_MAX_LINES / 1000000, frames,
		    words_has(unknown));
	if (key->kind == TABLE_PROCESS)
		return unknown > 0 ? about_process(state, unknown) : NULL;
	if (!strchr(key->path, '/') && !is_relative)
		return NULL; /* the kernel's vdso */
	buildid_hex(id, key->id, key->id_bytes);
	switch (state->problem) {
	case TABLE_NO_FILE:
		return format("no names from %s: %s; it had build-id %s%s", key->path, detail,
		    id[0] ? id : "none", is_relative ? lost : "");
	case TABLE_OTHER_FILE:
		return format("no names from %s: the file there now has build-id %s, but "
		              "the one that ran had %s%s",
		    key->path, detail, id, is_relative ? lost : "");
	case TABLE_NOT_ELF:
		return format("no names from %s: it is not an ELF file", key->path);
	case TABLE_UNREADABLE:
		return format("%s: its debug information is unreadable: %s; "
		              "%s",
		    key->path, detail,
		    unknown == asked ? "it gives no names" : "its names come from symbols alone");
	case TABLE_NO_ALT:
		return format("%s: a part of its debug information is "
		              "missing: the file of build-id %s, which dwz "
		              "made; install the rest of its debug package",
		    key->path, detail);
	case TABLE_NO_SPLIT:
		return format("%s: %s .dwo files of its debug information are "
		              "missing; inlined functions are not known there",
		    key->path, detail);
	case TABLE_NO_JAIL: /* names.c has one sentence for all of them */
	case TABLE_NO_TIME:
		return NULL;
	case TABLE_NO_DEBUG:
		return unknown > 0 ? about_missing(key, unknown, id) : NULL;
	case TABLE_FINE:
	default:
		return unknown > 0 ? format("%s: %s %s in no function that its symbols or "
		                            "debug information know",
		                         key->path, frames, words_is(unknown))
		                   : NULL;
	}
}

/* ---- package: which package of this Debian system a file belongs to ---- */

#define LISTS "/var/lib/dpkg/info"
#define USR   "/usr"

/* Is this line of a list the path, or the same file with /lib for /usr/lib? */
static bool is_path(const char *line, const char *path)
{
	if (strncmp(line, USR "/", sizeof(USR)) == 0 && strncmp(path, USR "/", sizeof(USR)) != 0)
		line += sizeof(USR) - 1;
	else if (strncmp(path, USR "/", sizeof(USR)) == 0 &&
	    strncmp(line, USR "/", sizeof(USR)) != 0)
		path += sizeof(USR) - 1;
	return strcmp(line, path) == 0;
}

static bool lists(int dir_fd, const char *name, const char *path)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[4096];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = is_path(line, path);
	}
	if (f)
		(void)fclose(f);
	else if (fd >= 0)
		close(fd);
	return found;
}

/* "libc6:amd64.list", "python3.11.list" */
static char *name_of(const char *file, const char *dot)
{
	const char *colon = strchr(file, ':');

	return strndup(file, (size_t)((colon ? colon : dot) - file));
}

char *package_of(const char *path)
{
	DIR *dir = opendir(LISTS);
	char *package = NULL;
	struct dirent *d;

	while (dir && !package && (d = readdir(dir))) {
		const char *dot = strrchr(d->d_name, '.');

		if (dot && strcmp(dot, ".list") == 0 && lists(dirfd(dir), d->d_name, path))
			package = name_of(d->d_name, dot);
	}
	if (dir)
		(void)closedir(dir);
	return package;
}
