/* doctor_unit_paths.c - what the mount namespace of a unit hides from it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "attach/doctor/doctor_unit_parts.h"
#include "host/proc/folder.h"
#include "kit/os/infile.h"
#include "kit/words/text.h"

/* Is `path` this directory, or below it? */
static bool is_below(const char *path, const char *dir, size_t len)
{
	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (len == 1 && dir[0] == '/')
		return path[0] == '/';
	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/*
 * Words of such a list are PATH, -PATH, +PATH or PATH:OPTIONS; the destination of
 * a bind is behind the first colon.
 */
static size_t covered_by(const char *word, const char *path, bool is_bind)
{
	const char *from, *to;
	size_t len;

	while (*word == '-' || *word == '+')
		word++;
	from = word;
	len = strcspn(word, ":");
	to = word[len] == ':' ? word + len + 1 : NULL;
	if (is_bind && to && to[0] == '/') {
		from = to;
		len = strcspn(to, ":");
	}
	return len > 0 && from[0] == '/' && is_below(path, from, len) ? len : 0;
}

bool doctor_unit_covers(
    const struct unit *u, const char *property, const char *path, size_t *ret_len)
{
	bool is_bind = text_begins_with(property, "Bind");
	struct quoting_words words = {0};
	size_t best = 0;

	if (unit_list(u, property, &words) == 0)
		for (size_t i = 0; i < words.count; i++) {
			size_t n = covered_by(words.items[i], path, is_bind);

			if (n > best)
				best = n;
		}
	quoting_release(&words);
	if (ret_len)
		*ret_len = best;
	return best > 0;
}

static bool is_bound(const struct unit *u, const char *path)
{
	return doctor_unit_covers(u, "BindReadOnlyPaths", path, NULL) ||
	    doctor_unit_covers(u, "BindPaths", path, NULL);
}

bool doctor_unit_is_outside(const struct doctor_unit_look *l, const char *path)
{
	char real[PATH_MAX];

	return !l->root[0] || is_bound(l->u, path) ||
	    (realpath(path, real) && is_bound(l->u, real));
}

/* ---- the library ---- */

static bool is_home(const char *path)
{
	return is_below(path, "/home", 5) || is_below(path, "/root", 5) ||
	    is_below(path, "/run/user", 9);
}

/* Settings that put something else over the path; NULL: none does. */
static const char *hides(const struct unit *u, const char *path, char text[128])
{
	const char *home = unit_get(u, "ProtectHome");

	if (is_bound(u, path))
		return NULL;
	if (is_home(path) && (!strcmp(home, "tmpfs") || unit_is_on(u, "ProtectHome"))) {
		(void)snprintf(text, 128, "ProtectHome=%.16s", home);
		return text;
	}
	if ((unit_is_on(u, "PrivateTmp") || unit_is_on(u, "DynamicUser")) &&
	    (is_below(path, "/tmp", 4) || is_below(path, "/var/tmp", 8)))
		return "PrivateTmp=yes";
	if (doctor_unit_covers(u, "InaccessiblePaths", path, NULL))
		return "InaccessiblePaths=";
	if (doctor_unit_covers(u, "TemporaryFileSystem", path, NULL))
		return "TemporaryFileSystem=";
	return NULL;
}

static bool check_exec(struct doctor_unit_look *l)
{
	size_t no, yes;
	struct statvfs fs;

	if (doctor_unit_covers(l->u, "NoExecPaths", l->library, &no)) {
		(void)doctor_unit_covers(l->u, "ExecPaths", l->library, &yes);
		if (yes < no) {
			doctor_add(l->r, DOCTOR_FAIL, "library", "add its directory to ExecPaths=",
			    "%s is in NoExecPaths=, so the loader cannot map "
			    "it",
			    l->library);
			return false;
		}
	}
	if (!l->root[0] && statvfs(l->library, &fs) == 0 && fs.f_flag & ST_NOEXEC) {
		doctor_add(l->r, DOCTOR_FAIL, "library", "install seep on a file system with exec",
		    "%s is on a file system that is mounted noexec", l->library);
		return false;
	}
	return true;
}

/* May this user read it? Each directory on the way must be open, too. */
static bool check_modes(struct doctor_unit_look *l)
{
	char path[PATH_MAX];
	struct stat st;

	if (l->is_user_known && l->user == 0)
		return true;
	(void)snprintf(path, sizeof(path), "%s", l->library);
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (stat(path, &st) == 0 && !(st.st_mode & S_IXOTH) &&
		    !(l->is_user_known && st.st_uid == l->user)) {
			doctor_add(l->r, DOCTOR_FAIL, "library",
			    "install seep where all users can read it",
			    "%s (mode %04o) is closed to the user of the "
			    "service, so the loader does not find %s",
			    path, (unsigned)(st.st_mode & 07777), l->library);
			return false;
		}
		*slash = '/';
	}
	if (stat(l->library, &st) == 0 && !(st.st_mode & S_IROTH) &&
	    !(l->is_user_known && st.st_uid == l->user)) {
		doctor_add(l->r, DOCTOR_FAIL, "library", "chmod a+r it",
		    "%s is not readable for the user of the service", l->library);
		return false;
	}
	return true;
}

static bool check_root(struct doctor_unit_look *l)
{
	int fd;

	if (unit_get(l->u, "RootImage")[0]) {
		doctor_add(l->r, DOCTOR_WARN, "root",
		    "its glibc must be 2.35 or newer; try it with seep service "
		    "enable and doctor PID",
		    "RootImage=%s cannot be looked into", unit_get(l->u, "RootImage"));
		return false;
	}
	if (!l->root[0])
		return true;
	fd = infile_find_in_root(l->root, l->library, 0);
	if (fd >= 0)
		(void)close(fd);
	else if (!is_bound(l->u, l->library))
		doctor_add(l->r, DOCTOR_WARN, "root",
		    "seep service enable binds it there (BindReadOnlyPaths=)",
		    "%s is not in RootDirectory=%s", l->library, l->root);
	return false;
}

static void check_library(struct doctor_unit_look *l)
{
	char text[128];
	const char *setting = hides(l->u, l->library, text);

	if (setting) {
		doctor_add(l->r, DOCTOR_FAIL, "library",
		    "install seep in /usr or /usr/local (make install)",
		    "%s hides %s from the service, so the loader does not find "
		    "it",
		    setting, l->library);
		return;
	}
	if (check_root(l) && check_exec(l) && check_modes(l))
		doctor_add(l->r, DOCTOR_OK, "library", NULL, "the service can load %s", l->library);
	else if (l->root[0])
		(void)check_exec(l);
}

/* ---- the place ---- */

/* The directory of its segments now: SEEP_DIR, SEEP_BASE, or "" . */
static void find_place(const struct unit *u, char place[PATH_MAX])
{
	struct quoting_words own = {0};
	const char *dir = NULL, *base = NULL;

	if (unit_environment(u, NULL, &own) == 0) {
		dir = unit_variable(&own, "SEEP_DIR");
		base = unit_variable(&own, "SEEP_BASE");
	}
	(void)snprintf(place, PATH_MAX, "%.4000s",
	    dir && dir[0]         ? dir
	        : base && base[0] ? base
	                          : FOLDER_SHM);
	quoting_release(&own);
}

static bool is_read_only(const struct unit *u, const char *path)
{
	const char *system = unit_get(u, "ProtectSystem");
	size_t read_only = 0, writable = 0;

	if ((!strcmp(system, "strict") || unit_is_on(u, "DynamicUser")) &&
	    !is_below(path, "/dev", 4))
		read_only = 1;
	if ((!strcmp(system, "full") || unit_is_on(u, "ProtectSystem")) &&
	    (is_below(path, "/usr", 4) || is_below(path, "/boot", 5)))
		read_only = 1;
	(void)doctor_unit_covers(u, "ReadWritePaths", path, &writable);
	if (!read_only || writable < read_only)
		(void)doctor_unit_covers(u, "ReadOnlyPaths", path, &read_only);
	return read_only > writable;
}

static void check_place(struct doctor_unit_look *l)
{
	bool wipes = unit_is_on(l->u, "RemoveIPC") || unit_is_on(l->u, "DynamicUser");
	char place[PATH_MAX], text[128];
	const char *setting;

	find_place(l->u, place);
	setting = hides(l->u, place, text);
	if (setting && !strcmp(setting, "InaccessiblePaths="))
		doctor_add(l->r, l->is_enabled ? DOCTOR_FAIL : DOCTOR_WARN, "place",
		    "seep service enable uses /run/seep instead",
		    "%s forbids %s, where its segments would be", setting, place);
	else if (is_read_only(l->u, place))
		doctor_add(l->r, l->is_enabled ? DOCTOR_FAIL : DOCTOR_WARN, "place",
		    "add ReadWritePaths=-/run/seep, as seep service enable "
		    "does",
		    "%s is read-only for the service", place);
	else if (wipes && is_below(place, FOLDER_SHM, strlen(FOLDER_SHM)))
		doctor_add(l->r, DOCTOR_WARN, "place",
		    "set SEEP_BASE=/run/seep, as seep service enable does",
		    "%s=yes: systemd removes what the user has in %s whenever "
		    "the service stops, so the figures of the dead are lost",
		    unit_is_on(l->u, "DynamicUser") ? "DynamicUser" : "RemoveIPC", place);
	else
		doctor_add(l->r, DOCTOR_OK, "place", NULL,
		    "%s can be written, and stays when the service stops", place);
}

void doctor_unit_paths(struct doctor_unit_look *l)
{
	check_library(l);
	check_place(l);
}
