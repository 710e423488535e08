/* words.h - counts, sizes and durations as people read them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WORDS_H
#define SEEP_WORDS_H

#include <stdint.h>

enum { WORDS_MAX = 32, WORDS_COUNTED = 2 * WORDS_MAX };

/* "1,234,567" */
const char *words_count(char buffer[WORDS_MAX], uint64_t n);

/* The ending that makes a noun plural: "s" or "es", or "" if n is 1. */
const char *words_ending(uint64_t n, const char *noun);

/* "1 block", "1,234 blocks", "2 processes"; give the noun in the singular. */
const char *words_counted(char buffer[WORDS_COUNTED], uint64_t n, const char *noun);

/*
 * "was" or "were", "is" or "are", "has" or "have": the verb that fits n things.
 */
const char *words_was(uint64_t n);
const char *words_is(uint64_t n);
const char *words_has(uint64_t n);

/* "1.2 MiB", "512 bytes": for sentences */
const char *words_bytes(char buffer[WORDS_MAX], uint64_t n);

/* "12 ms", "3.4 s", "5 min 3 s", "2 h 5 min" */
const char *words_time(char buffer[WORDS_MAX], uint64_t ns);

#endif
