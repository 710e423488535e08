/* entry.h - what the loader and the first event call. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ENTRY_H
#define SEEP_ENTRY_H

/*
 * By an event in a process that has not started, which may come before our
 * constructor: starts the process, if that is possible already. Unit tests link
 * without entry.c, because they start the collector themselves.
 */
void entry_first_event(void);

#endif
