/* doctor_names.c - modules whose functions, files or lines have no names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/doctor/doctor_parts.h"
#include "names/dwarf/buildid.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum {
	NAMED_MAX = 8, /* lines; the rest is counted */
	MODULES_MAX = 512,
};

#define DEBUG_DIR "/usr/lib/debug"

struct doctor_module {
	char *path;
	char id[65]; /* build-id, or "" */
	bool has_symbols;
};

/* Where debuggers look for a file of this name. */
static bool has_linked(const char *path, const char *link)
{
	static const char *const places[][2] = {{"", ""}, {"", "/.debug"}, {DEBUG_DIR, ""}};
	const char *slash = strrchr(path, '/');
	char file[PATH_MAX];

	if (!link[0] || !slash)
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int n = snprintf(file, sizeof(file), "%s%.*s%s/%s", places[i][0],
		    (int)(slash - path), path, places[i][1], link);

		if (n < PATH_MAX && strcmp(file, path) != 0 && access(file, R_OK) == 0)
			return true;
	}
	return false;
}

static bool has_by_id(const char *id)
{
	char file[PATH_MAX];

	if (strlen(id) < 4)
		return false;
	(void)snprintf(file, sizeof(file), DEBUG_DIR "/.build-id/%.2s/%s.debug", id, id + 2);
	return access(file, R_OK) == 0;
}

void doctor_names_add(void *context, const char *path, const struct elf_facts *facts)
{
	struct doctor_names *n = context;
	struct doctor_module m = {.has_symbols = facts->has_symbols};

	if (facts->locks_all && !n->locker[0])
		(void)snprintf(n->locker, sizeof(n->locker), "%s", text_base(path));
	if (n->seen++ >= MODULES_MAX)
		return;
	buildid_hex(m.id, facts->id, facts->id_bytes);
	if (facts->has_debug || has_by_id(m.id) || has_linked(path, facts->debuglink))
		return;
	m.path = strdup(path);
	if (!m.path || room_make(&n->list, &n->room, n->count, sizeof(m)) < 0) {
		free(m.path);
		return;
	}
	n->list[n->count++] = m;
}

/* The package of debug information that Debian makes of a package. */
static void put_package(FILE *out, const char *package)
{
	size_t len = strcspn(package, ":");

	if (!strncmp(package, "libc6:", 6) || !strcmp(package, "libc6"))
		(void)fputs("install libc6-dbg", out);
	else
		(void)fprintf(
		    out, "install %.*s-dbgsym (or %.*s-dbg)", (int)len, package, (int)len, package);
}

static char *advice_for(const struct doctor_module *m, const char *package)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (package)
		put_package(out, package);
	else
		(void)fputs("if you build it: compile with -g and do not strip it", out);
	if (m->id[0])
		(void)fprintf(
		    out, ", or use --debuginfod with DEBUGINFOD_URLS (build-id %s)", m->id);
	return fclose(out) == 0 ? text : NULL;
}

static void list_some(struct doctor_report *r, const struct doctor_names *n, size_t count)
{
	const char *paths[NAMED_MAX];
	char *owners[NAMED_MAX] = {0};

	for (size_t i = 0; i < count; i++)
		paths[i] = n->list[i].path;
	doctor_packages(paths, owners, count);
	for (size_t i = 0; i < count; i++) {
		const struct doctor_module *m = &n->list[i];
		char *advice = advice_for(m, owners[i]);

		doctor_add(r, DOCTOR_WARN, "debug", advice, "%s has no debug information: %s",
		    m->path,
		    m->has_symbols ? "functions have names, but no files and lines"
		                   : "of its functions only the exported ones have names");
		free(advice);
		free(owners[i]);
	}
}

void doctor_names(struct doctor_report *r, struct doctor_names *n)
{
	size_t named = n->count < NAMED_MAX ? n->count : NAMED_MAX;
	char text[WORDS_COUNTED];

	r->group = "names";
	if (n->seen > n->count)
		doctor_add(r, DOCTOR_OK, "debug", NULL, "%s with debug information",
		    words_counted(text, n->seen - n->count, "module"));
	list_some(r, n, named);
	if (n->count > named)
		doctor_add(r, DOCTOR_WARN, "debug", NULL, "%s without it",
		    words_counted(text, n->count - named, "more module"));
	for (size_t i = 0; i < n->count; i++)
		free(n->list[i].path);
	free(n->list);
	*n = (struct doctor_names){0};
}
