/* synonyms.h - words of other tools, and what they are called here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SYNONYMS_H
#define SEEP_SYNONYMS_H

#include "command/cmd.h"

/* The text that synonyms_* fill, and return. */
enum { SYNONYMS_BYTES = 512 };

/*
 * A word in the place of a command: the name that another tool has for one
 * ("list"), or an argument without its command: a program, a recording, a PID.
 * Returns what to type, or NULL.
 */
const char *synonyms_command(const char *word, char text[SYNONYMS_BYTES]);

/* The same of an option, without its dashes, of the command c. */
const char *synonyms_option(const struct cmd *c, const char *name, char text[SYNONYMS_BYTES]);

/* The format of seep export that a word means, as "flamegraph"; or NULL. */
const char *synonyms_format(const char *word);

#endif
