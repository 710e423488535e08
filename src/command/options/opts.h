/* opts.h - parses options by tables; a mistake is one line and exit 2. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OPTS_H
#define SEEP_OPTS_H

#include "base/std.h"

#include <regex.h>

#include "command/cmd.h"

/*
 * How an option sets its field in the options struct. All kinds from OPTS_TEXT
 * on take an argument.
 */
enum opts_kind {
	OPTS_FLAG,   /* bool: becomes true */
	OPTS_CHOICE, /* int: becomes .set */
	/*
	 * uint64_t: ns, as OPTS_TIME, in --name=TIME; without =TIME: .set
	 * seconds
	 */
	OPTS_EVERY,
	/* uint64_t: bytes, as OPTS_SIZE, in --name=SIZE; else .set MiB */
	OPTS_UP_TO,
	OPTS_TEXT,    /* const char *: the argument; a FILE or DIR is not "" */
	OPTS_COUNT,   /* unsigned: a decimal number up to 1e9 */
	OPTS_PERCENT, /* double: 0..100 */
	OPTS_SIZE,    /* uint64_t: bytes, as 4096, 512k, 1.5MiB, 10MB (1e7) */
	OPTS_TIME,    /* uint64_t: ns, as 20ms, 1.5s, 10m, 2h; 0 needs no unit */
	OPTS_SINCE,   /* uint64_t: ns, as OPTS_TIME, or 12.34: seconds */
	OPTS_WORD,    /* int: which of .arg ("text|json"), from 0 */
	OPTS_RANGE,   /* const char *: "" or an argument with ".." in it */
	OPTS_PATHS,   /* const char *: those of all occurrences, joined by ":" */
	OPTS_LIST,    /* struct opts_list: the arguments of all occurrences */
	OPTS_REGEXP,  /* struct opts_regexp: extended; several: any of them */
};

struct opts_list {
	const char **items;
	size_t count;
};

struct opts_regexp {
	char *source;
	regex_t *regexp; /* NULL: not given */
};

/*
 * One option. Completions use `arg`: for FILE, DIR, PID, INPUT and "one|two"
 * they offer these, for anything else nothing.
 */
struct opts_option {
	const char *name; /* without "--"; NULL ends the table */
	char letter;      /* short form, or 0 */
	enum opts_kind kind;
	size_t at;           /* offsetof its field in the struct of the table */
	int set;             /* for OPTS_CHOICE */
	const char *arg;     /* its argument, as help shows it; or NULL */
	const char *meaning; /* a phrase, or sentences; wrapped by help */
};

/* Options that belong together; a table without rows ends the groups. */
struct opts_group {
	const char *title; /* in the help; NULL: "Options" */
	const struct opts_option *rows;
	size_t at; /* of the struct its rows fill in the command's own */
};

/*
 * Fills `values`, a struct of the command. Accepts options in any place up to
 * "--", or up to the operand called CMD. Moves the operands to the front of
 * argv[1..] and returns their number, which c->operands allows. --help prints
 * and exits with 0. All memory is kept as long as the program runs.
 */
int opts_parse(const struct cmd *c, int argc, char **argv, void *values);

/* ---- values: checks the argument of an option and stores it ---- */

/* A mistake ends the program: one line, exit 2. */
void values_take(const char *command, const struct opts_option *o, const char *arg, void *field);

/* "4096", "512k", "1.5MiB", "10MB"; false: it is none, or beyond 2^63. */
bool values_size(const char *text, uint64_t *ret);

/* "20ms", "1.5s", "10m", "2h", "0"; false: it is none, or beyond 2^63 ns. */
bool values_time(const char *text, uint64_t *ret_ns);

/* Which of "one|two|three" it is, or -1. */
int values_word(const char *words, const char *word);

/* ---- help: prints the texts of --help, made from the tables ---- */

/*
 * Prints usage, description and options to stdout. Returns as output_flush().
 */
int help_command(const struct cmd *c);

/* Prints the list of commands; returns the same. */
int help_all(void);

/* Prints one line with the most similar command, and exits with 2. */
_Noreturn void help_die_unknown(const char *word);

#endif
