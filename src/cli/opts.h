/* opts.h - options from a table; a mistake is one line and exit 2. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_OPTS_H
#define SEEP_CLI_OPTS_H

#include <stdbool.h>

enum opts_kind {
	OPTS_FLAG,    /* bool *: becomes true */
	OPTS_CHOICE,  /* int *: becomes .set */
	OPTS_TEXT,    /* const char **: the argument */
	OPTS_PATHS,   /* const char **: all such arguments, ':' between */
	OPTS_COUNT,   /* unsigned *: a decimal number */
	OPTS_PERCENT, /* double *: 0..100 */
	OPTS_WORD,    /* int *: which of .arg ("text|json"), from 0 */
	OPTS_RANGE,   /* const char **: "" or an argument with ".." in it */
};

struct opts_option {
	const char *name; /* without "--"; NULL ends the table */
	char letter;      /* short form, or 0 */
	enum opts_kind kind;
	void *value;
	int set;             /* for OPTS_CHOICE */
	const char *arg;     /* its argument, as help shows it */
	const char *meaning; /* one line of help */
};

/*
 * Takes options wherever they stand, up to "--"; the other arguments move to
 * the front of argv[1..]; returns how many they are. --help prints usage and
 * table to stdout and exits 0. argv[0] is the command's name. `usage` is what
 * follows "seep NAME", `about` a sentence or more.
 */
int opts_parse(int argc, char **argv, const struct opts_option *table,
    const char *usage, const char *about);

#endif
