/* die.h - messages and progress on stderr. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DIE_H
#define SEEP_DIE_H

#include "base/std.h"

/*
 * One line on stderr with the prefix "seep: ", escaped as text_next() does,
 * whatever a name or a file contains. Apart from the line of progress, nothing
 * else in the command writes to stderr.
 */
void die_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * One more line that belongs to the previous one: indented, without the prefix.
 */
void die_more(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same, then exit(code). */
_Noreturn void die(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- progress: shows one line on a terminal if work takes over a second ---- */

/*
 * If stderr is a terminal, shows there what is being done: from a second after
 * the first call, a few times a second, on one line that is erased at the end.
 * A thread writes it, so that callers need not call anything in time. `what`
 * and `object` ("reading", "seep.data"; object may be NULL) are copied. Another
 * call names the next piece of work.
 */
void progress_begin(const char *what, const char *object);

/*
 * So much is done of so much (0: not known). Only two stores, so call it often.
 */
void progress_at(uint64_t done, uint64_t total);

/* Erases the line. Does nothing if there is none; safe to call twice. */
void progress_end(void);

/*
 * The same, and no line is shown again, because something else uses the
 * terminal.
 */
void progress_stop(void);

/*
 * Between these two calls the line is erased, so that another one can be
 * written to the terminal. Used by die_warn().
 */
void progress_pause(void);
void progress_resume(void);

#endif
