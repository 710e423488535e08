/* opts.c - options from a table; a mistake is one line and exit 2. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/die.h"

static _Noreturn void
help(const char *command, const struct opts_option *table, const char *usage,
    const char *about)
{
	(void)printf("usage: seep %s%s%s\n\n%s\n", command, *usage ? " " : "",
	    usage, about);
	if (table->name)
		(void)printf("\noptions:\n");
	for (; table->name; table++) {
		char form[64];

		(void)snprintf(form, sizeof(form), "--%s%s%s", table->name,
		    table->arg ? " " : "", table->arg ? table->arg : "");
		if (table->letter)
			(void)printf("  -%c, %-20s %s\n", table->letter, form,
			    table->meaning);
		else
			(void)printf("      %-20s %s\n", form, table->meaning);
	}
	(void)printf("      %-20s %s\n", "--help", "this text");
	exit(fflush(stdout) == 0 ? CMD_OK : CMD_INPUT);
}

static bool
takes_argument(const struct opts_option *o)
{
	return o->kind != OPTS_FLAG && o->kind != OPTS_CHOICE;
}

/* --growth 1..5 is a range; in --growth ../x the second is a file. */
static bool
is_range(const char *word)
{
	const char *dots = word ? strstr(word, "..") : NULL;

	return dots && (dots > word || dots[2] != '/') &&
	    strspn(word, "0123456789.s%") == strlen(word);
}

/* Kept as long as the program runs. */
static void
join(const char **paths, const char *arg)
{
	char *joined;

	if (!*paths)
		*paths = arg;
	else if (asprintf(&joined, "%s:%s", *paths, arg) >= 0)
		*paths = joined;
	else
		die(CMD_INPUT, "out of memory");
}

/* Which of "one|two|three" it is, or -1. */
static int
which_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (int i = 0; len > 0; i++) {
		size_t n = strcspn(words, "|");

		if (n == len && memcmp(words, word, len) == 0)
			return i;
		if (words[n] == '\0')
			break;
		words += n + 1;
	}
	return -1;
}

static void
take_word(const char *command, const struct opts_option *o, const char *arg)
{
	int at = which_word(o->arg, arg);

	if (at < 0)
		die(CMD_USAGE, "%s: --%s takes one of %s, not \"%s\"", command,
		    o->name, o->arg, arg);
	*(int *)o->value = at;
}

static void
take(const char *command, const struct opts_option *o, const char *arg)
{
	unsigned long long n;
	char *end;
	double percent;

	errno = 0;
	switch (o->kind) {
	case OPTS_FLAG:
		*(bool *)o->value = true;
		break;
	case OPTS_CHOICE:
		*(int *)o->value = o->set;
		break;
	case OPTS_TEXT:
	case OPTS_RANGE:
		*(const char **)o->value = arg;
		break;
	case OPTS_PATHS:
		join(o->value, arg);
		break;
	case OPTS_WORD:
		take_word(command, o, arg);
		break;
	case OPTS_COUNT:
		n = strtoull(arg, &end, 10);
		if (arg[0] < '0' || arg[0] > '9' || *end || errno ||
		    n > 1000000000)
			die(CMD_USAGE, "%s: --%s takes a number, not \"%s\"",
			    command, o->name, arg);
		*(unsigned *)o->value = (unsigned)n;
		break;
	case OPTS_PERCENT:
		percent = strtod(arg, &end);
		if (*end == '%')
			end++;
		if (end == arg || *end || !(percent >= 0) || percent > 100)
			die(CMD_USAGE,
			    "%s: --%s takes a percentage, not \"%s\"", command,
			    o->name, arg);
		*(double *)o->value = percent;
		break;
	}
}

static const struct opts_option *
find(const struct opts_option *table, const char *name, size_t len, char letter)
{
	for (; table->name; table++) {
		if (letter ? table->letter == letter
		           : strlen(table->name) == len &&
		            memcmp(table->name, name, len) == 0)
			return table;
	}
	return NULL;
}

int
opts_parse(int argc, char **argv, const struct opts_option *table,
    const char *usage, const char *about)
{
	const char *command = argv[0];
	int kept = 1;

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i], *arg = NULL;
		const struct opts_option *o;
		size_t len;

		if (strcmp(word, "--") == 0) {
			while (++i < argc)
				argv[kept++] = argv[i];
			break;
		}
		if (word[0] != '-' || word[1] == '\0') {
			argv[kept++] = argv[i];
			continue;
		}
		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
			help(command, table, usage, about);
		if (word[1] == '-') {
			len = strcspn(word + 2, "=");
			o = find(table, word + 2, len, 0);
			if (word[2 + len] == '=')
				arg = word + 2 + len + 1;
		} else {
			o = find(table, "", 0, word[1]);
			if (word[2] != '\0')
				arg = word + 2;
		}
		if (!o)
			die(CMD_USAGE,
			    "%s: unknown option %s (see: seep %s --help)",
			    command, word, command);
		if (arg && !takes_argument(o))
			die(CMD_USAGE, "%s: --%s takes no argument", command,
			    o->name);
		if (!arg && o->kind == OPTS_RANGE)
			arg = i + 1 < argc && is_range(argv[i + 1]) ? argv[++i]
			                                            : "";
		if (!arg && takes_argument(o)) {
			if (i + 1 >= argc)
				die(CMD_USAGE, "%s: --%s needs %s", command,
				    o->name, o->arg);
			arg = argv[++i];
		}
		take(command, o, arg);
	}
	argv[kept] = NULL;
	return kept - 1;
}
