/* program.h - what a process is called: the program as it was started. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_PROGRAM_H
#define SEEP_REPORT_PROGRAM_H

#include "trace/format.h"

/*
 * "redis-server", where that is a link to the file redis-check-rdb: the last
 * part of argv[0], if it is a name of the executable here, or if neither is
 * here and it may be one. Else that of the executable's path; "(no name)".
 * Part of h, and not escaped.
 */
const char *program_name(const struct seg_header *h);

/*
 * The same, with nothing looked up: argv[0], if it may be the name of a file.
 * For lists, which have no time to ask.
 */
const char *program_started_as(const struct seg_header *h);

#endif
