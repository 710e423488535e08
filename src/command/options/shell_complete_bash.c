/* shell_complete_bash.c - completions for bash. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/shell_complete.h"

static void write_kinds(FILE *out, const struct shell_complete_place *p)
{
	(void)fputs(" kinds=\"", out);
	if (p->kinds & COMPLETE_FILE)
		(void)fputs(" FILE", out);
	if (p->kinds & COMPLETE_DIR)
		(void)fputs(" DIR", out);
	if (p->kinds & COMPLETE_PID)
		(void)fputs(" PID", out);
	if (p->kinds & COMPLETE_CMD)
		(void)fputs(" CMD", out);
	if (p->kinds & COMPLETE_COMMAND)
		(void)fputs(" COMMAND", out);
	if (p->kinds & COMPLETE_UNIT)
		(void)fputs(" UNIT", out);
	(void)fprintf(out, " %s \" ;;\n", p->words);
}

static void write_arguments(FILE *out, const struct cmd *c, const struct opts_option *o)
{
	struct shell_complete_place p;

	for (; o->name; o++) {
		if (!shell_complete_argument(o, &p))
			continue;
		(void)fprintf(out, "\t%s:--%s", c->name, o->name);
		if (o->letter)
			(void)fprintf(out, " | %s:-%c", c->name, o->letter);
		(void)fputc(')', out);
		write_kinds(out, &p);
	}
}

static void fill_kinds(FILE *out, const struct cmd *c)
{
	const char *text = *c->operands ? c->operands : NULL;
	struct shell_complete_place p;

	for (const struct opts_group *g = c->options; g && g->rows; g++)
		write_arguments(out, c, g->rows);
	for (int i = 1; text; i++) {
		text = shell_complete_place(text, &p);
		if (p.repeats)
			(void)fprintf(out, "\t%s:[0-9]*)", c->name);
		else
			(void)fprintf(out, "\t%s:%d)", c->name, i);
		write_kinds(out, &p);
	}
}

static void fill_options(FILE *out, const struct cmd *c)
{
	if (!c->options)
		return;
	(void)fprintf(out, "\t%s) echo \"", c->name);
	for (const struct opts_group *g = c->options; g->rows; g++)
		for (const struct opts_option *o = g->rows; o->name; o++)
			(void)fprintf(out, " --%s", o->name);
	(void)fputs("\" ;;\n", out);
}

static void fill_commands(FILE *out, const struct cmd *c)
{
	(void)fprintf(out, "\techo %s\n", c->name);
}

void shell_complete_bash(FILE *out)
{
	static const struct complete_hole holes[] = {
	    {"kinds", fill_kinds},
	    {"options", fill_options},
	    {"commands", fill_commands},
	    {0},
	};

	shell_complete_fill(out, templates_bash, holes);
}
