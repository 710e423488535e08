/* leaks_before.c - seep leaks --types --before: an earlier moment to compare with. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/cmd_parts.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "command/shell/input.h"
#include "print/json/leaks_json.h"
#include "names/find/program.h"
#include "kit/os/infile.h"

enum { BEFORE_MAX = 64 << 20, PIECE = 65536 };

static _Noreturn void die_memory(void)
{
	die(CMD_INPUT, "leaks: out of memory");
}

/* An object of JSON, for all that its beginning shows. */
static bool is_json(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && isspace((unsigned char)text[i]))
		i++;
	return i < len && text[i] == '{';
}

/* The whole file, for free(); NULL: it is no JSON. */
static char *read_file(const char *path, size_t *ret_len)
{
	int fd = infile_open_text(path);
	size_t len = 0, room = PIECE;
	char *text = malloc(room);
	ssize_t n = 1;

	if (!text)
		die_memory();
	if (fd < 0)
		die(CMD_INPUT, "leaks: %s: %s", path, fd == -EINVAL ? "not a file" : strerror(-fd));
	while (n > 0 && (len < PIECE || is_json(text, len))) {
		if (len == room) {
			char *bigger;

			room *= 2;
			bigger = room > BEFORE_MAX ? NULL : realloc(text, room);
			if (bigger)
				text = bigger;
			else
				die(CMD_INPUT, "leaks: %s: it is too large", path);
		}
		n = read(fd, text + len, room - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		die(CMD_INPUT, "leaks: %s: %s", path, strerror(errno));
	(void)close(fd);
	if (!is_json(text, len)) {
		free(text);
		return NULL;
	}
	*ret_len = len;
	return text;
}

/* input_load() takes digits for a PID, and this is the name of a file. */
static struct session *load(const char *path)
{
	struct session *s;
	char *name;

	if (strchr(path, '/'))
		return input_load(path);
	if (asprintf(&name, "./%s", path) < 0)
		die_memory();
	s = input_load(name);
	free(name);
	return s;
}

/* The process of that program with most bytes; NULL: none has types. */
static const struct inventory *find(const struct session *s, const struct process *of)
{
	const struct inventory *found = NULL;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		if (p->inventory && p->inventory->has_types &&
		    strcmp(p->header.exe, of->header.exe) == 0 &&
		    (!found || p->inventory->counted.bytes > found->counted.bytes))
			found = p->inventory;
	}
	return found;
}

static void add_recording(const char *path, const struct process *p, struct by_type *t)
{
	struct session *s = load(path);
	const struct inventory *v = find(s, p);

	if (!v)
		die(CMD_INPUT,
		    "leaks: %s: has no stored types of %s: make a recording "
		    "that has them with seep record --types CMD",
		    path, program_name(&p->header));
	if (by_type_add_inventory(t, v, true) < 0)
		die_memory();
	session_free(s);
}

void leaks_before(const char *path, const struct process *p, struct by_type *t)
{
	size_t len = 0;
	char *text = read_file(path, &len);
	int err;

	if (!text) {
		add_recording(path, p, t);
		return;
	}
	err = census_json_read(text, len, t);
	if (err == -ENOMEM)
		die_memory();
	if (err < 0)
		die(CMD_INPUT,
		    "leaks: %s: it has no census of types: make one with seep "
		    "leaks --types --format json -o FILE PID",
		    path);
	free(text);
}
