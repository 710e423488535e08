/* older_opts.h - --older-than TIME: blocks by age. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OLDER_OPTS_H
#define SEEP_OLDER_OPTS_H

#include "view/sites/older.h"

#define OLDER_OPTS_MEANING \
	"show live blocks older than TIME (30s, 10m, 2h): to a tenth of a " \
	"second while the process runs; in steps that double, from 1.6s on, " \
	"once it has exited"

/*
 * For older_free(); NULL if age_ns is 0, which means not wanted. Mistakes end
 * the program: one line, exit 2.
 */
struct older *older_opts_find(const char *command, const struct session *s, uint64_t age_ns);

/* Prints on stderr how exact the ages are, if there is something to say. */
void older_opts_warn(const char *command, const struct older *o);

#endif
