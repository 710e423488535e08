/* shell_complete.h - completions for shells, and suggestions for misspelt words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SHELL_COMPLETE_H
#define SEEP_SHELL_COMPLETE_H

#include "base/std.h"
#include "command/options/opts.h"

/* The kinds of words that may stand in a place: these bits, and fixed words. */
enum complete_kind {
	COMPLETE_FILE = 1,
	COMPLETE_DIR = 2,
	COMPLETE_PID = 4,      /* of a traced process */
	COMPLETE_CMD = 8,      /* a program, then its own arguments */
	COMPLETE_COMMAND = 16, /* of ours */
	COMPLETE_UNIT = 32,    /* a service of systemd */
};

struct shell_complete_place {
	unsigned kinds;
	char words[256]; /* "text json"; "": none */
	bool optional;   /* "[INPUT]" */
	bool repeats;    /* "FILE..." */
};

/*
 * Reads an argument as the help shows it: "FILE", "[INPUT]", "text|json",
 * "CMD|PID", "ARG...". From a text of operands it takes the first; returns
 * where the next begins, or NULL at the end.
 */
const char *shell_complete_place(const char *text, struct shell_complete_place *ret);

/* False: the option takes no argument, or only optionally. */
bool shell_complete_argument(const struct opts_option *o, struct shell_complete_place *ret);

/* The bytes of the first clause of a help text. Lists have no room for more. */
size_t shell_complete_gist(const char *meaning);

/* A place in a template, and the function that fills it for each command. */
struct complete_hole {
	const char *name;
	void (*fill)(FILE *out, const struct cmd *c);
};

/* Writes a template; the last of `holes` has no name. */
void shell_complete_fill(FILE *out, const char *template, const struct complete_hole *holes);

/* Whole scripts. */
void shell_complete_bash(FILE *out);
void shell_complete_zsh(FILE *out);
void shell_complete_fish(FILE *out);

/* ---- templates: texts from files of their own, linked into the program ---- */

/* src/command/options/completions/seep.*, NUL terminated. A line "#@ NAME" is replaced. */
extern const char templates_bash[];
extern const char templates_zsh[];
extern const char templates_fish[];

/* ---- suggest: finds the word that a misspelt one may have meant ---- */

/* The most similar word so far. */
struct suggest {
	const char *word; /* the word that was typed */
	const char *best; /* NULL: none is similar */
	unsigned distance;
};

/* `candidate` must outlive s. Of equally similar ones the first wins. */
void suggest_offer(struct suggest *s, const char *candidate);

#endif
