/* doctor_unit.c - can the service of a unit be traced? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/doctor/doctor_parts.h"

#include "base/std.h"
#include <pwd.h>

#include "attach/service/unit.h"
#include "format/medium.h"
#include "kit/words/words.h"

enum {
	DYNAMIC_UID = 61184,      /* the first of systemd's dynamic users */
	KILL_NUMBER = 2147483646, /* SystemCallErrorNumber=kill */
};

/* A unit while it is looked at. */
struct unit_look {
	const struct unit *u;
	struct doctor_report *r;
	uid_t user; /* by which it runs */
	bool is_user_known;
};

/* ---- its state, its user ---- */

static bool check_state(struct unit_look *l)
{
	const char *state = unit_get(l->u, "LoadState");

	if (l->u->is_masked)
		doctor_add(l->r, DOCTOR_FAIL, "unit", "systemctl unmask it",
		    "%s is masked: it cannot be started", l->u->name);
	else if (state[0] && strcmp(state, "loaded") != 0)
		doctor_add(l->r, DOCTOR_FAIL, "unit", "systemctl status shows the error",
		    "%s: systemd has not loaded it (%s)", l->u->name, state);
	else
		doctor_add(l->r, DOCTOR_OK, "unit", NULL, "%s", l->u->name);
	return !l->u->is_masked;
}

static void find_user(struct unit_look *l)
{
	const char *name = unit_get(l->u, "User");
	const struct passwd *pw;
	char *end;

	l->is_user_known = true;
	if (l->u->manager.is_user) {
		l->user = getuid();
	} else if (unit_is_on(l->u, "DynamicUser")) {
		l->user = DYNAMIC_UID;
	} else if (!name[0]) {
		l->user = 0;
	} else if (name[0] >= '0' && name[0] <= '9') {
		l->user = (uid_t)strtoul(name, &end, 10);
	} else if ((pw = getpwnam(name))) {
		l->user = pw->pw_uid;
	} else {
		l->is_user_known = false;
		doctor_add(l->r, DOCTOR_WARN, "user", NULL, "User=%s is not known here", name);
	}
}

/* ---- Environment=, EnvironmentFile=, UnsetEnvironment= ---- */

/* The collector in LD_PRELOAD of its Environment=, for free(), or NULL. */
static char *find_own(const struct unit *u, struct quoting_words *own, const char **ret_value)
{
	*ret_value = unit_environment(u, NULL, own) == 0 ? unit_variable(own, "LD_PRELOAD") : NULL;
	return *ret_value ? doctor_environment_find(*ret_value) : NULL;
}

bool doctor_unit_is_preloaded(const struct unit *u)
{
	struct quoting_words own = {0};
	const char *value;
	char *ours = find_own(u, &own, &value);

	quoting_release(&own);
	free(ours);
	return ours != NULL;
}

static void check_own(struct unit_look *l)
{
	struct quoting_words own = {0};
	const char *value;
	char *ours = find_own(l->u, &own, &value);

	if (ours)
		doctor_add(l->r, DOCTOR_OK, "preload", NULL, "LD_PRELOAD names %s", ours);
	else if (value && value[0])
		doctor_add(l->r, DOCTOR_OK, "preload", NULL,
		    "LD_PRELOAD is %s; seep service enable adds the collector", value);
	else
		doctor_add(l->r, DOCTOR_OK, "preload", NULL,
		    "the collector is not preloaded; seep service enable does that");
	free(ours);
	quoting_release(&own);
}

static void check_files(struct unit_look *l)
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
			    "remove it there, or add the path of libseep.so to it there",
			    "%s (EnvironmentFile=) sets LD_PRELOAD=%s, which "
			    "wins over the Environment= of a drop-in",
			    f->path, value);
		else if (!f->is_read && !f->is_optional)
			doctor_add(l->r, DOCTOR_WARN, "environment", "run doctor as root",
			    "%s (EnvironmentFile=) cannot be read: it may set LD_PRELOAD", f->path);
		free(ours);
	}
	unit_environment_files_release(&files);
}

/* A word NAME, or NAME=VALUE, which only removes that value. */
static void check_unset(struct unit_look *l)
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

/* ---- SystemCallFilter=, LimitFSIZE=, LimitAS= ---- */

/*
 * All calls that a collector makes at its start, in a forked child and at the
 * end: tests/command/doctor/doctor_knows_the_calls.bats compares them with what strace
 * sees. Without these there is no segment; the loader needs the first seven as
 * well.
 */
static const char needed_calls[] =
    "close mmap mprotect newfstatat openat pread64 read fchmod fstat fstatfs "
    "ftruncate geteuid mkdirat pwrite64";

/* Without one of them something is missing in what is recorded, or nothing. */
static const char other_calls[] =
    "madvise mremap munmap unlinkat capget getcwd getpid getppid getrandom getresuid gettid prctl "
    "prlimit64 readlinkat fallocate flock linkat faccessat fcntl renameat2";

/* The filter is as systemctl show prints it: names, with "~" before a list of what is forbidden. */
static bool forbids(const char *filter, const char *name, size_t len)
{
	bool is_deny = filter[0] == '~', is_listed = false, is_refused = false;

	for (const char *at = filter + is_deny; *at;) {
		size_t n = strcspn(at, " ");

		if (n >= len && memcmp(at, name, len) == 0 && (n == len || at[len] == ':')) {
			is_listed = true;
			is_refused = n > len; /* name:EPERM */
		}
		at += n + strspn(at + n, " ");
	}
	return is_deny ? is_listed : !is_listed || is_refused;
}

/* Appends the calls that a filter forbids. */
static void add_forbidden(const char *filter, bool is_needed, char *ret, size_t bytes)
{
	for (const char *at = is_needed ? needed_calls : other_calls; *at;) {
		size_t n = strcspn(at, " "), used = strlen(ret);

		if (forbids(filter, at, n) && used + n + 2 < bytes)
			(void)sprintf(ret + used, "%s%.*s", used ? " " : "", (int)n, at);
		at += n + strspn(at + n, " ");
	}
}

static void check_calls(struct unit_look *l)
{
	const char *filter = unit_get(l->u, "SystemCallFilter");
	const char *number = unit_get(l->u, "SystemCallErrorNumber");
	bool kills =
	    !number[0] || strtoll(number, NULL, 10) == KILL_NUMBER || !strcmp(number, "kill");
	char needed[256] = "", other[256] = "";

	if (!filter[0])
		return;
	if (strchr(filter, '@')) {
		doctor_add(l->r, DOCTOR_WARN, "calls",
		    "run doctor where systemd runs, which knows its groups",
		    "SystemCallFilter= has groups of calls, which only systemd knows");
		return;
	}
	add_forbidden(filter, true, needed, sizeof(needed));
	add_forbidden(filter, false, kills ? needed : other, sizeof(needed));
	if (needed[0])
		doctor_add(l->r, DOCTOR_FAIL, "calls",
		    "allow them in a drop-in: SystemCallFilter= with these names",
		    "SystemCallFilter= forbids %s, which the collector calls at its start: %s",
		    needed, kills ? "the service would be killed" : "it would not be traced");
	if (other[0])
		doctor_add(l->r, DOCTOR_WARN, "calls",
		    "allow them in a drop-in, if you miss something",
		    "SystemCallFilter= forbids %s, without which some of what "
		    "is recorded is missing",
		    other);
	if (!needed[0] && !other[0])
		doctor_add(l->r, DOCTOR_OK, "calls", NULL,
		    "SystemCallFilter= allows all calls of the collector");
}

/* A soft limit in bytes, as systemctl prints it; UINT64_MAX: "infinity", "", and all else. */
static uint64_t limit_of(const struct unit *u, const char *soft, const char *name)
{
	const char *text = unit_get(u, soft)[0] ? unit_get(u, soft) : unit_get(u, name);
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	return text[0] < '0' || text[0] > '9' || errno || *end ? UINT64_MAX : n;
}

static void check_limits(struct unit_look *l)
{
	uint64_t file = limit_of(l->u, "LimitFSIZESoft", "LimitFSIZE");
	uint64_t space = limit_of(l->u, "LimitASSoft", "LimitAS");

	if (file / MEDIUM_FILE_SHARE < MEDIUM_ROOM_MIN)
		doctor_add(l->r, DOCTOR_FAIL, "limits", "raise it to 1M or more",
		    "LimitFSIZE= is %s, and a segment gets a quarter of that: too little",
		    WORDS_BYTES(file));
	if (space / MEDIUM_SPACE_SHARE < MEDIUM_ROOM_MIN)
		doctor_add(l->r, DOCTOR_FAIL, "limits", "raise it",
		    "LimitAS= is %s, and a segment gets 1/%d of that: too little",
		    WORDS_BYTES(space), MEDIUM_SPACE_SHARE);
}

/* ---- the program ---- */

/* The first program that seep service enable would name; false: none. */
static bool find_daemon(struct unit_look *l, char to[PATH_MAX])
{
	struct unit_commands commands = {0};
	struct quoting_words found = {0};
	bool has_command;

	if (unit_commands(l->u, "ExecStart", &commands) < 0 || daemon_find(l->u, &found) < 0)
		l->r->is_cut = true;
	has_command = commands.count > 0 && commands.items[commands.count - 1].path &&
	    commands.items[commands.count - 1].path[0];
	if (!has_command)
		doctor_add(l->r, DOCTOR_FAIL, "command", NULL, "the unit has no ExecStart=");
	else if (found.count == 0)
		doctor_add(l->r, DOCTOR_WARN, "command", "seep service enable --only NAME",
		    "%s is a script, a shell or a launcher, and hides which program is the daemon",
		    commands.items[commands.count - 1].path);
	to[0] = '\0';
	if (has_command && found.count > 0)
		(void)snprintf(to, PATH_MAX, "%s", found.items[0]);
	unit_commands_release(&commands);
	quoting_release(&found);
	return to[0] != '\0';
}

static void check_program(struct unit_look *l)
{
	static struct inspect in;
	const char *image = unit_get(l->u, "RootDirectory");
	const struct inspect_how how = {.has_user = true,
	    .user = l->is_user_known ? l->user : DYNAMIC_UID,
	    .has_no_new_privs = unit_is_on(l->u, "NoNewPrivileges"),
	    .root = image[0] == '/' && strlen(image) < PATH_MAX ? image : NULL};
	char program[PATH_MAX];
	int err;

	if (!find_daemon(l, program))
		return;
	/* those are ours, not the unit's */
	(void)unsetenv("LD_LIBRARY_PATH");
	(void)unsetenv("LD_PRELOAD");
	(void)setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	err = inspect_find(program, how.root, &in);
	if (err < 0 && how.root) {
		doctor_add(l->r, DOCTOR_WARN, "root", NULL, "%s is not in RootDirectory=%s: %s",
		    program, how.root, strerror(-err));
		return;
	}
	if (err < 0) {
		doctor_add(l->r, DOCTOR_FAIL, "command",
		    "mend ExecStart=, or use seep service enable --only NAME", "%s: %s", program,
		    err == -ENOENT ? "there is no such program" : strerror(-err));
		return;
	}
	inspect_program(&in, in.program, &how);
	l->r->group = "program";
	doctor_program(l->r, &in, false);
	l->r->group = "unit";
}

static int look(struct doctor_report *r, void *context)
{
	struct unit_look l = {.u = context, .r = r};
	char library[4096];

	if (!check_state(&l))
		return 0;
	find_user(&l);
	check_own(&l);
	check_files(&l);
	check_unset(&l);
	(void)doctor_library(r, library);
	check_calls(&l);
	check_limits(&l);
	check_program(&l);
	return 0;
}

void doctor_unit(const struct unit *u, struct doctor_report *r)
{
	struct unit copy = *u; /* shallow; the child only reads it */

	r->group = "unit";
	(void)doctor_apart(r, u->name, look, &copy);
}
