/* shell_complete_fish.c - completions for fish. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/shell_complete.h"

static void write_quoted(FILE *out, const char *text, size_t len)
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

/* The words for this place, as options of "complete"; of several -a one counts. */
static void write_place(FILE *out, const struct shell_complete_place *p, bool is_argument)
{
	static const struct {
		unsigned kind;
		const char *words;
	} offers[] = {
	    {COMPLETE_PID, "(__seep_pids)"},
	    {COMPLETE_DIR, "(__fish_complete_directories)"},
	    {COMPLETE_UNIT, "(__seep_units)"},
	    {COMPLETE_COMMAND, "(__seep_commands)"},
	    {COMPLETE_CMD, "(__fish_complete_command)"},
	};
	const char *before = " -a '";
	bool has_offer = p->words[0] != '\0';

	if (is_argument)
		(void)fputs(p->kinds & COMPLETE_FILE ? " -r" : " -x", out);
	if (p->kinds & COMPLETE_FILE)
		(void)fputs(" -F", out);
	for (size_t i = 0; i < sizeof(offers) / sizeof(offers[0]); i++) {
		if (!(p->kinds & offers[i].kind))
			continue;
		(void)fprintf(out, "%s%s", before, offers[i].words);
		before = " ";
		has_offer = true;
	}
	if (p->words[0])
		(void)fprintf(out, "%s%s", before, p->words);
	if (has_offer)
		(void)fputc('\'', out);
}

/* All options that take an argument in a separate word. */
static void write_takers(FILE *out, const struct cmd *c)
{
	struct shell_complete_place p;

	for (const struct opts_group *g = c->options; g && g->rows; g++) {
		for (const struct opts_option *o = g->rows; o->name; o++) {
			if (!shell_complete_argument(o, &p))
				continue;
			if (o->letter)
				(void)fprintf(out, " -%c", o->letter);
			(void)fprintf(out, " --%s", o->name);
		}
	}
}

static bool runs_program(const struct cmd *c)
{
	struct shell_complete_place p;

	(void)shell_complete_place(c->operands, &p);
	return p.kinds == COMPLETE_CMD;
}

static void write_condition(FILE *out, const struct cmd *c)
{
	if (runs_program(c)) {
		(void)fprintf(out, "complete -c seep -n '__seep_before_program %s", c->name);
		write_takers(out, c);
		(void)fputc('\'', out);
	} else {
		(void)fprintf(out, "complete -c seep -n '__seep_is %s'", c->name);
	}
}

static void write_option(FILE *out, const struct cmd *c, const struct opts_option *o)
{
	struct shell_complete_place p;

	write_condition(out, c);
	if (o->letter)
		(void)fprintf(out, " -s %c", o->letter);
	(void)fprintf(out, " -l %s", o->name);
	if (shell_complete_argument(o, &p))
		write_place(out, &p, true);
	(void)fputs(" -d ", out);
	write_quoted(out, o->meaning, shell_complete_gist(o->meaning));
	(void)fputc('\n', out);
}

static void write_operands(FILE *out, const struct cmd *c)
{
	const char *text = *c->operands ? c->operands : NULL;
	struct shell_complete_place p;

	for (int i = 1; text; i++) {
		text = shell_complete_place(text, &p);
		if (p.kinds == 0 && p.words[0] == '\0')
			continue;
		if (p.kinds == COMPLETE_CMD) {
			(void)fprintf(out,
			    "complete -c seep -n '__seep_is %s' -x -a "
			    "'(__fish_complete_subcommand --fcs-skip=2 -",
			    c->name);
			write_takers(out, c);
			(void)fputs(")'\n", out);
			continue;
		}
		(void)fprintf(
		    out, "complete -c seep -n '__seep_%s %s", p.repeats ? "is" : "at", c->name);
		if (!p.repeats) {
			(void)fprintf(out, " %d", i);
			write_takers(out, c);
		}
		(void)fputc('\'', out);
		write_place(out, &p, false);
		(void)fputc('\n', out);
	}
}

static void fill_options(FILE *out, const struct cmd *c)
{
	for (const struct opts_group *g = c->options; g && g->rows; g++)
		for (const struct opts_option *o = g->rows; o->name; o++)
			write_option(out, c, o);
	write_condition(out, c);
	(void)fputs(" -s h -l help -d 'what this command does'\n", out);
	write_operands(out, c);
}

static void fill_commands(FILE *out, const struct cmd *c)
{
	(void)fprintf(out, "    printf '%%s\\t%%s\\n' %s ", c->name);
	write_quoted(out, c->summary, strlen(c->summary));
	(void)fputc('\n', out);
}

void shell_complete_fish(FILE *out)
{
	static const struct complete_hole holes[] = {
	    {"options", fill_options},
	    {"commands", fill_commands},
	    {0},
	};

	shell_complete_fill(out, templates_fish, holes);
}
