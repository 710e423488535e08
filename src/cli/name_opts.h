/* name_opts.h - the options of all commands that turn addresses to names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_NAME_OPTS_H
#define SEEP_CLI_NAME_OPTS_H

#include "cli/opts.h"
#include "names/names.h"
#include "reader/session.h"

/* They fill a struct names_options. */
extern const struct opts_option name_opts_rows[];

/* A directory of --debug-dir (NULL: none) that is not there is exit 2. */
void name_opts_check(const char *command, const char *debug_dirs);

/*
 * For names_free(), never NULL. If a directory is missing, or memory, the
 * program ends.
 */
struct names *name_opts_open(
    const char *command, const struct names_options *o);

/* The frames of all its processes are found together, at the first question. */
void name_opts_gather(struct names *names, const struct session *s);

#endif
