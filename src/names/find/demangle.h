/* demangle.h - symbol names as their authors and runtimes wrote them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DEMANGLE_H
#define SEEP_DEMANGLE_H

#include "base/std.h"

/*
 * Demangles C++, Rust and D names, and removes symbol versions and suffixes of
 * the compiler such as ".constprop.0". Names are not trusted: one that would
 * get too long stays as it is. The caller frees the result; NULL: out of
 * memory. Not thread-safe.
 */
char *demangle_name(const char *symbol);

/*
 * SEG_API_NEW or SEG_API_NEW_ARRAY for any form of operator new, otherwise 0.
 */
uint8_t demangle_operator_new(const char *symbol);

/* ---- mapname: takes apart the names that runtimes write into /tmp/perf-PID.map ---- */

/*
 *   V8                JS:~leaf /a/b.js:2:14     LazyCompile:*f path:1:2
 *                     Function:, Eval:, Script: likewise
 *                     Builtin:X, BytecodeHandler:X, Handler:X, Stub:X, RegExp:X
 *   CPython           py::leaf:/a/b.py
 *   HotSpot           void com.x.Y.run(int)     Interpreter
 *   its agents        Lcom/x/Y;::run            com.x.Y.run
 *
 * The marks of V8 for its compilers (~ ^ + *) and its columns are left out.
 * Everything else is a function as it stands, of no language that we know.
 */
enum mapname_language {
	MAPNAME_NATIVE, /* or not known */
	MAPNAME_JS,
	MAPNAME_PYTHON,
	MAPNAME_JAVA,
	MAPNAME_LANGUAGES
};

/* Texts are parts of the name, and not terminated; function_len is not 0. */
struct mapname {
	enum mapname_language language;
	const char *function;
	size_t function_len;
	const char *file; /* NULL: not known */
	size_t file_len;
	uint32_t line;      /* where the function begins; 0: not known */
	bool is_descriptor; /* "com/x/Y;::run" stands for com.x.Y.run */
};

/* The text is not trusted; len > 0. */
void mapname_parse(const char *text, size_t len, struct mapname *ret);

/* Writes the function as it is shown; room > 0, a longer one is cut. */
void mapname_function(const struct mapname *m, char *to, size_t room);

/* The same, only the language; NULL is MAPNAME_NATIVE. */
enum mapname_language mapname_language(const char *text);

/* "js", "python", "java"; NULL: MAPNAME_NATIVE. */
const char *mapname_word(enum mapname_language language);

#endif
