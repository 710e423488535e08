/* program.h - the name of a process: its program as it was started. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROGRAM_H
#define SEEP_PROGRAM_H

#include "format/format.h"

/*
 * "redis-server", even if that is a link to the file redis-check-rdb: the last
 * part of argv[0], if it is a name of the executable on this machine, or if
 * neither file is here and it may be one. Otherwise the last part of the
 * executable's path, or "(no name)". Points into h; not escaped.
 */
const char *program_name(const struct seg_header *h);

/*
 * The same, with nothing looked up: argv[0], if it may be the name of a file.
 * For lists, which have no time to ask.
 */
const char *program_started_as(const struct seg_header *h);

#endif
