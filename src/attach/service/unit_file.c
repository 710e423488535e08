/* unit_file.c - the text of a unit: its file and its drop-ins, as settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/unit_file.h"

#include "kit/data/room.h"

void unit_file_release(struct unit_files *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->settings[i].section);
		free(f->settings[i].key);
		free(f->settings[i].value);
	}
	free(f->settings);
	quoting_release(&f->paths);
	*f = (struct unit_files){0};
}

/* ---- texts ---- */

int unit_file_text_fd(int fd, size_t max, char **ret)
{
	size_t len = 0;
	struct stat st;
	char *text;
	int err = fstat(fd, &st) < 0 ? -errno : 0;

	if (err == 0 && !S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (err == 0 && st.st_size > (off_t)max)
		err = -EFBIG;
	text = err == 0 ? malloc(max + 1) : NULL;
	if (!text) {
		(void)close(fd);
		return err < 0 ? err : -ENOMEM;
	}
	while (len < max) {
		ssize_t n = read(fd, text + len, max - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	(void)close(fd);
	if (err == 0 && memchr(text, '\0', len))
		err = -EINVAL; /* no text */
	if (err < 0) {
		free(text);
		return err;
	}
	text[len] = '\0';
	*ret = text;
	return 0;
}

int unit_file_text(const char *path, size_t max, char **ret)
{
	/* not blocking, because it may be a pipe */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? -errno : unit_file_text_fd(fd, max, ret);
}

/* ---- lines ---- */

static const char *skip_space(const char *at)
{
	return at + strspn(at, " \t\r");
}

/* Without white space at the end. */
static char *copy_part(const char *from, const char *end)
{
	while (end > from && strchr(" \t\r", end[-1]))
		end--;
	return strndup(from, (size_t)(end - from));
}

/*
 * Copies the line at `from`, with those that continue it after a backslash;
 * comments between them are skipped. `line` has room for all that is left of the
 * text. Returns the next line.
 */
static const char *take_line(const char *from, char *line)
{
	bool goes_on = true, is_first = true;

	while (goes_on && *from) {
		size_t n = strcspn(from, "\n");
		const char *begin = skip_space(from);
		bool is_comment = *begin == '#' || *begin == ';';

		if (is_first || !is_comment) {
			goes_on = n > 0 && from[n - 1] == '\\' && !is_comment;
			memcpy(line, from, n);
			line += n;
			if (goes_on)
				line[-1] = ' ';
		}
		from += n + (from[n] == '\n');
		is_first = false;
	}
	*line = '\0';
	return from;
}

static int add_setting(struct unit_files *f, const char *section, const char *line)
{
	const char *equal = strchr(line, '='), *value;
	struct unit_setting s = {.file = f->paths.count - 1};

	if (!equal)
		return 0;
	value = skip_space(equal + 1);
	s.section = strdup(section);
	s.key = copy_part(line, equal);
	s.value = copy_part(value, value + strlen(value));
	if (!s.section || !s.key || !s.value ||
	    room_make(&f->settings, &f->room, f->count, sizeof(s)) < 0) {
		free(s.section);
		free(s.key);
		free(s.value);
		return -ENOMEM;
	}
	f->settings[f->count++] = s;
	return 0;
}

int unit_file_parse(struct unit_files *f, const char *path, const char *text)
{
	char section[64] = "", *line;
	int err;

	if (f->paths.count >= UNIT_FILES_MAX)
		return -E2BIG;
	line = malloc(strlen(text) + 1);
	if (!line)
		return -ENOMEM;
	err = quoting_add(&f->paths, strdup(path));
	while (err == 0 && *text) {
		const char *begin;

		text = take_line(text, line);
		begin = skip_space(line);
		if (*begin == '[')
			(void)snprintf(section, sizeof(section), "%.*s",
			    (int)strcspn(begin + 1, "]"), begin + 1);
		else if (*begin && *begin != '#' && *begin != ';')
			err = add_setting(f, section, begin);
	}
	free(line);
	return err;
}

int unit_file_read(struct unit_files *f, const char *path)
{
	char *text = NULL;
	int err = unit_file_text(path, UNIT_FILE_BYTES, &text);

	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		f->unread++;
		return 0;
	}
	err = unit_file_parse(f, path, text);
	free(text);
	return err;
}

int unit_file_values(
    const struct unit_files *f, const char *key, const char *except, struct quoting_words *ret)
{
	const size_t before = ret->count;
	int err = 0;

	for (size_t i = 0; i < f->count && err == 0; i++) {
		const struct unit_setting *s = &f->settings[i];

		if (strcmp(s->section, "Service") != 0 || strcmp(s->key, key) != 0 ||
		    (except && strcmp(f->paths.items[s->file], except) == 0))
			continue;
		if (s->value[0])
			err = quoting_add(ret, strdup(s->value));
		else
			while (ret->count > before)
				free(ret->items[--ret->count]);
	}
	return err;
}
