/* mkman.c - manual pages in scdoc's language, from the tables of commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cmd.h"
#include "command/options/opts.h"

/*
 * mkman               the names of all commands, one a line
 * mkman COMMAND FILE  the page of a command. FILE, which may be missing, is
 *                     what was written by hand: more of the description, then
 *                     sections that follow OPTIONS
 * mkman - FILE        FILE with its line "@commands" filled
 */

/* Text of ours in scdoc: what has a meaning there is escaped. */
static void text(const char *s, size_t len)
{
	for (size_t i = 0; i < len && s[i]; i++) {
		if (strchr("\\*_~+[]|#`<>", s[i]) || (s[i] == '-' && i == 0))
			(void)putchar('\\');
		(void)putchar(s[i]);
	}
}

/* A sentence: capital letter, full stop. */
static void sentence(const char *s)
{
	size_t len = strlen(s);
	size_t word = strcspn(s, " ");
	/* a proper name, an option or FILE keeps its first letter */
	bool plain = word > 0 && islower((unsigned char)s[0]) &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyz,;-") == word;

	if (plain) {
		(void)putchar(toupper((unsigned char)s[0]));
		text(s + 1, len - 1);
	} else {
		text(s, len);
	}
	(void)puts(len > 0 && s[len - 1] == '.' ? "" : ".");
}

/* "[INPUT]", "OLD NEW", "CMD [ARG...]": words in capitals are underlined. */
static void placeholders(const char *s)
{
	while (*s) {
		size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

		if (n > 0) {
			(void)putchar('_');
			text(s, n);
			(void)putchar('_');
			s += n;
		} else {
			text(s++, 1);
		}
	}
}

static void paragraphs(const char *s)
{
	while (*s) {
		const char *end = strstr(s, "\n\n");
		size_t len = end ? (size_t)(end - s) : strlen(s);

		if (*s == ' ') {
			(void)printf("```\n%.*s\n```\n\n", (int)len, s);
		} else {
			text(s, len);
			(void)printf("\n\n");
		}
		s += len;
		s += strspn(s, "\n");
	}
}

static void option(char letter, const char *name, const char *arg, const char *meaning)
{
	if (letter)
		(void)printf("*-%c*, ", letter);
	(void)printf("*--%s*", name);
	if (arg) {
		if (strncmp(arg, "[=", 2) != 0)
			(void)putchar(' ');
		placeholders(arg);
	}
	(void)printf("\n\t");
	sentence(meaning);
	(void)putchar('\n');
}

static void options(const struct cmd *c)
{
	(void)printf("# OPTIONS\n\n");
	for (const struct opts_group *g = c->options; g && g->rows; g++) {
		if (g->title)
			(void)printf("## %s\n\n", g->title);
		for (const struct opts_option *o = g->rows; o->name; o++)
			option(o->letter, o->name, o->arg, o->meaning);
	}
	option('h', "help", NULL, "print a short help");
}

static void see_also(const struct cmd *c)
{
	(void)printf("# SEE ALSO\n\n*seep*(1)");
	for (const struct cmd_shelf *s = cmd_shelves; s->title; s++)
		for (const struct cmd *const *other = s->commands; *other; other++)
			if (*other != c)
				(void)printf(", *seep-%s*(1)", (*other)->name);
	(void)printf(", *seep*(7), *libseep*(7)\n");
}

static void commands(void)
{
	for (const struct cmd_shelf *s = cmd_shelves; s->title; s++) {
		(void)printf("## %s\n\n", s->title);
		for (const struct cmd *const *c = s->commands; *c; c++) {
			(void)printf("*seep-%s*(1)\n\t", (*c)->name);
			sentence((*c)->summary);
			(void)putchar('\n');
		}
	}
}

/* The rest of a file; a line that `stops` it is kept for the caller. */
static bool copy(FILE *in, const char *stops, char **line, size_t *room)
{
	while (in && getline(line, room, in) > 0) {
		if (stops && strncmp(*line, stops, strlen(stops)) == 0)
			return true;
		(void)fputs(*line, stdout);
	}
	return false;
}

static void page(const struct cmd *c, FILE *more)
{
	char *line = NULL;
	size_t room = 0;
	bool sections;

	(void)printf("seep-%s(1) \"seep %s\" \"seep manual\"\n\n", c->name, SEEP_VERSION);
	(void)printf("# NAME\n\nseep-%s - ", c->name);
	text(c->summary, strlen(c->summary));
	(void)printf("\n\n# SYNOPSIS\n\n*seep %s* [_OPTION_...] ", c->name);
	placeholders(c->operands);
	(void)printf("\n\n# DESCRIPTION\n\n");
	paragraphs(c->about);
	sections = copy(more, "# ", &line, &room);
	(void)putchar('\n');
	options(c);
	if (sections)
		(void)fputs(line, stdout);
	(void)copy(more, NULL, &line, &room);
	(void)putchar('\n');
	see_also(c);
	free(line);
}

int main(int argc, char **argv)
{
	const struct cmd *c;
	char *line = NULL;
	size_t room = 0;
	FILE *in;

	if (argc == 1) {
		for (const struct cmd_shelf *s = cmd_shelves; s->title; s++)
			for (const struct cmd *const *p = s->commands; *p; p++)
				(void)puts((*p)->name);
		return 0;
	}
	if (argc != 3)
		return 2;
	in = fopen(argv[2], "re");
	c = cmd_find(argv[1]);
	if (c) {
		page(c, in);
	} else if (in) {
		while (copy(in, "@commands", &line, &room))
			commands();
	} else {
		return 2;
	}
	if (in)
		(void)fclose(in);
	free(line);
	return fflush(stdout) == 0 ? 0 : 1;
}
