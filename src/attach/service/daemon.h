/* daemon.h - which program a unit is about, behind shells and wrappers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DAEMON_H
#define SEEP_DAEMON_H

#include "attach/service/quoting.h"
#include "attach/service/unit.h"

/*
 * The programs that the main process of the unit becomes or starts, as paths
 * of executables, each once: /usr/sbin/mariadbd of
 *
 *	ExecStart=/bin/sh -c "...; exec /usr/sbin/mariadbd $OPTIONS"
 *
 * If the unit runs, and its main process is no shell and none of these, that
 * process decides. In command lines env, nice, numactl and the like are skipped,
 * of `sh -c` the program after exec or else the last one is taken, and a script
 * is searched for exec or for the one program that it names. All of these texts
 * are guessed at and never run.
 *
 * None: it could not be found out. -ENOMEM.
 */
int daemon_find(const struct unit *u, struct quoting_words *ret);

/*
 * The same for one command line, given as its words: 1 if a program was added,
 * 0 if none was found; -ENOMEM.
 */
int daemon_find_in(const char *root, char *const *argv, size_t count, struct quoting_words *ret);

/*
 * The names of the programs for SEEP_ONLY, for free(): as the unit has them and
 * as the files are called that links lead to. -ENOMEM.
 */
int daemon_names(const char *root, const struct quoting_words *found, char **ret);

#endif
