/* unit.c - what systemd knows of a unit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/unit.h"

#include <strings.h>

#include "kit/data/room.h"
#include "kit/words/text.h"

#define PROBE "seep" /* the instance of a template that is asked about */

/* ---- names ---- */

static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	    (c && strchr(":-_.\\@", c));
}

int unit_name(const char *text, char ret[UNIT_NAME_BYTES], struct fault *where)
{
	static const char *const others[] = {".socket", ".target", ".timer", ".mount", ".automount",
	    ".path", ".slice", ".scope", ".swap", ".device"};
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (!is_name_character(text[i]))
			return fault_set(where, -EINVAL, "this cannot be the name of a unit");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (text_ends_with(text, others[i]))
			return fault_set(where, -EINVAL, "only a service runs a program, not a %s",
			    others[i] + 1);
	if (n == 0 || text[0] == '.' || text[0] == '@' || strcmp(text, ".service") == 0)
		return fault_set(where, -EINVAL, "this cannot be the name of a unit");
	if ((size_t)snprintf(ret, UNIT_NAME_BYTES, "%s%s", text,
	        text_ends_with(text, ".service") ? "" : ".service") >= UNIT_NAME_BYTES)
		return fault_set(where, -EINVAL, "the name is too long");
	return 0;
}

/* foo@.service */
static bool is_template(const char *name)
{
	const char *at = strchr(name, '@');

	return at && strcmp(at, "@.service") == 0;
}

/* ---- systemctl show ---- */

static int add_property(struct unit *u, const char *line, size_t len)
{
	const char *equal = memchr(line, '=', len);
	struct unit_property p;

	if (!equal)
		return 0;
	p.name = strndup(line, (size_t)(equal - line));
	p.value = strndup(equal + 1, (size_t)(line + len - equal - 1));
	if (!p.name || !p.value || room_make(&u->properties, &u->room, u->count, sizeof(p)) < 0) {
		free(p.name);
		free(p.value);
		return -ENOMEM;
	}
	u->properties[u->count++] = p;
	return 0;
}

static int parse_properties(struct unit *u, const char *text)
{
	int err = 0;

	while (*text && err == 0) {
		size_t n = strcspn(text, "\n");

		err = add_property(u, text, n);
		text += n + (text[n] == '\n');
	}
	return err;
}

static int read_files(struct unit *u)
{
	const char *fragment = unit_get(u, "FragmentPath");
	struct quoting_words drop_ins = {0};
	int err = quoting_split(unit_get(u, "DropInPaths"), &drop_ins);

	if (err == 0 && fragment[0] == '/')
		err = unit_file_read(&u->files, fragment);
	for (size_t i = 0; i < drop_ins.count && err == 0; i++)
		err = unit_file_read(&u->files, drop_ins.items[i]);
	quoting_release(&drop_ins);
	return err;
}

/* The name under which systemd answers: an instance in place of a template. */
static int name_to_ask(
    const struct unit *u, char to[UNIT_NAME_BYTES + sizeof(PROBE)], struct fault *where)
{
	int n = snprintf(to, UNIT_NAME_BYTES + sizeof(PROBE), "%.*s%s.service",
	    (int)(strlen(u->name) - strlen(".service")), u->name, u->is_template ? PROBE : "");

	return n < UNIT_NAME_BYTES ? 0 : fault_set(where, -EINVAL, "the name is too long");
}

static int ask(struct unit *u, struct fault *where)
{
	char name[UNIT_NAME_BYTES + sizeof(PROBE)], *answer = NULL;
	const char *arguments[] = {"show", "--", name, NULL};
	int err = name_to_ask(u, name, where);

	if (err == 0)
		err = systemctl_run(u->manager.is_user, arguments, SYSTEMCTL_ASK_S, &answer, where);
	if (err < 0)
		return err;
	err = parse_properties(u, answer);
	free(answer);
	if (err < 0)
		return fault_set(where, err, "out of memory");
	if (strcmp(unit_get(u, "LoadState"), "not-found") == 0)
		return fault_set(where, -ENOENT, "there is no such unit");
	u->is_masked = strcmp(unit_get(u, "LoadState"), "masked") == 0;
	/* it must be a name that may become part of a path */
	if (!u->is_template && unit_name(unit_get(u, "Id"), u->name, where) < 0)
		return fault_set(where, -EIO, "systemd gave it no name");
	err = read_files(u);
	return err < 0 ? fault_set(where, err, "%s", strerror(-err)) : 0;
}

int unit_load(const char *text, const struct unit_manager *m, struct unit *ret, struct fault *where)
{
	struct unit u = {.manager = *m};
	int err = unit_name(text, u.name, where);

	if (err < 0)
		return err;
	u.is_template = is_template(u.name);
	err = ask(&u, where);
	if (err < 0) {
		unit_release(&u);
		return err;
	}
	*ret = u;
	return 0;
}

void unit_release(struct unit *u)
{
	for (size_t i = 0; i < u->count; i++) {
		free(u->properties[i].name);
		free(u->properties[i].value);
	}
	free(u->properties);
	unit_file_release(&u->files);
	*u = (struct unit){0};
}

/* ---- properties ---- */

const char *unit_next(const struct unit *u, const char *name, size_t *at)
{
	while (*at < u->count) {
		const struct unit_property *p = &u->properties[(*at)++];

		if (strcmp(p->name, name) == 0)
			return p->value;
	}
	return NULL;
}

const char *unit_get(const struct unit *u, const char *name)
{
	size_t at = 0;
	const char *value = unit_next(u, name, &at);

	for (size_t i = u->files.count; !value && i > 0; i--)
		if (strcmp(u->files.settings[i - 1].key, name) == 0)
			value = u->files.settings[i - 1].value;
	return value ? value : "";
}

bool unit_is_on(const struct unit *u, const char *name)
{
	static const char *const words[] = {"yes", "true", "on", "1", "y", "t"};
	const char *value = unit_get(u, name);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

int unit_list(const struct unit *u, const char *name, struct quoting_words *ret)
{
	size_t at = 0;
	const char *value;
	int err = 0;

	while (err == 0 && (value = unit_next(u, name, &at)))
		err = quoting_split(value, ret);
	return err;
}

int unit_add_text(struct unit *u, const char *path, const char *text)
{
	const size_t before = u->files.count;
	int err = unit_file_parse(&u->files, path, text);

	for (size_t i = before; i < u->files.count && err == 0; i++) {
		const struct unit_setting *s = &u->files.settings[i];
		char *line;

		if (asprintf(&line, "%s=%s", s->key, s->value) < 0)
			return -ENOMEM;
		err = add_property(u, line, strlen(line));
		free(line);
	}
	return err;
}

pid_t unit_main_pid(const struct unit *u)
{
	const char *text = unit_get(u, "MainPID");
	char *end;
	long pid = strtol(text, &end, 10);

	return *text && !*end && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

bool unit_has_mount_namespace(const struct unit *u)
{
	static const char *const switches[] = {"PrivateTmp", "PrivateDevices", "PrivateMounts",
	    "PrivateIPC", "ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs",
	    "ProtectControlGroups", "MountAPIVFS", "DynamicUser"};
	static const char *const lists[] = {"ReadWritePaths", "ReadOnlyPaths", "InaccessiblePaths",
	    "ExecPaths", "NoExecPaths", "BindPaths", "BindReadOnlyPaths", "TemporaryFileSystem",
	    "MountImages", "ExtensionImages", "ExtensionDirectories", "RootDirectory", "RootImage",
	    "LogNamespace", "MountFlags"};
	/* names, and the value that changes nothing */
	static const char *const words[][2] = {{"ProtectSystem", "no"}, {"ProtectHome", "no"},
	    {"ProtectProc", "default"}, {"ProcSubset", "all"}};

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		if (unit_is_on(u, switches[i]))
			return true;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *value = unit_get(u, lists[i]);

		if (value[0] && strcmp(value, "0") != 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *value = unit_get(u, words[i][0]);

		if (value[0] && strcmp(value, words[i][1]) != 0 && strcmp(value, "false") != 0 &&
		    strcmp(value, "off") != 0 && strcmp(value, "0") != 0)
			return true;
	}
	return false;
}

/* ---- unit_commands: the command lines of a unit: ExecStart= and the like ---- */

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
