/* daemon.c - which program a unit is about, behind shells and wrappers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/daemon.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/service/root.h"
#include "attach/service/shell_text.h"
#include "kit/words/text.h"

enum { DEPTH_MAX = 8, SCRIPT_BYTES = 256 << 10, HEAD_BYTES = 256 };

/* A program that was named, and what it is. */
struct program {
	char path[PATH_MAX]; /* in the root, as it was named */
	char real[PATH_MAX]; /* without links */
	char head[HEAD_BYTES + 1];
	bool is_script;
};

struct search {
	const char *root;
	struct quoting_words *found;
	int depth;
};

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

static bool is_shell(const char *name)
{
	static const char *const shells[] = {
	    "sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh", "rbash", "busybox", NULL};

	return is_one_of(name, shells);
}

/* Programs that start the one that is named in their arguments. */
static bool is_wrapper(const char *name)
{
	static const char *const wrappers[] = {"env", "nice", "ionice", "chrt", "taskset",
	    "numactl", "nohup", "setsid", "stdbuf", "timeout", "unshare", "nsenter", "setpriv",
	    "capsh", "runuser", "su", "sudo", "doas", "chroot", "start-stop-daemon", "flock",
	    "prlimit", "systemd-cat", "systemd-inhibit", "systemd-run", "softlimit", "chpst",
	    "cgexec", "gosu", "su-exec", "tini", "dumb-init", "daemonize", "xvfb-run",
	    "dbus-run-session", "dbus-launch", "catchsegv", "time", "exec", "command", "authbind",
	    "setarch", "linux64", "unbuffer", "firejail", "bwrap", NULL};

	return is_one_of(name, wrappers);
}

/* Programs of a shell's text that are steps on the way to the daemon. */
static bool is_step(const char *name)
{
	static const char *const steps[] = {"[", "test", "true", "false", "echo", "printf", "cat",
	    "mkdir", "rmdir", "rm", "cp", "mv", "ln", "touch", "chmod", "chown", "chgrp", "install",
	    "sleep", "kill", "pkill", "logger", "grep", "sed", "awk", "cut", "tr", "head", "tail",
	    "tee", "id", "date", "mount", "umount", "sysctl", "modprobe", "systemctl", "hostname",
	    "uname", "expr", "seq", "readlink", "realpath", "dirname", "basename", "find", "xargs",
	    "pwd", "stat", "wc", NULL};

	return is_one_of(name, steps);
}

/* ---- files ---- */

/* The path of an open file in the root, without links. */
static bool path_of(const char *root, int fd, char to[PATH_MAX])
{
	char link[64], real_root[PATH_MAX] = "";
	ssize_t n;
	size_t skip;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, to, PATH_MAX - 1);
	if (n <= 0)
		return false;
	to[n] = '\0';
	if (!root || !realpath(root, real_root) || !real_root[1])
		return true;
	skip = strlen(real_root);
	if (strncmp(to, real_root, skip) == 0 && to[skip] == '/')
		memmove(to, to + skip, strlen(to) - skip + 1);
	return true;
}

static bool open_program(const char *root, const char *path, struct program *ret)
{
	int fd = root_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111) &&
	    path_of(root, fd, ret->real))
		n = pread(fd, ret->head, HEAD_BYTES, 0);
	(void)close(fd);
	if (n < 0)
		return false;
	ret->head[n] = '\0';
	(void)snprintf(ret->path, sizeof(ret->path), "%s", path);
	ret->is_script = strncmp(ret->head, "#!", 2) == 0;
	return true;
}

static bool find_program(const char *root, const char *word, struct program *ret)
{
	static const char *const places[] = {
	    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};

	if (word[0] == '/')
		return open_program(root, word, ret);
	if (!word[0] || strchr(word, '/'))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s/%s", places[i], word) < (int)sizeof(path) &&
		    open_program(root, path, ret))
			return true;
	}
	return false;
}

static int add_found(struct search *s, const char *path)
{
	int err;

	for (size_t i = 0; i < s->found->count; i++)
		if (strcmp(s->found->items[i], path) == 0)
			return 1;
	err = quoting_add(s->found, strdup(path));
	return err < 0 ? err : 1;
}

/* ---- command lines ---- */

/* NOLINTBEGIN(misc-no-recursion): DEPTH_MAX bounds it, see search_words() */

static int search_words(struct search *s, char *const *argv, size_t count);

static bool is_assignment(const char *word)
{
	size_t n = strcspn(word, "=");

	return word[n] == '=' && n > 0 && (isalpha((unsigned char)word[0]) || word[0] == '_') &&
	    !memchr(word, '/', n);
}

/* Would a shell or systemd replace something in it? */
static bool has_variable(const char *word)
{
	return strpbrk(word, "$`") != NULL;
}

/* The last result of a text, and whether an exec led to it. */
struct best {
	struct quoting_words found;
	bool is_exec;
};

/* One simple command of a text. -ENOMEM. */
static int search_command(
    struct search *s, char *const *argv, size_t count, bool exec_only, struct best *best)
{
	static const char *const keywords[] = {"if", "then", "else", "elif", "do", "while", "until",
	    "!", "{", "}", "fi", "done", "time", NULL};
	struct quoting_words found = {0};
	struct search inner = {s->root, &found, s->depth + 1};
	bool is_exec;
	int n;

	while (count > 0 && (is_one_of(*argv, keywords) || is_assignment(*argv)))
		argv++, count--;
	if (count == 0)
		return 0;
	is_exec = strcmp(*argv, "exec") == 0;
	if (is_exec)
		argv++, count--;
	if (count == 0 || (!is_exec && (exec_only || best->is_exec)) || is_step(text_base(*argv)))
		return 0;
	n = search_words(&inner, argv, count);
	if (n > 0) {
		quoting_release(&best->found);
		best->found = found;
		best->is_exec = is_exec;
		return 0;
	}
	quoting_release(&found);
	return n;
}

/* The program after the last exec, or the last one that is no mere step. */
static int search_text(struct search *s, const char *text, bool exec_only)
{
	struct best best = {0};
	int n = 1, err = 0, result = 0;

	while (n > 0 && err == 0) {
		struct quoting_words w = {0};

		n = shell_text_next(&text, &w);
		if (n > 0)
			err = search_command(s, w.items, w.count, exec_only, &best);
		quoting_release(&w);
	}
	if (n < 0 || err < 0)
		result = -ENOMEM;
	for (size_t i = 0; i < best.found.count && result >= 0; i++)
		result = add_found(s, best.found.items[i]);
	quoting_release(&best.found);
	return result;
}

/* The only program that a script names by its path; 0: none, or several. */
static int search_paths(struct search *s, const char *text)
{
	static const char part[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ"
	                           "RSTUVWXYZ0123456789/._+-";
	char only[PATH_MAX] = "";

	text += strcspn(text, "\n"); /* #! */
	while (*text) {
		size_t n = strspn(text, part);
		struct program p;
		char path[PATH_MAX];

		if (text[0] == '/' && n < sizeof(path)) {
			memcpy(path, text, n);
			path[n] = '\0';
			if (open_program(s->root, path, &p) && !p.is_script &&
			    !is_shell(text_base(path)) && !is_step(text_base(path)) &&
			    !is_wrapper(text_base(path))) {
				if (only[0] && strcmp(only, p.path) != 0)
					return 0;
				memcpy(only, p.path, sizeof(only));
			}
		}
		text += n ? n : 1;
	}
	return only[0] ? add_found(s, only) : 0;
}

/* A script's interpreter is its first word, or behind env the second one. */
static bool find_interpreter(const char *root, const char *head, struct program *ret)
{
	char line[HEAD_BYTES + 1], *save = NULL;
	const char *word;

	(void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(head + 2, "\n"), head + 2);
	word = strtok_r(line, " \t", &save);
	if (word && strcmp(text_base(word), "env") == 0)
		do
			word = strtok_r(NULL, " \t", &save);
		while (word && (word[0] == '-' || is_assignment(word)));
	return word && find_program(root, word, ret);
}

/*
 * A script of a shell or of perl often ends in exec; otherwise, and in other
 * languages, its interpreter is the daemon.
 */
static int search_script(struct search *s, const char *path, const char *head)
{
	struct program p;
	char *text = NULL;
	bool shell;
	int n = 0;

	if (!find_interpreter(s->root, head, &p))
		return 0;
	shell = is_shell(text_base(p.path));
	if (!shell && strncmp(text_base(p.path), "perl", 4) != 0)
		return add_found(s, p.real);
	if (root_read(s->root, path, SCRIPT_BYTES, &text) == 0) {
		if (shell)
			n = search_text(s, text, true);
		if (n == 0 && strstr(text, "exec"))
			n = search_paths(s, text);
	}
	free(text);
	return n == 0 && !shell ? add_found(s, p.real) : n;
}

/* sh -c TEXT, or sh FILE. */
static int search_shell(struct search *s, char *const *argv, size_t count)
{
	struct program p;

	for (size_t i = 1; i < count; i++) {
		const char *word = argv[i];

		if (word[0] == '-' && word[1] != '-' && strchr(word, 'c'))
			return i + 1 < count ? search_text(s, argv[i + 1], false) : 0;
		if (word[0] == '-' && word[1] != '-' && strchr(word, 'o')) {
			i++; /* -o errexit */
			continue;
		}
		if (word[0] == '-' || word[0] == '+')
			continue;
		return find_program(s->root, word, &p) && p.is_script
		    ? search_script(s, p.path, p.head)
		    : 0;
	}
	return 0;
}

/* The first argument that is a program, or a text that has one. */
static int search_wrapped(struct search *s, char *const *argv, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct program p;
		int n = 0;

		if (argv[i][0] == '-' || is_assignment(argv[i]) || has_variable(argv[i]))
			continue;
		if (strpbrk(argv[i], " ;"))
			n = search_text(s, argv[i], false);
		else if (find_program(s->root, argv[i], &p))
			n = search_words(s, argv + i, count - i);
		if (n != 0)
			return n;
	}
	return 0;
}

static int search_words(struct search *s, char *const *argv, size_t count)
{
	struct program p;
	const char *name;
	int n = 0;

	if (s->depth >= DEPTH_MAX)
		return 0;
	while (count > 0 && (has_variable(*argv) || is_assignment(*argv)))
		argv++, count--;
	if (count == 0)
		return 0;
	name = text_base(*argv);
	s->depth++;
	/* these need not be there: a unit may mount them into its root */
	if (is_shell(name))
		n = search_shell(s, argv, count);
	else if (is_wrapper(name))
		n = search_wrapped(s, argv, count);
	else if (!find_program(s->root, *argv, &p))
		n = 0;
	else if (p.is_script)
		n = search_script(s, p.path, p.head);
	else
		n = add_found(s, p.path);
	s->depth--;
	return n;
}

/* NOLINTEND(misc-no-recursion) */

int daemon_find_in(const char *root, char *const *argv, size_t count, struct quoting_words *ret)
{
	struct search s = {root, ret, 0};

	return search_words(&s, argv, count);
}

/* ---- units ---- */

/* The program of the main process, unless that is a shell or a wrapper. */
static bool find_running(const struct unit *u, char to[PATH_MAX])
{
	static const char gone[] = " (deleted)";
	pid_t pid = unit_main_pid(u);
	char link[64];
	ssize_t n;

	if (pid == 0)
		return false;
	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, to, PATH_MAX - 1);
	if (n <= 0 || to[0] != '/')
		return false;
	to[n] = '\0';
	if (text_ends_with(to, gone)) /* an update has replaced it */
		to[(size_t)n - (sizeof(gone) - 1)] = '\0';
	return !is_shell(text_base(to)) && !is_wrapper(text_base(to));
}

/* With "@" the first word is a name, not the program. */
static int search_unit_command(struct search *s, const struct unit_command *c)
{
	size_t count = c->argv.count > 0 ? c->argv.count : 1;
	char **argv = calloc(count + 1, sizeof(char *));
	int n;

	if (!argv)
		return -ENOMEM;
	if (c->argv.count > 0)
		memcpy(argv, c->argv.items, count * sizeof(char *));
	argv[0] = c->path;
	n = search_words(s, argv, count);
	free(argv);
	return n;
}

int daemon_find(const struct unit *u, struct quoting_words *ret)
{
	const char *image = unit_get(u, "RootDirectory");
	struct search s = {u->manager.root, ret, 0};
	struct unit_commands c = {0};
	char path[PATH_MAX];
	int n;

	if (!s.root && image[0] == '/')
		s.root = image;
	n = unit_commands(u, "ExecStart", &c);
	for (size_t i = 0; i < c.count && n >= 0; i++)
		n = search_unit_command(&s, &c.items[i]);
	unit_commands_release(&c);
	if (n < 0 || s.root || !find_running(u, path))
		return n < 0 ? n : 0;
	for (size_t i = 0; i < ret->count; i++) {
		struct program p;

		if (open_program(NULL, ret->items[i], &p) && strcmp(p.real, path) == 0)
			return 0; /* by the name that the unit has for it */
	}
	quoting_release(ret);
	n = add_found(&s, path);
	return n < 0 ? n : 0;
}

/* Joins them by colons; NULL: no memory. */
static char *join(const struct quoting_words *names)
{
	size_t bytes = 1;
	char *list, *to;

	for (size_t i = 0; i < names->count; i++)
		bytes += strlen(names->items[i]) + 1;
	list = to = calloc(1, bytes);
	for (size_t i = 0; list && i < names->count; i++)
		to += sprintf(to, "%s%s", i ? ":" : "", names->items[i]);
	return list;
}

int daemon_names(const char *root, const struct quoting_words *found, char **ret)
{
	struct quoting_words names = {0};
	struct search s = {root, &names, 0};
	int n = 0;

	*ret = NULL;
	for (size_t i = 0; i < found->count && n >= 0; i++) {
		const char *name = text_base(found->items[i]);
		struct program p;

		if (strchr(name, ':'))
			continue; /* the separator */
		n = add_found(&s, name);
		/* it may start itself again as /proc/self/exe */
		if (n >= 0 && open_program(root, found->items[i], &p) &&
		    !strchr(text_base(p.real), ':'))
			n = add_found(&s, text_base(p.real));
	}
	if (n >= 0)
		*ret = join(&names);
	quoting_release(&names);
	return *ret ? 0 : -ENOMEM;
}
