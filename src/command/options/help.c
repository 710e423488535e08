/* help.c - prints the texts of --help, made from the tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/opts.h"

#include "command/shell/die.h"
#include "command/shell/input.h"
#include "command/shell/output.h"
#include "command/options/shell_complete.h"

enum { WIDTH = 79, MEANING = 27, FORM_MAX = 128 };

/* Words of `text` from column `at` on; further lines begin at `indent`. */
static void wrap(const char *text, int at, int indent)
{
	bool first = true;

	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (!first && at + 1 + len > WIDTH) {
			(void)printf("\n%*s", indent, "");
			at = indent;
		} else if (!first) {
			(void)putchar(' ');
			at++;
		}
		(void)printf("%.*s", len, text);
		at += len;
		first = false;
		text += len;
		text += strspn(text, " \n");
	}
	(void)putchar('\n');
}

/* Prints paragraphs; one that begins with a space is printed as it is. */
static void paragraphs(const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		int len = (int)(end ? (size_t)(end - text) : strlen(text));
		char paragraph[2048];

		(void)snprintf(paragraph, sizeof(paragraph), "%.*s", len, text);
		(void)putchar('\n');
		if (*text == ' ')
			(void)printf("%s\n", paragraph);
		else
			wrap(paragraph, 0, 0);
		text += len;
		text += strspn(text, "\n");
	}
}

static void option(const char *name, char letter, const char *arg, const char *meaning)
{
	char form[FORM_MAX], dash[8] = "    ";
	int n;

	if (letter)
		(void)snprintf(dash, sizeof(dash), "-%c, ", letter);
	n = snprintf(form, sizeof(form), "  %s--%s%s%s", dash, name,
	    arg && strncmp(arg, "[=", 2) != 0 ? " " : "", arg ? arg : "");
	if (n > MEANING - 2)
		(void)printf("%s\n%*s", form, MEANING, "");
	else
		(void)printf("%-*s", MEANING, form);
	wrap(meaning, MEANING, MEANING);
}

int help_command(const struct cmd *c)
{
	const struct opts_group *g = c->options;
	bool alone = !g || !g->rows;

	(void)printf("usage: seep %s%s%s%s\n", c->name, alone ? "" : " [OPTION...]",
	    *c->operands ? " " : "", c->operands);
	paragraphs(c->about);
	for (; g && g->rows; g++) {
		(void)printf("\n%s\n", g->title ? g->title : "Options");
		for (const struct opts_option *o = g->rows; o->name; o++)
			option(o->name, o->letter, o->arg, o->meaning);
	}
	if (alone)
		(void)printf("\nOptions\n");
	option("help", 'h', NULL, "this text");
	return output_flush();
}

int help_all(void)
{
	(void)printf("usage: seep COMMAND [OPTION...] [ARGUMENT...]\n\nseep shows where "
	             "a program allocates heap memory, and what leaks.\n");
	for (const struct cmd_shelf *s = cmd_shelves; s->title; s++) {
		(void)printf("\n%s\n", s->title);
		for (const struct cmd *const *c = s->commands; *c; c++)
			(void)printf("  %-13s%s\n", (*c)->name, (*c)->summary);
	}
	(void)printf("\n\"seep help COMMAND\" describes a command; \"seep --version\" "
	             "prints the version.\nTo begin: seep record CMD, then seep "
	             "report.\n");
	return output_flush();
}

/* An argument without its command: a PID, a program or an input. */
static void die_if_input(const char *word)
{
	bool is_file, is_program;
	struct stat st;
	pid_t pid;

	is_file = stat(word, &st) == 0;
	is_program = is_file && S_ISREG(st.st_mode) && access(word, X_OK) == 0;
	if (input_is_pid(word, &pid))
		die(CMD_USAGE,
		    "unknown command \"%s\"; to see what the process %s holds: seep report %s "
		    "(see: seep --help)",
		    word, word, word);
	if (is_file)
		die(CMD_USAGE, "unknown command \"%s\"; to %s: seep %s %s (see: seep --help)", word,
		    is_program ? "record a program" : "see it", is_program ? "record" : "report",
		    word);
}

void help_die_unknown(const char *word)
{
	struct suggest s = {.word = word};

	die_if_input(word);
	for (const struct cmd_shelf *h = cmd_shelves; h->title; h++)
		for (const struct cmd *const *c = h->commands; *c; c++)
			suggest_offer(&s, (*c)->name);
	if (s.best && word[0] != '-')
		die(CMD_USAGE,
		    "unknown command \"%s\", did you mean \"%s\"?"
		    " (see: seep --help)",
		    word, s.best);
	s = (struct suggest){.word = word + strspn(word, "-")};
	suggest_offer(&s, "version");
	if (s.best || strcmp(word, "-V") == 0 || strcmp(word, "-v") == 0)
		die(CMD_USAGE,
		    "unknown %s \"%s\", did you mean --version?"
		    " (see: seep --help)",
		    word[0] == '-' ? "option" : "command", word);
	die(CMD_USAGE, "unknown %s \"%s\" (see: seep --help)",
	    word[0] == '-' ? "option" : "command", word);
}
