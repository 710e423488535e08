/* doctor_unit_environment.c - does LD_PRELOAD arrive in the daemon of a unit? */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/doctor/doctor_environment.h"
#include "attach/doctor/doctor_unit_parts.h"
#include "attach/service/daemon.h"
#include "kit/words/text.h"

enum { WRAPPERS_MAX = 8 };

/* ---- Environment=, EnvironmentFile=, UnsetEnvironment= ---- */

static void check_files(struct doctor_unit_look *l)
{
	struct unit_environment_files files = {0};

	if (unit_environment_files(l->u, &files) < 0) {
		l->r->is_cut = true;
		return;
	}
	for (size_t i = 0; i < files.count; i++) {
		const struct unit_environment_file *f = &files.items[i];
		const char *value = unit_variable(&f->variables, "LD_PRELOAD");
		char *ours = value ? doctor_environment_find(value) : NULL;

		if (value && !ours)
			doctor_add(l->r, DOCTOR_FAIL, "environment",
			    "remove it there, or add the path of libseep.so to "
			    "it there",
			    "%s (EnvironmentFile=) sets LD_PRELOAD=%s, which "
			    "wins over the Environment= of a drop-in",
			    f->path, value);
		else if (!f->is_read && !f->is_optional)
			doctor_add(l->r, DOCTOR_WARN, "environment", "run doctor as root",
			    "%s (EnvironmentFile=) cannot be read: it may set "
			    "LD_PRELOAD",
			    f->path);
		free(ours);
	}
	unit_environment_files_release(&files);
}

/* A word NAME, or NAME=VALUE, which only removes that value. */
static void check_unset(struct doctor_unit_look *l)
{
	static const char *const names[] = {"LD_PRELOAD", "SEEP_BASE", "SEEP_ONLY"};
	struct quoting_words words = {0};

	if (unit_list(l->u, "UnsetEnvironment", &words) < 0)
		l->r->is_cut = true;
	for (size_t i = 0; i < words.count; i++)
		for (size_t k = 0; k < 3; k++)
			if (!strcmp(words.items[i], names[k]))
				doctor_add(l->r, k == 0 ? DOCTOR_FAIL : DOCTOR_WARN, "environment",
				    "remove it from UnsetEnvironment=",
				    "UnsetEnvironment= removes %s", names[k]);
	quoting_release(&words);
}

static void check_own(struct doctor_unit_look *l)
{
	struct quoting_words own = {0};
	const char *value;
	char *ours;

	if (unit_environment(l->u, NULL, &own) < 0) {
		l->r->is_cut = true;
		return;
	}
	value = unit_variable(&own, "LD_PRELOAD");
	ours = value ? doctor_environment_find(value) : NULL;
	l->is_enabled = ours != NULL;
	if (ours)
		doctor_add(l->r, DOCTOR_OK, "preload", NULL, "LD_PRELOAD names %s", ours);
	else if (value && value[0])
		doctor_add(l->r, DOCTOR_OK, "preload", NULL,
		    "LD_PRELOAD is %s; seep service enable adds the collector", value);
	else
		doctor_add(l->r, DOCTOR_OK, "preload", NULL,
		    "the collector is not preloaded; seep service enable does "
		    "that");
	free(ours);
	quoting_release(&own);
}

bool doctor_unit_is_preloaded(const struct unit *u)
{
	struct quoting_words own = {0};
	const char *value;
	char *ours = NULL;
	bool is;

	if (unit_environment(u, NULL, &own) == 0 && (value = unit_variable(&own, "LD_PRELOAD")))
		ours = doctor_environment_find(value);
	is = ours != NULL;
	quoting_release(&own);
	free(ours);
	return is;
}

/* ---- the command ---- */

/* Programs that start another one, which is among their words. */
static bool is_wrapper(const char *name)
{
	static const char *const names[] = {"env", "nice", "ionice", "chrt", "numactl", "taskset",
	    "timeout", "setsid", "stdbuf", "setpriv", "prlimit", "nohup", "setarch", "choom",
	    "catchsegv", "strace"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_shell(const char *name)
{
	return !strcmp(name, "sh") || !strcmp(name, "bash") || !strcmp(name, "dash") ||
	    !strcmp(name, "ksh") || !strcmp(name, "zsh");
}

/* What the options of `env` do to our variables. */
static void check_env(struct doctor_unit_look *l, char **argv, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const char *w = argv[i];
		const char *name = NULL;

		if (!strcmp(w, "-i") || !strcmp(w, "-") || !strcmp(w, "--ignore-environment"))
			doctor_add(l->r, DOCTOR_FAIL, "environment",
			    "remove that option in a drop-in with another "
			    "ExecStart=",
			    "its command clears the environment (env %s), "
			    "LD_PRELOAD included",
			    w);
		if (!strcmp(w, "-u") && i + 1 < count)
			name = argv[++i];
		else if (text_begins_with(w, "--unset="))
			name = w + strlen("--unset=");
		if (name && !strcmp(name, "LD_PRELOAD"))
			doctor_add(l->r, DOCTOR_FAIL, "environment", "remove that option",
			    "its command removes LD_PRELOAD (env -u)");
		if (text_begins_with(w, "LD_PRELOAD="))
			doctor_add(l->r, DOCTOR_FAIL, "environment",
			    "add the path of libseep.so to it there",
			    "its command sets %s, which wins over the unit", w);
		if (w[0] == '/' || (w[0] != '-' && !strchr(w, '=') && !name))
			return;
	}
}

/* A command: its words from `first` on. */
struct command {
	struct quoting_words words;
	size_t first;
};

static void check_script(struct doctor_unit_look *l, const struct quoting_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *w = words->items[i];

		if (text_begins_with(w, "LD_PRELOAD=") ||
		    (!strcmp(w, "unset") && i + 1 < words->count &&
		        !strcmp(words->items[i + 1], "LD_PRELOAD")))
			doctor_add(l->r, DOCTOR_FAIL, "environment",
			    "change the script, or ExecStart= in a drop-in",
			    "its command is a script that changes LD_PRELOAD");
	}
}

/*
 * The command becomes that of a script: its first words that are no assignment,
 * or those behind the last exec. False: the script has none.
 */
static bool enter_script(struct doctor_unit_look *l, struct command *c, const char *script)
{
	struct command inner = {0};

	if (quoting_split(script, &inner.words) < 0)
		l->r->is_cut = true;
	check_script(l, &inner.words);
	for (size_t i = 0; i < inner.words.count; i++)
		if (!strcmp(inner.words.items[i], "exec"))
			inner.first = i + 1;
	while (inner.first < inner.words.count && strchr(inner.words.items[inner.first], '='))
		inner.first++;
	if (inner.first >= inner.words.count) {
		quoting_release(&inner.words);
		return false;
	}
	quoting_release(&c->words);
	*c = inner;
	return true;
}

/* The command that a shell or a wrapper runs; false: it is neither. */
static bool enter(struct doctor_unit_look *l, struct command *c)
{
	char **argv = c->words.items + c->first;
	size_t count = c->words.count - c->first;
	const char *name = text_base(argv[0]);

	if (is_shell(name)) {
		for (size_t i = 1; i + 1 < count; i++)
			if (argv[i][0] == '-' && strchr(argv[i], 'c'))
				return enter_script(l, c, argv[i + 1]);
	} else if (is_wrapper(name)) {
		if (!strcmp(name, "env"))
			check_env(l, argv, count);
		for (size_t i = 1; i < count; i++)
			if (argv[i][0] == '/') {
				c->first += i;
				return true;
			}
	}
	return false;
}

/*
 * Looks at what shells and wrappers do to the environment. Returns the program
 * behind them for free(), or NULL.
 */
static char *walk(struct doctor_unit_look *l, const struct unit_command *u)
{
	struct command c = {0};
	int err = quoting_add(&c.words, strdup(u->path));
	char *last = NULL;

	/* argv[0] may be anything (ExecStart=@), the path is not */
	for (size_t i = 1; err == 0 && i < u->argv.count; i++)
		err = quoting_add(&c.words, strdup(u->argv.items[i]));
	for (int i = 0; err == 0 && i < WRAPPERS_MAX && enter(l, &c); i++)
		;
	if (err == 0)
		last = strdup(c.words.items[c.first]);
	if (!last)
		l->r->is_cut = true;
	quoting_release(&c.words);
	return last;
}

/*
 * As seep service enable finds it. If that finds none, a path may be wrong, which
 * is to be said; a name with a variable in it says nothing.
 */
static void find_daemon(struct doctor_unit_look *l, const struct unit_command *u)
{
	struct quoting_words found = {0};
	char *last = walk(l, u);

	if (daemon_find(l->u, &found) < 0)
		l->r->is_cut = true;
	else if (found.count > 0)
		(void)snprintf(l->daemon, sizeof(l->daemon), "%.4000s", found.items[0]);
	else if (last && last[0] == '/' && !strpbrk(last, "$`"))
		(void)snprintf(l->daemon, sizeof(l->daemon), "%.4000s", last);
	quoting_release(&found);
	free(last);
}

static void check_command(struct doctor_unit_look *l)
{
	struct unit_commands commands = {0};
	const struct unit_command *c;

	if (unit_commands(l->u, "ExecStart", &commands) < 0) {
		l->r->is_cut = true;
		return;
	}
	c = commands.count ? &commands.items[commands.count - 1] : NULL;
	if (!c || !c->path || !c->path[0]) {
		doctor_add(l->r, DOCTOR_FAIL, "command", NULL, "the unit has no ExecStart=");
	} else {
		find_daemon(l, c);
		if (l->daemon[0] && strcmp(l->daemon, c->path) != 0)
			doctor_add(
			    l->r, DOCTOR_OK, "command", NULL, "%s starts %s", c->path, l->daemon);
	}
	unit_commands_release(&commands);
}

void doctor_unit_environment(struct doctor_unit_look *l)
{
	check_own(l);
	check_files(l);
	check_unset(l);
	check_command(l);
}
