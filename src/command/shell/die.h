/* die.h - prints messages on stderr, and ends the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DIE_H
#define SEEP_DIE_H

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

#endif
