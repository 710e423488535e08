/* demangle.c - symbol names as their authors wrote them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

#include "format/format.h"

enum {
	MAX_MANGLED = 16384, /* longer names are shown mangled */
	MAX_NAME = 65536,
};

static const char *const suffixes[] = {
    ".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".localalias", ".llvm."};

/* Length of the symbol without its version and the compiler's suffixes. */
static size_t plain_length(const char *symbol)
{
	size_t len = strcspn(symbol, "@");

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *at = strstr(symbol, suffixes[i]);

		if (at && at > symbol && (size_t)(at - symbol) < len)
			len = (size_t)(at - symbol);
	}
	return len ? len : strlen(symbol);
}

/* The output of a demangler so far. */
struct spoken {
	char *text;
	size_t len, room;
	jmp_buf too_much;
};

/*
 * A short symbol can stand for gigabytes, because each part can name the part
 * before it twice. The only way to stop a demangler is a jump. It keeps its
 * data on the stack, so nothing leaks.
 */
static void hear(const char *text, size_t len, void *context)
{
	struct spoken *s = context;

	if (s->room - s->len <= len) {
		size_t room = s->room * 2 + len + 256;
		char *more;

		if (room > (size_t)4 * MAX_NAME)
			longjmp(s->too_much, 1);
		more = realloc(s->text, room);
		if (!more)
			longjmp(s->too_much, 1);
		s->text = more;
		s->room = room;
	}
	memcpy(s->text + s->len, text, len);
	s->len += len;
	s->text[s->len] = '\0';
}

typedef int demangler(const char *, int, demangle_callbackref callback, void *opaque);

/* The caller frees it; may be NULL. */
static char *demangle_with(demangler *way, const char *symbol, int options)
{
	struct spoken *s = calloc(1, sizeof(*s));
	char *text = NULL;

	if (!s)
		return NULL;
	if (setjmp(s->too_much) == 0 && way(symbol, options, hear, s) && s->len > 0 &&
	    s->len <= MAX_NAME) {
		text = s->text;
		s->text = NULL;
	}
	free(s->text);
	free(s);
	return text;
}

static char *demangle_plain(const char *plain)
{
	char *name = NULL;

	switch (plain[1]) {
	case 'R':
		return demangle_with(rust_demangle_callback, plain, 0);
	case 'D':
		name = dlang_demangle(plain, 0);
		if (name && strlen(name) > MAX_NAME) {
			free(name);
			name = NULL;
		}
		return name;
	case 'Z':
		name = demangle_with(rust_demangle_callback, plain, 0);
		if (!name)
			name = demangle_with(
			    cplus_demangle_v3_callback, plain, DMGL_PARAMS | DMGL_ANSI);
		return name;
	default:
		return NULL;
	}
}

char *demangle_name(const char *symbol)
{
	char *plain = strndup(symbol, plain_length(symbol));
	char *name = NULL;

	if (plain && plain[0] == '_' && strlen(plain) <= MAX_MANGLED)
		name = demangle_plain(plain);
	if (!name)
		return plain;
	free(plain);
	return name;
}

uint8_t demangle_operator_new(const char *symbol)
{
	static const char *const tails[] = {
	    "", "RKSt9nothrow_t", "St11align_val_t", "St11align_val_tRKSt9nothrow_t"};
	size_t len = plain_length(symbol);
	uint8_t api;

	if (strncmp(symbol, "_Znwm", 5) == 0)
		api = SEG_API_NEW;
	else if (strncmp(symbol, "_Znam", 5) == 0)
		api = SEG_API_NEW_ARRAY;
	else
		return 0;
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
		if (strlen(tails[i]) == len - 5 && strncmp(symbol + 5, tails[i], len - 5) == 0)
			return api;
	return 0;
}

/* ---- mapname: takes apart the names that runtimes write into /tmp/perf-PID.map ---- */

static const char anonymous[] = "(anonymous)";

/* A part of the text. */
struct part {
	const char *at, *end;
};

static size_t length(struct part p)
{
	return (size_t)(p.end - p.at);
}

/* Takes `prefix` away from the front, if it is there. */
static bool take(struct part *p, const char *prefix)
{
	size_t n = strlen(prefix);

	if (length(*p) < n || memcmp(p->at, prefix, n) != 0)
		return false;
	p->at += n;
	return true;
}

/* Takes ":N" away from the end, if it is there. */
static bool take_number(struct part *p, uint32_t *ret)
{
	const char *at = p->end;
	uint64_t v = 0;

	while (at > p->at && at[-1] >= '0' && at[-1] <= '9')
		at--;
	if (at == p->end || p->end - at > 9 || at == p->at || at[-1] != ':')
		return false;
	for (const char *d = at; d < p->end; d++)
		v = v * 10 + (uint64_t)(*d - '0');
	*ret = (uint32_t)v;
	p->end = at - 1;
	return true;
}

static void set_function(struct mapname *m, const char *at, const char *end)
{
	m->function = at;
	m->function_len = (size_t)(end - at);
}

/*
 * Where the path begins in "get size /a b/c.js": both parts may have spaces. It
 * is the first text that looks like a path, else the last word.
 */
static const char *find_path(struct part p)
{
	static const char *const begins[] = {"/", "file:", "node:", "webpack:"};
	const char *found = NULL;

	for (const char *at = p.at; at < p.end; at++) {
		if (at > p.at && at[-1] != ' ')
			continue;
		for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
			struct part rest = {at, p.end};

			if (take(&rest, begins[i]))
				return at;
		}
		found = at;
	}
	return found;
}

/* "~leaf /a/b.js:2:14", behind the kind of code. */
static void parse_js(struct part p, struct mapname *m)
{
	uint32_t column, line = 0;
	struct part name = p;
	const char *path;

	m->language = MAPNAME_JS;
	if (name.at < name.end && *name.at && strchr("~^+*", *name.at))
		name.at++;
	p.at = name.at;
	if (take_number(&p, &column) && !take_number(&p, &line))
		line = column;
	path = line > 0 ? find_path(p) : NULL;
	if (path) {
		struct part file = {path, p.end};

		(void)take(&file, "file://");
		m->file = file.at;
		m->file_len = length(file);
		m->line = line;
		name.end = path;
		if (m->file_len == 0)
			m->file = NULL;
	}
	while (name.end > name.at && name.end[-1] == ' ')
		name.end--;
	if (name.at == name.end)
		set_function(m, anonymous, anonymous + sizeof(anonymous) - 1);
	else
		set_function(m, name.at, name.end);
}

static bool try_v8(struct part p, struct mapname *m)
{
	static const char *const functions[] = {
	    "JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};
	static const char *const parts[] = {
	    "Builtin:", "BytecodeHandler:", "Handler:", "Stub:", "RegExp:"};
	struct part rest;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		rest = p;
		if (take(&rest, functions[i]) && length(rest) > 0) {
			parse_js(rest, m);
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		rest = p;
		if (take(&rest, parts[i])) {
			m->language = MAPNAME_JS;
			return true;
		}
	}
	return false;
}

/* A qualified name of Python has no colon. */
static bool try_python(struct part p, struct mapname *m)
{
	const char *colon;

	if (!take(&p, "py::") || length(p) == 0)
		return false;
	colon = memchr(p.at, ':', length(p));
	if (!colon || colon == p.at)
		return false;
	m->language = MAPNAME_PYTHON;
	set_function(m, p.at, colon);
	if (colon + 1 < p.end) {
		m->file = colon + 1;
		m->file_len = (size_t)(p.end - m->file);
	}
	return true;
}

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	    c == '_' || c == '$' || (c & 0x80);
}

/*
 * Is it "com.x.Y.run"? The method may be <init>. A class before it begins with
 * a capital letter, which other words with dots do not.
 */
static bool is_java_method(struct part p)
{
	bool begins = true, has_class = false;
	const char *dot = memrchr(p.at, '.', length(p));

	if (!dot || dot + 1 == p.end)
		return false;
	for (const char *at = p.at; at < dot; at++) {
		if (*at == '.' || *at == '/') {
			if (begins)
				return false;
			begins = true;
			continue;
		}
		if (!is_name_byte(*at))
			return false;
		has_class |= begins && *at >= 'A' && *at <= 'Z';
		begins = false;
	}
	for (const char *at = dot + 1; at < p.end; at++)
		if (!is_name_byte(*at) && *at != '<' && *at != '>')
			return false;
	return has_class && !begins;
}

static bool try_java(struct part p, struct mapname *m)
{
	const char *semicolon, *bracket, *space;
	struct part rest = p, name;

	if (take(&rest, "Interpreter") && length(rest) == 0) {
		m->language = MAPNAME_JAVA;
		return true;
	}
	rest = p;
	if (take(&rest, "L") && length(rest) > 0) {
		semicolon = memmem(rest.at, length(rest), ";::", 3);
		if (semicolon && semicolon > rest.at && semicolon + 3 < rest.end) {
			m->language = MAPNAME_JAVA;
			m->is_descriptor = true;
			set_function(m, rest.at, rest.end);
			return true;
		}
	}
	name = p;
	bracket = memchr(p.at, '(', length(p));
	if (bracket) {
		if (p.end[-1] != ')')
			return false;
		name.end = bracket;
		/* what it returns is in front */
		space = memrchr(p.at, ' ', (size_t)(bracket - p.at));
		if (space)
			name.at = space + 1;
	}
	if (!is_java_method(name))
		return false;
	m->language = MAPNAME_JAVA;
	set_function(m, name.at, name.end);
	return true;
}

void mapname_parse(const char *text, size_t len, struct mapname *ret)
{
	struct part p = {text, text + len};

	*ret = (struct mapname){.function = text, .function_len = len};
	if (len > 0 && !try_v8(p, ret) && !try_python(p, ret))
		(void)try_java(p, ret);
}

void mapname_function(const struct mapname *m, char *to, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < m->function_len && n + 1 < room; i++) {
		char c = m->function[i];

		if (m->is_descriptor && c == '/') {
			c = '.';
		} else if (m->is_descriptor && c == ';') {
			c = '.';
			i += 2; /* the two colons */
		}
		to[n++] = c;
	}
	to[n] = '\0';
}

enum mapname_language mapname_language(const char *text)
{
	struct mapname m;

	if (!text || !*text)
		return MAPNAME_NATIVE;
	mapname_parse(text, strlen(text), &m);
	return m.language;
}

const char *mapname_word(enum mapname_language language)
{
	static const char *const words[MAPNAME_LANGUAGES] = {
	    [MAPNAME_JS] = "js", [MAPNAME_PYTHON] = "python", [MAPNAME_JAVA] = "java"};

	return (unsigned)language < MAPNAME_LANGUAGES ? words[language] : NULL;
}
