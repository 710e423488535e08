/* demangle.c - symbol names as their authors wrote them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

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
