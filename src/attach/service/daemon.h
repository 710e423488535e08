/* daemon.h - which program a unit is about, as far as systemd says. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DAEMON_H
#define SEEP_DAEMON_H

#include "attach/service/quoting.h"
#include "attach/service/unit.h"

/*
 * The program of the main process, if the unit runs; otherwise those of
 * ExecStart=. Paths, each once, without scripts, shells and launchers (env, nice
 * and the like), which hide the program that they start. None: the user must say
 * it. -ENOMEM.
 */
int daemon_find(const struct unit *u, struct quoting_words *ret);

/*
 * The names of the programs for SEEP_ONLY, for free(): as the unit has them and
 * as the files are called that links lead to. -ENOMEM.
 */
int daemon_names(const struct quoting_words *found, char **ret);

#endif
