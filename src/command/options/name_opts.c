/* name_opts.c - the options of all commands that print names of functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/view_opts.h"

#include "command/cmd.h"
#include "command/shell/die.h"

#define AT(field) offsetof(struct names_options, field)

enum { PATIENCE = 60, PATIENCE_WITH_SERVERS = 600 }; /* seconds */

const struct opts_option name_opts_rows[] = {
    {"debug-dir", 0, OPTS_PATHS, AT(debug_dirs), 0, "DIR",
        "search DIR for debug information and modules"},
    {"sysroot", 0, OPTS_TEXT, AT(sysroot), 0, "DIR",
        "look below DIR for the programs and libraries that ran"},
    {"debuginfod", 0, OPTS_FLAG, AT(debuginfod), 0, NULL,
        "ask the servers in DEBUGINFOD_URLS for debug information"},
    {"no-cache", 0, OPTS_FLAG, AT(no_cache), 0, NULL, "do not use the cache of names"},
    {"no-symbols", 0, OPTS_FLAG, AT(no_symbols), 0, NULL,
        "print modules and offsets instead of names"},
    {"patience", 0, OPTS_COUNT, AT(seconds), 0, "SECONDS",
        "stop looking for names after SECONDS (default 60; with --debuginfod "
        "600)"},
    {0},
};

static void check_directory(const char *command, const char *option, const char *path, size_t len)
{
	char copy[4096];
	struct stat st;

	(void)snprintf(copy, sizeof(copy), "%.*s", (int)len, path);
	if (stat(copy, &st) < 0 || !S_ISDIR(st.st_mode))
		die(CMD_USAGE, "%s: %s: no such directory: \"%s\"", command, option, copy);
}

static void tell(void *context, const char *path)
{
	(void)context;
	progress_begin("reading debug information of", path);
}

void name_opts_check(const char *command, const char *debug_dirs)
{
	for (const char *p = debug_dirs; p && *p;) {
		size_t len = strcspn(p, ":");

		check_directory(command, "--debug-dir", p, len);
		p += len + (p[len] == ':');
	}
}

struct names *name_opts_open(const char *command, const struct names_options *o)
{
	struct names_options options = *o;
	struct names *names;

	name_opts_check(command, o->debug_dirs);
	if (o->sysroot)
		check_directory(command, "--sysroot", o->sysroot, strlen(o->sysroot));
	options.progress = tell;
	if (options.seconds == 0)
		options.seconds = o->debuginfod ? PATIENCE_WITH_SERVERS : PATIENCE;
	if (names_new(&options, &names) < 0)
		die(CMD_INPUT, "%s: out of memory", command);
	return names;
}

void name_opts_gather(struct names *names, const struct session *s)
{
	/* frames without memory for this are looked up later, one by one */
	for (size_t i = 0; i < s->count; i++)
		(void)names_gather(names, s->processes[i]);
}
