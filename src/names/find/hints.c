/* hints.c - sentences about modules whose names are missing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/hints.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/dwarf/buildid.h"
#include "names/find/package.h"
#include "names/dwarf/perfmap.h"
#include "kit/words/words.h"

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
	char frames[WORDS_COUNTED];

	if (state->problem == TABLE_NO_TIME)
		return NULL; /* names.c has one sentence for all */
	if (state->problem == TABLE_UNREADABLE)
		return format(
		    "its /tmp/perf-PID.map is unreadable: %s", state->detail ? state->detail : "");
	if (state->problem == TABLE_OTHER_FILE)
		return format("%s %s outside of any module: its "
		              "/tmp/perf-PID.map is older than the process or "
		              "belongs to another user",
		    words_counted(frames, unknown, "frame"), words_is(unknown));
	return format("%s %s outside of any module, as of code made at "
	              "run time; a /tmp/perf-PID.map would name %s: seep "
	              "record --runtime-names makes java, node and Python "
	              "3.12 or later write one (an earlier Python cannot)",
	    words_counted(frames, unknown, "frame"), words_is(unknown),
	    unknown == 1 ? "it" : "them");
}

static char *about_missing(const struct name_table_key *key, size_t unknown, const char *id)
{
	char *package = package_of(key->path), *text;
	char frames[WORDS_COUNTED];

	text = format("%s: %s %s no name: it is stripped and its debug information "
	              "(build-id %s) is not here; install %s%s, or use --debug-dir or "
	              "--debuginfod",
	    key->path, words_counted(frames, unknown, "frame"), words_has(unknown),
	    *id ? id : "not known", package ? package : "the debug package of what it belongs to",
	    package ? "-dbgsym or -dbg" : "");
	free(package);
	return text;
}

char *hints_map(const struct name_table_key *key, const struct name_table_state *state)
{
	uint64_t lines;
	char words[WORDS_COUNTED];

	if (key->kind != TABLE_PROCESS || !state->detail ||
	    (state->problem != TABLE_FINE && state->problem != TABLE_CUT_MAP))
		return NULL;
	lines = strtoull(state->detail, NULL, 10);
	if (lines == 0)
		return NULL;
	return format(
	    "a /tmp/perf-PID.map has %s, skipped", words_counted(words, lines, "malformed line"));
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
	char id[65], frames[WORDS_COUNTED];

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
