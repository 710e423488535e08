/* progress.h - one line on a terminal for work that takes over a second. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_PROGRESS_H
#define SEEP_CLI_PROGRESS_H

#include <stdint.h>

/*
 * Says on stderr, if that is a terminal, what is being done, from a second
 * after the first call on, a few times a second, on one line that is erased at
 * the end. A thread of its own writes it: nothing else needs to hurry back.
 * `what` and `object` ("reading", "seep.data"; object may be NULL) are copied.
 * Calling it again names the next piece of work.
 */
void progress_begin(const char *what, const char *object);

/* So far, of so many (0: not known). Two stores; call it as often as you like. */
void progress_at(uint64_t done, uint64_t total);

/* Erases the line. Does nothing if there is none; safe to call twice. */
void progress_end(void);

/* The same, and there is none any more: somebody else has the terminal. */
void progress_stop(void);

/*
 * The line is away between these two, so that another may be written to the
 * terminal. Used by die_warn().
 */
void progress_pause(void);
void progress_resume(void);

#endif
