/* daemon.c - which program a unit is about, as far as systemd says. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/unit.h"

#include "kit/words/text.h"

/* Programs that start the one that is named in their arguments. */
static bool is_launcher(const char *path)
{
	static const char *const names[] = {"sh", "bash", "dash", "ash", "ksh", "zsh", "busybox",
	    "env", "nice", "ionice", "chrt", "taskset", "numactl", "setpriv", "runuser", "su",
	    "sudo", "chroot", "unshare", "nohup", "setsid", "stdbuf", "timeout", "flock", "prlimit",
	    "start-stop-daemon", "systemd-run", "systemd-cat", "tini", "dumb-init"};
	char start[2] = "";
	int fd;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text_base(path), names[i]) == 0)
			return true;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false; /* a unit may mount it into its root */
	if (read(fd, start, sizeof(start)) != sizeof(start))
		start[0] = '\0';
	(void)close(fd);
	return memcmp(start, "#!", 2) == 0;
}

static int add_once(struct quoting_words *w, const char *text)
{
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(w->items[i], text) == 0)
			return 0;
	return quoting_add(w, strdup(text));
}

/* The program of the main process. */
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
	return !is_launcher(to);
}

/* Does one of them lead to this file? Then the unit's name for it stays. */
static bool has_file(const struct quoting_words *found, const char *path)
{
	for (size_t i = 0; i < found->count; i++) {
		char *real = realpath(found->items[i], NULL);
		bool is_same = real && strcmp(real, path) == 0;

		free(real);
		if (is_same)
			return true;
	}
	return false;
}

int daemon_find(const struct unit *u, struct quoting_words *ret)
{
	struct unit_commands c = {0};
	char path[PATH_MAX];
	int err = unit_commands(u, "ExecStart", &c);

	for (size_t i = 0; i < c.count && err == 0; i++)
		if (c.items[i].path && c.items[i].path[0] && !strpbrk(c.items[i].path, "$`") &&
		    !is_launcher(c.items[i].path))
			err = add_once(ret, c.items[i].path);
	unit_commands_release(&c);
	if (err < 0 || !find_running(u, path) || has_file(ret, path))
		return err;
	quoting_release(ret);
	return add_once(ret, path);
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

int daemon_names(const struct quoting_words *found, char **ret)
{
	struct quoting_words names = {0};
	int err = 0;

	*ret = NULL;
	for (size_t i = 0; i < found->count && err == 0; i++) {
		char *real;

		if (strchr(text_base(found->items[i]), ':'))
			continue; /* the separator */
		err = add_once(&names, text_base(found->items[i]));
		/* it may start itself again as /proc/self/exe */
		real = realpath(found->items[i], NULL);
		if (real && err == 0 && !strchr(text_base(real), ':'))
			err = add_once(&names, text_base(real));
		free(real);
	}
	if (err == 0)
		*ret = join(&names);
	quoting_release(&names);
	return *ret ? 0 : -ENOMEM;
}
