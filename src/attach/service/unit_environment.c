/* unit_environment.c - the environment that a unit gives its programs. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "attach/service/unit.h"
#include "kit/data/room.h"
#include "kit/words/text.h"

enum { VARIABLES_MAX = 4096 };

/* The length of NAME in NAME=VALUE; 0: it is none. */
static size_t name_length(const char *text)
{
	size_t n = strcspn(text, "=");

	return text[n] ? n : 0;
}

/* Adds it, or replaces the value of the same name. Takes the text over. */
static int assign(struct quoting_words *w, char *text)
{
	size_t n = text ? name_length(text) : 0;

	for (size_t i = 0; text && n > 0 && i < w->count; i++)
		if (strncmp(w->items[i], text, n + 1) == 0) {
			free(w->items[i]);
			w->items[i] = text;
			return 0;
		}
	if (text && n == 0) {
		free(text);
		return 0;
	}
	if (w->count >= VARIABLES_MAX) {
		free(text);
		return -E2BIG;
	}
	return quoting_add(w, text);
}

int unit_environment(const struct unit *u, const char *except, struct quoting_words *ret)
{
	struct quoting_words values = {0}, words = {0};
	int err = unit_file_values(&u->files, "Environment", except, &values);

	for (size_t i = 0; i < values.count && err == 0; i++)
		err = quoting_split(values.items[i], &words);
	for (size_t i = 0; i < words.count && err == 0; i++)
		err = assign(ret, strdup(words.items[i]));
	quoting_release(&values);
	quoting_release(&words);
	return err;
}

const char *unit_variable(const struct quoting_words *environment, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < environment->count; i++)
		if (strncmp(environment->items[i], name, n) == 0 && environment->items[i][n] == '=')
			return environment->items[i] + n + 1;
	return NULL;
}

/* ---- EnvironmentFile= ---- */

void unit_environment_files_release(struct unit_environment_files *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].path);
		quoting_release(&f->items[i].variables);
	}
	free(f->items);
	*f = (struct unit_environment_files){0};
}

/*
 * A value as such a file has it: quotes as in a shell, which may span lines;
 * a backslash at the end of a line continues it. Moves *at behind its line.
 */
static void take_value(const char **at, char *to)
{
	const char *from = *at;
	char *start = to, quote = 0;
	char *solid = to; /* behind the last character that is to stay */

	from += strspn(from, " \t");
	for (; *from && (quote || *from != '\n'); from++) {
		if (*from == '\\' && quote != '\'' && from[1]) {
			from++;
			if (*from != '\n')
				*to++ = *from, solid = to;
		} else if (quote ? *from == quote : *from == '"' || *from == '\'') {
			quote = (char)(quote ? '\0' : *from);
			solid = to;
		} else {
			*to++ = *from;
			if (quote || !strchr(" \t\r", *from))
				solid = to;
		}
	}
	*(solid > start ? solid : start) = '\0';
	*at = from;
}

static int parse_variables(const char *text, struct quoting_words *ret)
{
	char *one = malloc(strlen(text) + 1);
	int err = one ? 0 : -ENOMEM;

	while (err == 0 && *text) {
		size_t n;

		text += strspn(text, " \t\r\n");
		n = strcspn(text, "=\n");
		if (*text == '#' || *text == ';' || text[n] != '=') {
			text += strcspn(text, "\n");
			continue;
		}
		memcpy(one, text, n + 1);
		text += n + 1;
		take_value(&text, one + n + 1);
		err = assign(ret, strdup(one));
	}
	free(one);
	return err;
}

/* "PATH (ignore_errors=yes)" of systemctl show, or "-PATH" of a unit file. */
static int add_file(struct unit_environment_files *f, const char *text)
{
	static const char yes[] = " (ignore_errors=yes)", no[] = " (ignore_errors=no)";
	struct unit_environment_file *one;
	bool is_optional = text[0] == '-' || text_ends_with(text, yes);
	size_t n;
	char *content = NULL;
	int err;

	text += text[0] == '-';
	n = strlen(text);
	if (text_ends_with(text, yes))
		n -= sizeof(yes) - 1;
	else if (text_ends_with(text, no))
		n -= sizeof(no) - 1;
	if (room_make(&f->items, &f->room, f->count, sizeof(*one)) < 0)
		return -ENOMEM;
	one = &f->items[f->count++];
	*one = (struct unit_environment_file){.path = strndup(text, n), .is_optional = is_optional};
	if (!one->path)
		return -ENOMEM;
	err = unit_file_text(one->path, UNIT_FILE_BYTES, &content);
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	err = parse_variables(content, &one->variables);
	free(content);
	one->is_read = err == 0;
	return err == -E2BIG ? 0 : err;
}

int unit_environment_files(const struct unit *u, struct unit_environment_files *ret)
{
	size_t at = 0;
	const char *value;
	int err = 0;

	while (err == 0 && (value = unit_next(u, "EnvironmentFiles", &at)))
		err = add_file(ret, value);
	return err;
}
