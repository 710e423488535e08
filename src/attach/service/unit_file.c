/* unit_file.c - the text of a unit: its file and its drop-ins, as settings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/unit_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/service/root.h"
#include "kit/data/room.h"
#include "kit/words/text.h"

enum { NAME_BYTES = 256, ALIASES_MAX = 4, DROP_INS_MAX = 200 };

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

int unit_file_read(struct unit_files *f, const char *root, const char *path)
{
	char *text = NULL;
	int err = root_read(root, path, UNIT_FILE_BYTES, &text);

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

/* ---- without systemd ---- */

static const char *const system_places[] = {"/etc/systemd/system", "/run/systemd/system",
    "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system", NULL};
static const char *const user_places[] = {"/etc/systemd/user", "/run/systemd/user",
    "/usr/local/lib/systemd/user", "/usr/lib/systemd/user", "/lib/systemd/user", NULL};

/* foo@.service of foo@bar.service; false: it is no instance. */
static bool template_of(const char *name, char to[NAME_BYTES])
{
	const char *at = strchr(name, '@'), *dot = strrchr(name, '.');

	if (!at || !dot || dot <= at + 1)
		return false;
	(void)snprintf(to, NAME_BYTES, "%.*s%s", (int)(at - name + 1), name, dot);
	return true;
}

static bool exists(const char *root, const char *path)
{
	int fd = root_open(root, path, O_PATH | O_NOFOLLOW);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

/* Its path, in the first place that has it. */
static bool find_fragment(
    const char *root, const char *const *places, const char *name, char path[PATH_MAX])
{
	for (; *places; places++) {
		(void)snprintf(path, PATH_MAX, "%s/%s", *places, name);
		if (exists(root, path))
			return true;
	}
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(text_base(*(char *const *)a), text_base(*(char *const *)b));
}

static bool has_name(const struct quoting_words *w, const char *name)
{
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(text_base(w->items[i]), name) == 0)
			return true;
	return false;
}

/* The drop-ins in one directory whose names are not known yet. */
static int list_drop_ins(const char *root, const char *dir, struct quoting_words *ret)
{
	int fd = root_open(root, dir, O_RDONLY | O_DIRECTORY), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		if (fd >= 0)
			(void)close(fd);
		return 0;
	}
	while (err == 0 && ret->count < DROP_INS_MAX && (e = readdir(d))) {
		char path[PATH_MAX];

		if (e->d_name[0] == '.' || !text_ends_with(e->d_name, ".conf") ||
		    has_name(ret, e->d_name) ||
		    snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		err = quoting_add(ret, strdup(path));
	}
	(void)closedir(d);
	return err;
}

static int find_drop_ins(
    const char *root, const char *const *places, const char *name, struct quoting_words *ret)
{
	char template[NAME_BYTES];
	const char *names[] = {"service", NULL, name, NULL};
	struct quoting_words found = {0};
	int err = 0;

	if (template_of(name, template))
		names[1] = template;
	for (size_t p = 0; places[p] && err == 0; p++)
		for (size_t i = 0; i < 3 && err == 0; i++) {
			char dir[PATH_MAX];

			if (!names[i])
				continue;
			(void)snprintf(dir, sizeof(dir), "%s/%s.d", places[p], names[i]);
			err = list_drop_ins(root, dir, &found);
		}
	if (found.count > 0)
		qsort(found.items, found.count, sizeof(char *), by_name);
	for (size_t i = 0; i < found.count && err == 0; i++)
		err = quoting_add(ret, strdup(found.items[i]));
	quoting_release(&found);
	return err;
}

int unit_file_find(const char *root, bool is_user, char name[NAME_BYTES], struct quoting_words *ret,
    bool *ret_is_masked)
{
	const char *const *places = is_user ? user_places : system_places;
	char path[PATH_MAX], target[PATH_MAX], template[NAME_BYTES];
	int err;

	*ret_is_masked = false;
	for (int i = 0; i < ALIASES_MAX; i++) {
		if (!find_fragment(root, places, name, path) &&
		    (!template_of(name, template) || !find_fragment(root, places, template, path)))
			return -ENOENT;
		if (root_link(root, path, target, sizeof(target)) < 0)
			break;
		if (strcmp(target, "/dev/null") == 0) {
			*ret_is_masked = true;
			return 0;
		}
		if (strcmp(text_base(target), text_base(path)) == 0)
			break;
		(void)snprintf(name, NAME_BYTES, "%s", text_base(target));
	}
	err = quoting_add(ret, strdup(path));
	return err < 0 ? err : find_drop_ins(root, places, name, ret);
}
