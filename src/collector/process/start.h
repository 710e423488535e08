/* start.h - the start of a process: its segment, its tables, its threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_START_H
#define SEEP_START_H

#include "format/format.h"

/*
 * Once in the life of a process that was started by exec, by its first thread.
 * If `why` is a reason to decline, or if another one is found, there will be a
 * segment that says so, and nothing is recorded. A program that SEEP_ONLY
 * leaves out has none. argv may be NULL.
 */
void start_process(char **argv, char **envp, enum seg_inert why);

/*
 * By an event in a process that has not started, which may come before our
 * constructor: starts the process, if that is possible already. Unit tests link
 * without entry.c, because they start the collector themselves.
 */
void entry_first_event(void);

#endif
