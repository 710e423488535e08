/* opts.c - parses options by tables; a mistake is one line and exit 2. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/opts.h"

#include "command/shell/die.h"
#include "command/options/shell_complete.h"

/* An option, and the struct that its table fills. */
struct found {
	const struct opts_option *option; /* NULL: there is none */
	char *base;
};

struct parser {
	const struct cmd *command;
	int argc;
	char **argv;
	int at; /* the word that is being parsed */
	char *values;
};

static bool takes_argument(const struct opts_option *o)
{
	return o->kind >= OPTS_TEXT;
}

/* --growth 1..5 is a range, but in --growth ../x the second word is a file. */
static bool is_range(const char *word)
{
	const char *dots = word ? strstr(word, "..") : NULL;

	if (!dots)
		return false;
	word += word[0] == '-'; /* no option begins with a digit */
	if (word == dots && (dots[2] == '\0' || dots[2] == '-'))
		return true;
	word = word == dots ? dots + 2 : word;
	return (word[0] >= '0' && word[0] <= '9') || strncmp(word, "now", 3) == 0;
}

static bool is_named(const struct opts_option *o, const char *name, size_t len, char letter)
{
	if (letter)
		return o->letter == letter;
	return strlen(o->name) == len && memcmp(o->name, name, len) == 0;
}

static struct found find(const struct parser *p, const char *name, size_t len, char letter)
{
	const struct opts_group *g = p->command->options;

	for (; g && g->rows; g++)
		for (const struct opts_option *o = g->rows; o->name; o++)
			if (is_named(o, name, len, letter))
				return (struct found){o, p->values + g->at};
	return (struct found){0};
}

static _Noreturn void die_unknown(const struct parser *p, const char *word)
{
	const struct opts_group *g = p->command->options;
	const char *command = p->command->name;
	size_t start = strspn(word, "-");
	char name[64];
	struct suggest s = {.word = name};

	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + start, "="), word + start);
	for (; g && g->rows; g++)
		for (const struct opts_option *o = g->rows; o->name; o++)
			suggest_offer(&s, o->name);
	suggest_offer(&s, "help");
	if ((!s.best || s.distance > 1) && cmd_find(name))
		die(CMD_USAGE,
		    "%s: unknown option %s; there is a command: seep %s"
		    " (see: seep %s --help)",
		    command, word, name, command);
	if (s.best)
		die(CMD_USAGE,
		    "%s: unknown option %s, did you mean --%s?"
		    " (see: seep %s --help)",
		    command, word, s.best, command);
	die(CMD_USAGE, "%s: unknown option %s (see: seep %s --help)", command, word, command);
}

static void set_flag(const struct parser *p, const struct found *f, const char *arg)
{
	if (arg && f->option->kind != OPTS_EVERY && f->option->kind != OPTS_UP_TO)
		die(CMD_USAGE, "%s: --%s takes no argument, not \"%s\"", p->command->name,
		    f->option->name, arg);
	values_take(p->command->name, f->option, arg, f->base + f->option->at);
}

/* `arg`: the argument in the same word, or NULL. */
static void take_argument(struct parser *p, const struct found *f, const char *arg)
{
	const struct opts_option *o = f->option;

	if (!arg && o->kind == OPTS_RANGE)
		arg = is_range(p->argv[p->at + 1]) ? p->argv[++p->at] : "";
	if (!arg && p->argv[p->at + 1])
		arg = p->argv[++p->at];
	if (!arg)
		die(CMD_USAGE, "%s: --%s needs an argument: %s", p->command->name, o->name, o->arg);
	values_take(p->command->name, o, arg, f->base + o->at);
}

/* --name, --name=ARG, --name ARG */
static void take_name(struct parser *p, const char *word)
{
	size_t len = strcspn(word + 2, "=");
	const char *arg = word[2 + len] == '=' ? word + 2 + len + 1 : NULL;
	struct found f = find(p, word + 2, len, 0);

	if (len == strlen("help") && memcmp(word + 2, "help", len) == 0)
		exit(help_command(p->command));
	if (!f.option)
		die_unknown(p, word);
	else if (takes_argument(f.option))
		take_argument(p, &f, arg);
	else
		set_flag(p, &f, arg);
}

/* -q, -o ARG, -oARG, -qoARG */
static void take_letters(struct parser *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		struct found f = find(p, "", 0, *c);

		if (*c == 'h' && !f.option)
			exit(help_command(p->command));
		if (!f.option)
			die_unknown(p, word);
		else if (!takes_argument(f.option))
			set_flag(p, &f, NULL);
		else {
			take_argument(p, &f, c[1] ? c + 1 : NULL);
			return;
		}
	}
}

/* Does the first operand end the options, because the others are for CMD? */
static bool stops_at_operand(const struct cmd *c)
{
	return strncmp(c->operands, "CMD", 3) == 0;
}

/* How many operands "[INPUT]", "OLD NEW", "FILE..." or "CMD [ARG...]" allow. */
static void count_operands(const char *text, int *ret_min, int *ret_max)
{
	int min = 0, max = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (max < INT_MAX)
			max++;
		if (text[0] != '[')
			min++;
		if (memmem(text, len, "...", 3))
			max = INT_MAX;
		text += len;
		text += strspn(text, " ");
	}
	*ret_min = min;
	*ret_max = max;
}

static void check_operands(const struct cmd *c, int count, char **operands)
{
	int min, max;

	count_operands(c->operands, &min, &max);
	/* what comes behind CMD is its own */
	for (int i = 0; i < count && (i == 0 || !stops_at_operand(c)); i++)
		if (operands[i][0] == '\0')
			die(CMD_USAGE,
			    "%s: an argument is empty, as of a variable that "
			    "is not set",
			    c->name);
	if (count < min)
		die(CMD_USAGE, "%s: %s missing: seep %s [OPTION...] %s (see: seep %s --help)",
		    c->name, count == 0 && min == 1 ? "an argument is" : "arguments are", c->name,
		    c->operands, c->name);
	if (count > max && max == 0)
		die(CMD_USAGE, "%s: takes no argument, not \"%s\"", c->name, operands[0]);
	if (count > max)
		die(CMD_USAGE, "%s: one argument too many, \"%s\": seep %s [OPTION...] %s", c->name,
		    operands[max], c->name, c->operands);
}

int opts_parse(const struct cmd *c, int argc, char **argv, void *values)
{
	bool stops = stops_at_operand(c);
	struct parser p = {c, argc, argv, 1, values};
	int kept = 1;

	for (; p.at < argc; p.at++) {
		char *word = argv[p.at];
		bool dashes = strcmp(word, "--") == 0;

		if (dashes)
			p.at++;
		if (dashes || (stops && word[0] != '-')) {
			while (p.at < argc)
				argv[kept++] = argv[p.at++];
			break;
		}
		if (word[0] != '-' || word[1] == '\0')
			argv[kept++] = word;
		else if (word[1] == '-')
			take_name(&p, word);
		else
			take_letters(&p, word);
	}
	argv[kept] = NULL;
	check_operands(c, kept - 1, argv + 1);
	return kept - 1;
}
