/* unit_file.h - the text of a unit: its file and its drop-ins, as settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UNIT_FILE_H
#define SEEP_UNIT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "attach/service/quoting.h"

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
