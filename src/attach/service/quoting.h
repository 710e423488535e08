/* quoting.h - words of unit files, by systemd's rules of quoting. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_QUOTING_H
#define SEEP_QUOTING_H

#include <stdbool.h>
#include <stddef.h>

/* Texts of one kind; `items` ends with NULL once there is one. */
struct quoting_words {
	char **items;
	size_t count, room;
};

/* Takes over the text, also if it fails. -ENOMEM; NULL is that, too. */
int quoting_add(struct quoting_words *w, char *text);
void quoting_release(struct quoting_words *w);

/*
 * Appends the words of a value: separated by white space, with quotes of both
 * kinds and escapes of C (\n, \x20, \040, \u00e4, and \s for a space). That is
 * how systemd reads Environment= and how systemctl show prints lists. An escape
 * that is none stays as it is. -ENOMEM.
 */
int quoting_split(const char *value, struct quoting_words *ret);

/*
 * The text as one word in double quotes, which systemd reads back as it is, and
 * in one line, whatever it contains. '%' is doubled, because it begins a specifier, unless
 * the text has specifiers of its own. The caller frees it. NULL: no memory.
 */
char *quoting_quote(const char *text, bool has_specifiers);

#endif
