/* shell_text.c - the simple commands in the text of a shell, roughly. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "service/shell_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ENDS ";&|\n()"

/* Copies `a command` or $(a command) with its brackets. */
static const char *
copy_replaced(const char *at, char **to)
{
	const char close = (char)(*at == '`' ? '`' : ')');
	int depth = 0;

	do {
		if (*at == '(')
			depth++;
		*(*to)++ = *at;
		if (*at == close && (close == '`' ? depth++ > 0 : --depth == 0))
			return at + 1;
		at++;
	} while (*at);
	return at;
}

/* One word from `at` on. Returns its end. */
static const char *
take_word(const char *at, char *to)
{
	char quote = 0;

	while (*at && (quote || !strchr(" \t\r" ENDS, *at))) {
		if (*at == '\\' && quote != '\'' && at[1]) {
			if (at[1] != '\n')
				*to++ = at[1];
			at += 2;
		} else if (quote ? *at == quote : *at == '"' || *at == '\'') {
			quote = (char)(quote ? '\0' : *at);
			at++;
		} else if (quote != '\'' &&
		    (*at == '`' || (*at == '$' && at[1] == '('))) {
			if (*at == '$')
				*to++ = *at++;
			at = copy_replaced(at, &to);
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	return at;
}

int
shell_text_next(const char **text, struct quoting_words *w)
{
	const char *at = *text;
	int err = 0;

	if (!*at)
		return 0;
	while (err == 0) {
		char *word;

		at += strspn(at, " \t\r");
		if (*at == '#')
			at += strcspn(at, "\n");
		if (!*at || strchr(ENDS, *at))
			break;
		word = malloc(strlen(at) + 1);
		if (!word)
			return -ENOMEM;
		at = take_word(at, word);
		err = quoting_add(w, word);
	}
	*text = at + (*at != '\0');
	return err < 0 ? err : 1;
}
