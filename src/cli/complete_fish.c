/* complete_fish.c - completions for fish. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/complete.h"

#include <string.h>

#include "cli/templates.h"

static void
write_quoted(FILE *out, const char *text, size_t len)
{
	const char *end = text + len;

	(void)fputc('\'', out);
	for (; text < end; text++) {
		if (*text == '\'' || *text == '\\')
			(void)fputc('\\', out);
		(void)fputc(*text, out);
	}
	(void)fputc('\'', out);
}

/* The words for this place, as options of "complete". */
static void
write_place(FILE *out, const struct complete_place *p, bool is_argument)
{
	if (is_argument)
		(void)fputs(p->kinds & COMPLETE_FILE ? " -r" : " -x", out);
	if (p->kinds & COMPLETE_FILE)
		(void)fputs(" -F", out);
	if (p->kinds & COMPLETE_PID)
		(void)fputs(" -a '(__seep_pids)'", out);
	if (p->kinds & COMPLETE_DIR)
		(void)fputs(" -a '(__fish_complete_directories)'", out);
	if (p->words[0])
		(void)fprintf(out, " -a '%s'", p->words);
}

/* All options that take an argument in a separate word. */
static void
write_takers(FILE *out, const struct cmd *c)
{
	struct complete_place p;

	for (const struct opts_group *g = c->options; g && g->rows; g++) {
		for (const struct opts_option *o = g->rows; o->name; o++) {
			if (!complete_argument(o, &p))
				continue;
			if (o->letter)
				(void)fprintf(out, " -%c", o->letter);
			(void)fprintf(out, " --%s", o->name);
		}
	}
}

static bool
runs_program(const struct cmd *c)
{
	struct complete_place p;

	(void)complete_place(c->operands, &p);
	return p.kinds == COMPLETE_CMD;
}

static void
write_condition(FILE *out, const struct cmd *c)
{
	if (runs_program(c)) {
		(void)fprintf(out,
		    "complete -c seep -n '__seep_before_program %s", c->name);
		write_takers(out, c);
		(void)fputc('\'', out);
	} else {
		(void)fprintf(
		    out, "complete -c seep -n '__seep_is %s'", c->name);
	}
}

static void
write_option(FILE *out, const struct cmd *c, const struct opts_option *o)
{
	struct complete_place p;

	write_condition(out, c);
	if (o->letter)
		(void)fprintf(out, " -s %c", o->letter);
	(void)fprintf(out, " -l %s", o->name);
	if (complete_argument(o, &p))
		write_place(out, &p, true);
	(void)fputs(" -d ", out);
	write_quoted(out, o->meaning, complete_gist(o->meaning));
	(void)fputc('\n', out);
}

static void
write_operands(FILE *out, const struct cmd *c)
{
	const char *text = *c->operands ? c->operands : NULL;
	struct complete_place p;

	while (text) {
		text = complete_place(text, &p);
		if (p.kinds == 0 && p.words[0] == '\0')
			continue;
		(void)fprintf(
		    out, "complete -c seep -n '__seep_is %s'", c->name);
		write_place(out, &p, false);
		if (p.kinds == COMPLETE_CMD) {
			(void)fputs(" -x -a '(__fish_complete_subcommand"
			            " --fcs-skip=2 -",
			    out);
			write_takers(out, c);
			(void)fputs(")'", out);
		}
		if (p.kinds & COMPLETE_COMMAND)
			(void)fputs(" -a '(__seep_commands)'", out);
		(void)fputc('\n', out);
	}
}

static void
fill_options(FILE *out, const struct cmd *c)
{
	for (const struct opts_group *g = c->options; g && g->rows; g++)
		for (const struct opts_option *o = g->rows; o->name; o++)
			write_option(out, c, o);
	write_condition(out, c);
	(void)fputs(" -s h -l help -d 'what this command does'\n", out);
	write_operands(out, c);
}

static void
fill_commands(FILE *out, const struct cmd *c)
{
	(void)fprintf(out, "    printf '%%s\\t%%s\\n' %s ", c->name);
	write_quoted(out, c->summary, strlen(c->summary));
	(void)fputc('\n', out);
}

void
complete_fish(FILE *out)
{
	static const struct complete_hole holes[] = {
	    {"options", fill_options},
	    {"commands", fill_commands},
	    {0},
	};

	complete_fill(out, templates_fish, holes);
}
