/* values.c - checks the argument of an option and stores it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/opts.h"

#include "command/options/shell_complete.h"
#include "command/shell/die.h"
#include "kit/words/words.h"

enum { COUNT_MAX = 1000000000 };

bool values_size(const char *text, uint64_t *ret)
{
	return units_size(text, strlen(text), ret);
}

bool values_time(const char *text, uint64_t *ret_ns)
{
	return units_time(text, strlen(text), ret_ns);
}

int values_word(const char *words, const char *word)
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

static bool take_count(const char *arg, unsigned *field)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(arg, &end, 10);
	if (arg[0] < '0' || arg[0] > '9' || *end || errno || n > COUNT_MAX)
		return false;
	*field = (unsigned)n;
	return true;
}

static bool take_percent(const char *arg, double *field)
{
	size_t len = strspn(arg, "0123456789.");
	char *end;
	double percent = strtod(arg, &end);

	if (len == 0 || end != arg + len || !(percent <= 100) || (*end && strcmp(end, "%") != 0))
		return false;
	*field = percent;
	return true;
}

static _Noreturn void die_memory(void)
{
	die(CMD_INPUT, "out of memory");
}

static void join(const char **paths, const char *arg)
{
	char *joined;

	if (!*paths)
		*paths = arg;
	else if (asprintf(&joined, "%s:%s", *paths, arg) >= 0)
		*paths = joined;
	else
		die_memory();
}

static void append(struct opts_list *list, const char *arg)
{
	const char **items = reallocarray(list->items, list->count + 1, sizeof(*items));

	if (!items)
		die_memory();
	list->items = items;
	/* cppcheck-suppress nullPointerRedundantCheck ; die() ends it */
	items[list->count++] = arg;
}

/* Combines several expressions: any of them may match. */
static void take_regexp(
    const char *command, const struct opts_option *o, const char *arg, struct opts_regexp *field)
{
	regex_t *compiled = calloc(1, sizeof(*compiled));
	char why[128], *source;
	int err;

	if (!compiled)
		die_memory();
	/*
	 * check it alone first: "a)(b" must not become valid by what surrounds
	 * it
	 */
	err = regcomp(compiled, arg, REG_EXTENDED | REG_NOSUB);
	if (err != 0) {
		(void)regerror(err, compiled, why, sizeof(why));
		die(CMD_USAGE, "%s: --%s takes a regular expression: \"%s\": %s", command, o->name,
		    arg, why);
	}
	if (field->source) {
		regfree(compiled);
		if (asprintf(&source, "%s|%s", field->source, arg) < 0 ||
		    regcomp(compiled, source, REG_EXTENDED | REG_NOSUB) != 0)
			die_memory();
		regfree(field->regexp);
		free(field->regexp);
		free(field->source);
	} else {
		source = strdup(arg);
		if (!source)
			die_memory();
	}
	*field = (struct opts_regexp){.source = source, .regexp = compiled};
}

/* An empty name is always a mistake. Returns what is expected, or NULL. */
static const char *is_nameless(const struct opts_option *o, const char *arg)
{
	if (*arg == '\0' && strcmp(o->arg, "FILE") == 0)
		return "the name of a file";
	if (*arg == '\0' && strcmp(o->arg, "DIR") == 0)
		return "the name of a directory";
	return NULL;
}

/* A time that reports print without a unit is in seconds. */
static bool take_since(const char *arg, uint64_t *ret_ns)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%ss", arg);

	return values_time(arg, ret_ns) ||
	    (len > 0 && (size_t)len < sizeof(text) && values_time(text, ret_ns));
}

/* Returns what was expected, or NULL if the argument is valid. */
static const char *take_argument(const struct opts_option *o, const char *arg, void *field)
{
	switch (o->kind) {
	case OPTS_TEXT:
		*(const char **)field = arg;
		return NULL;
	case OPTS_PATHS:
		join(field, arg);
		return NULL;
	case OPTS_LIST:
		append(field, arg);
		return NULL;
	case OPTS_COUNT:
		return take_count(arg, field) ? NULL : "a number";
	case OPTS_PERCENT:
		return take_percent(arg, field) ? NULL : "a percentage";
	case OPTS_SIZE:
		return values_size(arg, field) ? NULL : "a size, as 4096, 512k or 1.5MiB";
	case OPTS_TIME:
		return values_time(arg, field) ? NULL
		                               : "a time with its unit, as 20ms, 1.5s, 10m or 2h";
	case OPTS_SINCE:
		return take_since(arg, field) ? NULL
		                              : "a time, as 12.34 (seconds), 340ms, 10m or 2h";
	default:
		return "nothing known"; /* a kind that values_take() handles */
	}
}

void values_take(const char *command, const struct opts_option *o, const char *arg, void *field)
{
	const char *expected = NULL;
	int word;

	switch (o->kind) {
	case OPTS_FLAG:
		*(bool *)field = true;
		break;
	case OPTS_CHOICE:
		*(int *)field = o->set;
		break;
	case OPTS_EVERY:
		*(uint64_t *)field = (uint64_t)o->set * 1000000000;
		if (arg && !values_time(arg, field))
			expected = "a time with its unit, as 20ms, 1.5s, 10m or 2h";
		break;
	case OPTS_UP_TO:
		*(uint64_t *)field = (uint64_t)o->set << 20;
		if (arg && !values_size(arg, field))
			expected = "a size, as 4096, 512k or 1.5MiB";
		break;
	case OPTS_WORD:
		word = values_word(o->arg, arg);
		if (word < 0)
			die(CMD_USAGE, "%s: --%s takes one of %s, not \"%s\"", command, o->name,
			    o->arg, arg);
		*(int *)field = word;
		break;
	case OPTS_RANGE:
		*(const char **)field = arg;
		break;
	case OPTS_REGEXP:
		take_regexp(command, o, arg, field);
		break;
	default:
		expected = is_nameless(o, arg);
		if (!expected)
			expected = take_argument(o, arg, field);
	}
	if (expected)
		die(CMD_USAGE, "%s: --%s takes %s, not \"%s\"", command, o->name, expected, arg);
}

/* ---- suggest: finds the word that a misspelt one may have meant ---- */

enum { WORD_MAX = 32 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * The number of letters to add, drop, replace or swap with a neighbour to get
 * from a to b: the distance of Damerau and Levenshtein, with three rows of its
 * matrix.
 */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= m; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *oldest = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned d = above[j - 1] + (a[i - 1] != b[j - 1]);

			d = least(d, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d = least(d, before[j - 2] + 1);
			row[j] = d;
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[m];
}

void suggest_offer(struct suggest *s, const char *candidate)
{
	size_t n = strlen(s->word), m = strlen(candidate);
	unsigned d;

	if (n < 2 || n > WORD_MAX || m > WORD_MAX)
		return;
	/* the beginning of a word probably means that word */
	d = n < m && memcmp(s->word, candidate, n) == 0 ? 1 : distance(s->word, n, candidate, m);
	if (d > (n < 5 ? 1 : n < 9 ? 2 : 3) || (s->best && d >= s->distance))
		return;
	s->best = candidate;
	s->distance = d;
}
