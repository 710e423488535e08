/* shell_text.c - the simple commands in the text of a shell, roughly. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/shell_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 64 << 10 }; /* the rest of a longer word is dropped */

#define ENDS ";&|\n()"

/* A word as it grows. */
struct word {
	char *to, *end;
};

static void put(struct word *w, char c)
{
	if (w->to < w->end)
		*w->to++ = c;
}

/* Copies `a command` or $(a command) with its brackets. */
static const char *copy_replaced(const char *at, struct word *w)
{
	const char close = (char)(*at == '`' ? '`' : ')');
	int depth = 0;

	do {
		if (*at == '(')
			depth++;
		put(w, *at);
		if (*at == close && (close == '`' ? depth++ > 0 : --depth == 0))
			return at + 1;
		at++;
	} while (*at);
	return at;
}

/* One word from `at` on. Returns its end. */
static const char *take_word(const char *at, char to[WORD_BYTES])
{
	struct word w = {to, to + WORD_BYTES - 1};
	char quote = 0;

	while (*at && (quote || !strchr(" \t\r" ENDS, *at))) {
		if (*at == '\\' && quote != '\'' && at[1]) {
			if (at[1] != '\n')
				put(&w, at[1]);
			at += 2;
		} else if (quote ? *at == quote : *at == '"' || *at == '\'') {
			quote = (char)(quote ? '\0' : *at);
			at++;
		} else if (quote != '\'' && (*at == '`' || (*at == '$' && at[1] == '('))) {
			if (*at == '$')
				put(&w, *at++);
			at = copy_replaced(at, &w);
		} else {
			put(&w, *at++);
		}
	}
	*w.to = '\0';
	return at;
}

int shell_text_next(const char **text, struct quoting_words *w)
{
	const char *at = *text;
	char *word;
	int err = 0;

	if (!*at)
		return 0;
	word = malloc(WORD_BYTES);
	if (!word)
		return -ENOMEM;
	while (err == 0) {
		at += strspn(at, " \t\r");
		if (*at == '#')
			at += strcspn(at, "\n");
		if (!*at || strchr(ENDS, *at))
			break;
		at = take_word(at, word);
		err = quoting_add(w, strdup(word));
	}
	free(word);
	*text = at + (*at != '\0');
	return err < 0 ? err : 1;
}
