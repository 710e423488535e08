/* name_opts.h - the options of all commands that turn addresses to names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_NAME_OPTS_H
#define SEEP_CLI_NAME_OPTS_H

#include "cli/opts.h"
#include "names/names.h"

/* Rows of a table for opts_parse(), filling a struct names_options. */
#define NAME_OPTS_ROWS(o) \
	{"debug-dir", 0, OPTS_PATHS, &(o)->debug_dirs, 0, "DIR", \
	    "look for debug information there, too"}, \
	    {"sysroot", 0, OPTS_TEXT, &(o)->sysroot, 0, "DIR", \
	        "the files that ran are below DIR"}, \
	    {"debuginfod", 0, OPTS_FLAG, &(o)->debuginfod, 0, NULL, \
	        "ask the servers of DEBUGINFOD_URLS for debug info"}, \
	    {"no-cache", 0, OPTS_FLAG, &(o)->no_cache, 0, NULL, \
	        "do not use the cache of names"}, \
	{ \
		"no-symbols", 0, OPTS_FLAG, &(o)->no_symbols, 0, NULL, \
		    "modules and offsets instead of names" \
	}

/* Never NULL: a directory that is not there, or no memory, ends the program. */
struct names *name_opts_open(
    const char *command, const struct names_options *o);

#endif
