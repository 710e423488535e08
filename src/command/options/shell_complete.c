/* shell_complete.c - the parts that the completions of all shells share. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/shell_complete.h"

#include "print/export/export.h"

static const struct {
	const char *name;
	unsigned kinds;
} known[] = {
    {"FILE", COMPLETE_FILE},
    {"DIR", COMPLETE_DIR},
    {"PID", COMPLETE_PID},
    {"INPUT", COMPLETE_FILE | COMPLETE_PID},
    {"OLD", COMPLETE_FILE | COMPLETE_PID},
    {"NEW", COMPLETE_FILE | COMPLETE_PID},
    {"CMD", COMPLETE_CMD},
    {"COMMAND", COMPLETE_COMMAND},
    {"UNIT", COMPLETE_UNIT},
};

static void add(struct shell_complete_place *p, const char *word, size_t len)
{
	size_t at = strlen(p->words);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == len && memcmp(known[i].name, word, len) == 0)
			p->kinds |= known[i].kinds;
	if (len > 0 && !isupper((unsigned char)*word))
		(void)snprintf(
		    p->words + at, sizeof(p->words) - at, "%s%.*s", at ? " " : "", (int)len, word);
}

const char *shell_complete_place(const char *text, struct shell_complete_place *ret)
{
	size_t len = strcspn(text, " ");
	const char *end = text + len;

	*ret = (struct shell_complete_place){.optional = *text == '['};
	ret->repeats = memmem(text, len, "...", 3) != NULL;
	text += ret->optional ? 1 : 0;
	while (text < end) {
		size_t n = strcspn(text, "|]. ");

		add(ret, text, n);
		if (text[n] != '|')
			break;
		text += n + 1;
	}
	end += strspn(end, " ");
	return *end ? end : NULL;
}

/* The formats of export are in a table of their own. */
static void add_formats(struct shell_complete_place *p)
{
	size_t count;
	const struct export_format *const *all = export_formats(&count);

	for (size_t i = 0; i < count; i++)
		add(p, all[i]->name, strlen(all[i]->name));
}

bool shell_complete_argument(const struct opts_option *o, struct shell_complete_place *ret)
{
	*ret = (struct shell_complete_place){0};
	if (o->kind < OPTS_TEXT || o->kind == OPTS_RANGE)
		return false;
	(void)shell_complete_place(o->arg, ret);
	if (o->kind != OPTS_WORD && o->kind != OPTS_LIST)
		ret->words[0] = '\0'; /* "k=v" and the like are no words */
	if (strcmp(o->arg, "FORMAT") == 0)
		add_formats(ret);
	return true;
}

size_t shell_complete_gist(const char *meaning)
{
	for (size_t i = 0; meaning[i]; i++)
		if (strchr(";.:", meaning[i]) && meaning[i + 1] == ' ' && i > 8)
			return i;
	return strlen(meaning);
}

static void fill(FILE *out, const char *name, size_t len, const struct complete_hole *h)
{
	while (h->name && (strlen(h->name) != len || memcmp(h->name, name, len)))
		h++;
	if (!h->name)
		return;
	for (const struct cmd_shelf *s = cmd_shelves; s->title; s++)
		for (const struct cmd *const *c = s->commands; *c; c++)
			h->fill(out, *c);
}

void shell_complete_fill(FILE *out, const char *template, const struct complete_hole *holes)
{
	while (*template) {
		size_t len = strcspn(template, "\n");
		size_t indent = strspn(template, "\t ");

		if (strncmp(template + indent, "#@ ", 3) == 0)
			fill(out, template + indent + 3, len - indent - 3, holes);
		else
			(void)fprintf(out, "%.*s\n", (int)len, template);
		template += len + (template[len] == '\n');
	}
}
