/* unit.h - what systemd knows of a unit. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UNIT_H
#define SEEP_UNIT_H

#include "base/std.h"
#include "attach/service/unit_file.h"
#include "kit/os/fault.h"

/*
 * All texts come from unit files and are untrusted: they may contain anything
 * but NUL, and must be escaped before they are printed or written.
 */
enum { UNIT_NAME_BYTES = 256 };

/* Which systemd. */
struct unit_manager {
	bool is_user; /* the user's own (systemctl --user) */
};

struct unit_property {
	char *name, *value;
};

struct unit {
	struct unit_manager manager;
	char name[UNIT_NAME_BYTES]; /* its own, if an alias was given */
	bool is_template;           /* foo@.service, which cannot run */
	bool is_masked;
	/* as `systemctl show` prints them; of a template those of an instance */
	struct unit_property *properties;
	size_t count, room;
	struct unit_files files; /* its own file first, then the drop-ins */
};

/* A line of ExecStart= and the like. */
struct unit_command {
	char *prefix;              /* what stood before the path: "-", "@", "+!" or "" */
	char *path;                /* of the program, or its name if systemd shall find it */
	struct quoting_words argv; /* as written: variables are not replaced */
};

/*
 * The name as systemd wants it: "redis" is "redis.service". -EINVAL: it cannot
 * be the name of a unit, or is not of a service; the fault says which.
 */
int unit_name(const char *text, char ret[UNIT_NAME_BYTES], struct fault *where);

/*
 * Asks systemd. -EINVAL as above;
 * -ENOENT: there is no such unit; -ENOTCONN: systemd does not run here;
 * others as of systemctl_run(). Nothing is held after a failure. A unit that
 * is masked, or has an error in its file, is loaded: see unit_get(u, "LoadState").
 */
int unit_load(
    const char *text, const struct unit_manager *m, struct unit *ret, struct fault *where);
void unit_release(struct unit *u);

/*
 * A property as systemctl show prints it; if it does not, the last value in the
 * files. Never NULL; "" if it is not set. Of a property that
 * has several lines the first.
 */
const char *unit_get(const struct unit *u, const char *name);

/* The next line of such a property; *at is 0 before the first. NULL: no more. */
const char *unit_next(const struct unit *u, const char *name, size_t *at);

/* Is it yes, true, on or 1? */
bool unit_is_on(const struct unit *u, const char *name);

/* The words of a property that is a list of paths or names. -ENOMEM. */
int unit_list(const struct unit *u, const char *name, struct quoting_words *ret);

/*
 * Adds a drop-in that is not there yet, as if systemd had read it: its variables,
 * and its lists. -ENOMEM, -E2BIG.
 */
int unit_add_text(struct unit *u, const char *path, const char *text);

/* The main process; 0: it does not run. */
pid_t unit_main_pid(const struct unit *u);

/* Has it a mount namespace of its own? Each of some thirty settings gives one. */
bool unit_has_mount_namespace(const struct unit *u);

/*
 * Environment=, as NAME=VALUE, each name once, without the file `except`; specifiers
 * (%n) are not replaced. -ENOMEM.
 */
int unit_environment(const struct unit *u, const char *except, struct quoting_words *ret);

/* The value of a variable in such a list, or NULL. */
const char *unit_variable(const struct quoting_words *environment, const char *name);

/*
 * The files of EnvironmentFile=, which win over Environment=, with their
 * NAME=VALUE. A file that is not there or cannot be read has none, and one with more
 * than 4,096 of them counts as not read.
 */
struct unit_environment_file {
	char *path;
	bool is_optional, is_read;
	struct quoting_words variables;
};
struct unit_environment_files {
	struct unit_environment_file *items;
	size_t count, room;
};
int unit_environment_files(const struct unit *u, struct unit_environment_files *ret);
void unit_environment_files_release(struct unit_environment_files *f);

/* The commands of "ExecStart", "ExecStartPre" and so on. -ENOMEM. */
struct unit_commands {
	struct unit_command *items;
	size_t count, room;
};
int unit_commands(const struct unit *u, const char *key, struct unit_commands *ret);
void unit_commands_release(struct unit_commands *c);

/* ---- systemctl: runs systemctl, with a deadline and a bound on its answer ---- */

enum {
	SYSTEMCTL_ASK_S = 15,     /* for a question */
	SYSTEMCTL_RELOAD_S = 100, /* longer than systemd's own deadline */
	SYSTEMCTL_BYTES = 1 << 20,
};

/*
 * Runs systemctl from PATH with these arguments, which end with NULL, and for
 * the user's own manager with --user. The answer is its standard output, NUL
 * terminated, which the caller frees; NULL for ret_answer: not wanted. It is untrusted
 * text. The error's text is the first line that it wrote to standard error:
 * -ENOENT: there is no systemctl; -ENOTCONN: systemd does not run here;
 * -ETIMEDOUT; -EFBIG: a longer answer; -EPERM: refused; -EIO: all else.
 */
int systemctl_run(bool is_user, const char *const *arguments, int seconds, char **ret_answer,
    struct fault *where);

/* ---- daemon: which program a unit is about, as far as systemd says ---- */

/*
 * The program of the main process, if the unit runs; otherwise those of
 * ExecStart=. Paths, each once, without scripts, shells and launchers (env, nice
 * and the like), which hide the program that they start. None: the user must say
 * it. -ENOMEM.
 */
int daemon_find(const struct unit *u, struct quoting_words *ret);

/*
 * The names of the programs for SEEP_ONLY, for free(): as the unit has them and
 * as the files are called that links lead to. -ENOMEM.
 */
int daemon_names(const struct quoting_words *found, char **ret);

#endif
