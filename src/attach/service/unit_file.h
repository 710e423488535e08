/* unit_file.h - the text of a unit: its file and its drop-ins, as settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UNIT_FILE_H
#define SEEP_UNIT_FILE_H

#include "base/std.h"

/* ---- quoting: words of unit files, by systemd's rules of quoting ---- */

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

/* ---- unit_file: the text of a unit: its file and its drop-ins, as settings ---- */

enum { UNIT_FILE_BYTES = 1 << 20, UNIT_FILES_MAX = 256 };

struct unit_setting {
	char *section, *key, *value; /* of several lines, joined by a space */
	size_t file;                 /* of struct unit_files */
};

/* In the order in which systemd reads them: a later one wins. */
struct unit_files {
	struct quoting_words paths;
	struct unit_setting *settings;
	size_t count, room;
	size_t unread; /* files that could not be read */
};

/*
 * Appends the settings of one file. A file that cannot be read is counted.
 * Comments, lines without '=' and sections are read as systemd reads them.
 * -ENOMEM, -E2BIG.
 */
int unit_file_read(struct unit_files *f, const char *path);

/* The same for a text. `path` is its name. */
int unit_file_parse(struct unit_files *f, const char *path, const char *text);

void unit_file_release(struct unit_files *f);

/*
 * Appends the values of a key of [Service], without those that an empty one
 * has taken back, and without those of the file `except` (NULL: none). -ENOMEM.
 */
int unit_file_values(
    const struct unit_files *f, const char *key, const char *except, struct quoting_words *ret);

/*
 * The contents of a regular file, NUL terminated, up to `max` bytes; the caller
 * frees it. -EFBIG: longer; -EINVAL: no regular file, or it contains a NUL.
 */
int unit_file_text(const char *path, size_t max, char **ret);

/* The same for an open descriptor, which it closes. */
int unit_file_text_fd(int fd, size_t max, char **ret);

#endif
