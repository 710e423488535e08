/* name_opts.h - the options of all commands that print names of functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAME_OPTS_H
#define SEEP_NAME_OPTS_H

#include "command/options/opts.h"
#include "names/find/names.h"
#include "session/load/session.h"

/* They fill a struct names_options. */
extern const struct opts_option name_opts_rows[];

/* Exits with 2 if a directory of --debug-dir (NULL: none) does not exist. */
void name_opts_check(const char *command, const char *debug_dirs);

/*
 * For names_free(), never NULL. If a directory or memory is missing, the
 * program ends.
 */
struct names *name_opts_open(const char *command, const struct names_options *o);

/* Looks up the frames of all its processes together, at the first question. */
void name_opts_gather(struct names *names, const struct session *s);

#endif
