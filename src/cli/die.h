/* die.h - words to the user on stderr, and the end of the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_DIE_H
#define SEEP_CLI_DIE_H

/* One line on stderr, prefixed "seep: "; control bytes are escaped. */
void die_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same, then exit(code). */
_Noreturn void die(int code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
