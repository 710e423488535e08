/* values.h - checks the argument of an option and stores it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VALUES_H
#define SEEP_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "command/options/opts.h"

/* A mistake ends the program: one line, exit 2. */
void values_take(const char *command, const struct opts_option *o, const char *arg, void *field);

/* "4096", "512k", "1.5MiB", "10MB"; false: it is none, or beyond 2^63. */
bool values_size(const char *text, uint64_t *ret);

/* "20ms", "1.5s", "10m", "2h", "0"; false: it is none, or beyond 2^63 ns. */
bool values_time(const char *text, uint64_t *ret_ns);

/* Which of "one|two|three" it is, or -1. */
int values_word(const char *words, const char *word);

#endif
