/* unit_commands.c - the command lines of a unit: ExecStart= and the like. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "attach/service/unit.h"
#include "kit/data/room.h"

void unit_commands_release(struct unit_commands *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->items[i].prefix);
		free(c->items[i].path);
		quoting_release(&c->items[i].argv);
	}
	free(c->items);
	*c = (struct unit_commands){0};
}

/* The words from `from` to `to` as one command. */
static int add_command(
    struct unit_commands *c, const struct quoting_words *words, size_t from, size_t to)
{
	const char *first = words->items[from];
	size_t prefix = strspn(first, "@-:+!|");
	bool has_name = memchr(first, '@', prefix) != NULL;
	struct unit_command *one;
	int err = 0;

	if (!first[prefix])
		return 0;
	if (room_make(&c->items, &c->room, c->count, sizeof(*one)) < 0)
		return -ENOMEM;
	one = &c->items[c->count++];
	*one =
	    (struct unit_command){.prefix = strndup(first, prefix), .path = strdup(first + prefix)};
	if (!one->prefix || !one->path)
		return -ENOMEM;
	/* "@": the next word is what the program sees as its name */
	for (size_t i = has_name ? from + 1 : from; i < to && err == 0; i++)
		err = quoting_add(&one->argv, strdup(i == from ? first + prefix : words->items[i]));
	return err;
}

static int add_line(struct unit_commands *c, const char *line)
{
	struct quoting_words words = {0};
	int err = quoting_split(line, &words);
	size_t from = 0;

	for (size_t i = 0; i <= words.count && err == 0; i++) {
		/* a semicolon alone separates commands; "\;" is one itself */
		if (i < words.count && strcmp(words.items[i], ";") != 0)
			continue;
		if (i > from)
			err = add_command(c, &words, from, i);
		from = i + 1;
	}
	quoting_release(&words);
	return err;
}

int unit_commands(const struct unit *u, const char *key, struct unit_commands *ret)
{
	struct quoting_words lines = {0};
	int err = unit_file_values(&u->files, key, NULL, &lines);

	for (size_t i = 0; i < lines.count && err == 0; i++)
		err = add_line(ret, lines.items[i]);
	quoting_release(&lines);
	return err;
}
