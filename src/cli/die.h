/* die.h - words to the user on stderr, and the end of the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_DIE_H
#define SEEP_CLI_DIE_H

/*
 * One line on stderr, prefixed "seep: ", escaped as text_next() does: whatever
 * a name or a file has in it. Nothing else of the command writes to stderr but
 * the line of progress.
 */
void die_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One more line to the one before: indented, without the prefix. */
void die_more(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same, then exit(code). */
_Noreturn void die(int code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
