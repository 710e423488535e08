/* shell_complete_zsh.c - completions for zsh: specs for _arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/shell_complete.h"

/* Text inside '...[text]...' of a spec. */
static void write_text(FILE *out, const char *text, size_t len)
{
	for (const char *end = text + len; text < end; text++) {
		if (*text == '\'')
			(void)fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			(void)fprintf(out, "\\%c", *text);
		else
			(void)fputc(*text, out);
	}
}

/* ":MESSAGE:ACTION" of a spec. */
static void write_place(FILE *out, const char *arg, const struct shell_complete_place *p)
{
	const char *action = " ";

	if ((p->kinds & COMPLETE_CMD) && (p->kinds & COMPLETE_UNIT))
		action = "_seep_subjects";
	else if (p->kinds & COMPLETE_UNIT)
		action = "_seep_units";
	else if ((p->kinds & COMPLETE_FILE) && (p->kinds & COMPLETE_PID))
		action = "_seep_inputs";
	else if (p->kinds & COMPLETE_FILE)
		action = "_files";
	else if (p->kinds & COMPLETE_DIR)
		action = "_directories";
	else if (p->kinds & COMPLETE_PID)
		action = "_seep_pids";
	else if (p->kinds & COMPLETE_COMMAND)
		action = "_seep_commands";
	if (p->words[0]) {
		(void)fprintf(out, ":one of:(%s)", p->words);
		return;
	}
	(void)fputc(':', out);
	write_text(out, arg, strlen(arg));
	(void)fprintf(out, ":%s", action);
}

static bool adds_up(const struct opts_option *o)
{
	return o->kind == OPTS_LIST || o->kind == OPTS_PATHS || o->kind == OPTS_REGEXP;
}

/* One form of an option; it excludes itself and the other form. */
static void write_form(FILE *out, const struct opts_option *o, bool as_letter)
{
	struct shell_complete_place p;
	bool takes = shell_complete_argument(o, &p);

	(void)fputs(" \\\n\t\t\t'", out);
	if (adds_up(o))
		(void)fputc('*', out);
	else if (o->letter)
		(void)fprintf(out, "(-%c --%s)", o->letter, o->name);
	if (as_letter)
		(void)fprintf(out, "-%c%s", o->letter, takes ? "+" : "");
	else
		(void)fprintf(out, "--%s%s", o->name, takes ? "=" : "");
	(void)fputc('[', out);
	write_text(out, o->meaning, shell_complete_gist(o->meaning));
	(void)fputc(']', out);
	if (takes)
		write_place(out, o->arg, &p);
	(void)fputc('\'', out);
}

static void write_operands(FILE *out, const struct cmd *c)
{
	const char *text = *c->operands ? c->operands : NULL;
	struct shell_complete_place p;

	for (int i = 1; text; i++) {
		const char *at = text;
		char name[64];

		text = shell_complete_place(at, &p);
		at += strspn(at, "[");
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " ]."), at);
		if (p.kinds == COMPLETE_CMD) {
			(void)fputs(" \\\n\t\t\t'(-)1:program: _command_names -e'"
			            " \\\n\t\t\t'*:: :_normal'",
			    out);
			return;
		}
		if (p.repeats)
			(void)fputs(" \\\n\t\t\t'*", out);
		else
			(void)fprintf(out, " \\\n\t\t\t'%d%s", i, p.optional ? ":" : "");
		write_place(out, name, &p);
		(void)fputc('\'', out);
	}
}

static void fill_options(FILE *out, const struct cmd *c)
{
	(void)fprintf(out,
	    "\t%s)\n\t\t_arguments -s -S"
	    " \\\n\t\t\t'(- *)'{-h,--help}'[what this command does]'",
	    c->name);
	for (const struct opts_group *g = c->options; g && g->rows; g++) {
		for (const struct opts_option *o = g->rows; o->name; o++) {
			if (o->letter)
				write_form(out, o, true);
			write_form(out, o, false);
		}
	}
	write_operands(out, c);
	(void)fputs("\n\t\t;;\n", out);
}

static void fill_commands(FILE *out, const struct cmd *c)
{
	(void)fprintf(out, "\t\t'%s:", c->name);
	write_text(out, c->summary, strlen(c->summary));
	(void)fputs("'\n", out);
}

void shell_complete_zsh(FILE *out)
{
	static const struct complete_hole holes[] = {
	    {"options", fill_options},
	    {"commands", fill_commands},
	    {0},
	};

	shell_complete_fill(out, templates_zsh, holes);
}
