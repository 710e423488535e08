/* doctor_unit.c - can the service of a unit be traced? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/doctor/doctor_unit.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/doctor/doctor_calls.h"
#include "attach/doctor/doctor_parts.h"
#include "attach/doctor/doctor_unit_parts.h"

enum {
	DYNAMIC_UID = 61184,      /* the first of systemd's dynamic users */
	KILL_NUMBER = 2147483646, /* SystemCallErrorNumber=kill */
};

/* ---- SystemCallFilter= ---- */

static void check_calls(struct doctor_unit_look *l)
{
	const char *filter = unit_get(l->u, "SystemCallFilter");
	const char *number = unit_get(l->u, "SystemCallErrorNumber");
	bool kills =
	    !number[0] || strtoll(number, NULL, 10) == KILL_NUMBER || !strcmp(number, "kill");
	char needed[256] = "", other[256] = "";
	size_t count;
	const struct doctor_call *calls = doctor_calls(&count);

	if (!filter[0])
		return;
	if (strchr(filter, '@')) {
		doctor_add(l->r, DOCTOR_WARN, "calls",
		    "run doctor where systemd runs, which knows its groups",
		    "SystemCallFilter= has groups of calls, which only systemd "
		    "knows");
		return;
	}
	for (size_t i = 0; i < count; i++) {
		char *list = calls[i].is_needed || kills ? needed : other;

		if (!doctor_calls_forbids(filter, calls[i].name))
			continue;
		if (strlen(list) + strlen(calls[i].name) + 2 < sizeof(needed)) {
			(void)strcat(list, list[0] ? " " : "");
			(void)strcat(list, calls[i].name);
		}
	}
	if (needed[0])
		doctor_add(l->r, DOCTOR_FAIL, "calls",
		    "allow them in a drop-in: SystemCallFilter= with these "
		    "names",
		    "SystemCallFilter= forbids %s, which the collector calls at "
		    "its start: %s",
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

/* ---- the unit ---- */

static void find_user(struct doctor_unit_look *l)
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

static void find_root(struct doctor_unit_look *l)
{
	const char *inner = unit_get(l->u, "RootDirectory");

	(void)snprintf(l->root, sizeof(l->root), "%.2000s", inner);
}

static void check_program(struct doctor_unit_look *l)
{
	static struct inspect in;
	struct doctor_names names = {0};
	const struct inspect_how how = {.has_user = true,
	    .user = l->is_user_known ? l->user : DYNAMIC_UID,
	    .has_no_new_privs = unit_is_on(l->u, "NoNewPrivileges"),
	    .root = doctor_unit_is_outside(l, l->daemon) ? NULL : l->root,
	    .found = doctor_names_add,
	    .context = &names};
	int err;

	if (!l->daemon[0])
		return;
	/* those are ours, not the unit's */
	(void)unsetenv("LD_LIBRARY_PATH");
	(void)unsetenv("LD_PRELOAD");
	(void)setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	err = inspect_find(l->daemon, how.root, &in);
	if (err < 0) {
		doctor_add(l->r, DOCTOR_FAIL, "command",
		    "mend ExecStart=, or use seep service enable --only NAME", "%s: %s", l->daemon,
		    err == -ENOENT ? "there is no such program" : strerror(-err));
		return;
	}
	inspect_program(&in, in.program, &how);
	doctor_unit_locked(l, names.locker);
	l->r->group = "program";
	doctor_program(l->r, &in, false);
	doctor_names(l->r, &names);
	l->r->group = "unit";
}

static bool check_state(struct doctor_unit_look *l)
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

static int look(struct doctor_report *r, void *context)
{
	static struct doctor_unit_look l;
	char library[4096];

	l.u = context;
	l.r = r;
	if (!check_state(&l))
		return 0;
	find_user(&l);
	find_root(&l);
	doctor_unit_environment(&l);
	if (doctor_library(r, library)) {
		(void)snprintf(l.library, sizeof(l.library), "%s", library);
		doctor_unit_paths(&l);
	}
	check_calls(&l);
	doctor_unit_limits(&l);
	if (unit_get(l.u, "SELinuxContext")[0])
		doctor_add(r, DOCTOR_WARN, "selinux",
		    "try it, and look for AVC lines in the audit log",
		    "SELinuxContext= is set: a change of domain at exec drops "
		    "LD_PRELOAD unless the policy allows noatsecure");
	doctor_unit_apparmor(&l);
	check_program(&l);
	return 0;
}

void doctor_unit(const struct unit *u, struct doctor_report *r)
{
	struct unit copy = *u; /* shallow; the child only reads it */

	r->group = "unit";
	(void)doctor_apart(r, u->name, look, &copy);
}
