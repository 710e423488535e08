/* doctor_unit_apparmor.c - the AppArmor profile that confines a program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/doctor/doctor_unit_parts.h"
#include "kit/os/infile.h"
#include "kit/words/text.h"

enum { PROFILE_BYTES = 1 << 20, NAME_BYTES = 256 };
#define PROFILES "/etc/apparmor.d"
#define LOADED   "/sys/kernel/security/apparmor/profiles"

/* A small text; NULL: it cannot be read. */
static char *read_text(const char *path)
{
	int fd = infile_open(AT_FDCWD, path);
	char *text = fd >= 0 ? malloc(PROFILE_BYTES + 1) : NULL;
	size_t len = 0;
	ssize_t n = 1;

	while (text && n > 0 && len < PROFILE_BYTES) {
		n = read(fd, text + len, PROFILE_BYTES - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		(void)close(fd);
	if (text)
		text[len] = '\0';
	return text;
}

/*
 * A line that begins a profile for this program: "PATH {", "profile NAME PATH
 * flags=(...) {". Patterns with braces or stars are not understood; profiles of
 * servers in Debian have none.
 */
static bool begins_profile(const char *line, size_t len, const char *program, char name[NAME_BYTES])
{
	size_t n = strlen(program);
	const char *at = memmem(line, len, program, n);
	const char *word = line + strspn(line, " \t");

	if (!at || !memchr(line, '{', len) || *word == '#')
		return false;
	if (at[n] != ' ' && at[n] != '\t' && at[n] != '"' && at[n] != '{')
		return false;
	if (at > line && at[-1] != ' ' && at[-1] != '\t' && at[-1] != '"')
		return false;
	if (text_begins_with(word, "profile "))
		word += strlen("profile ");
	word += strspn(word, " \t\"");
	(void)snprintf(name, NAME_BYTES, "%.*s", (int)strcspn(word, " \t\"{\n"), word);
	return true;
}

static bool find_in_file(const char *path, const char *program, char name[NAME_BYTES])
{
	char *text = read_text(path);
	bool found = false;

	for (const char *line = text; line && *line && !found;) {
		size_t len = strcspn(line, "\n");

		found = begins_profile(line, len, program, name);
		line += len + (line[len] == '\n');
	}
	free(text);
	return found;
}

/* The file and the name of the profile of a program. */
static bool find_profile(const char *program, char file[PATH_MAX], char name[NAME_BYTES])
{
	DIR *dir = opendir(PROFILES);
	struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		if (snprintf(file, PATH_MAX, PROFILES "/%s", e->d_name) < PATH_MAX)
			found = find_in_file(file, program, name);
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

/* Is the profile loaded and enforced? -1: that cannot be read. */
static int is_enforced(const char *name)
{
	char *text = read_text(LOADED), line[NAME_BYTES + 16];
	int enforced = -1;

	if (text) {
		(void)snprintf(line, sizeof(line), "%s (enforce)", name);
		enforced = 0;
		for (const char *at = text; (at = strstr(at, line)); at++)
			if (at == text || at[-1] == '\n')
				enforced = 1;
	}
	free(text);
	return enforced;
}

/* Has somebody allowed the segments, in the profile or in its local part? */
static bool is_allowed(const char *file)
{
	char local[PATH_MAX], *text = read_text(file), *more = NULL;
	bool allowed;

	if (snprintf(local, sizeof(local), PROFILES "/local/%s", text_base(file)) < PATH_MAX)
		more = read_text(local);
	allowed = (text && strstr(text, "/seep")) || (more && strstr(more, "/seep"));
	free(text);
	free(more);
	return allowed;
}

static void say(struct doctor_unit_look *l, const char *name, const char *file, int enforced)
{
	char advice[3 * PATH_MAX];

	(void)snprintf(advice, sizeof(advice),
	    "add to " PROFILES "/local/%s: %s mr, /run/seep/** rw, "
	    "/dev/shm/seep-*/** rw, /dev/shm/seep-*/ rw, and reload it "
	    "(apparmor_parser -r %s)",
	    text_base(file), l->library, file);
	if (is_allowed(file))
		doctor_add(l->r, DOCTOR_OK, "apparmor", NULL,
		    "its AppArmor profile %s names the directories of seep", name);
	else if (enforced > 0)
		doctor_add(l->r, DOCTOR_FAIL, "apparmor", advice,
		    "the AppArmor profile %s (%s) is enforced and does not "
		    "allow segments, so %s would run untraced",
		    name, file, l->daemon);
	else if (enforced < 0)
		doctor_add(l->r, DOCTOR_WARN, "apparmor", advice,
		    "there is an AppArmor profile %s (%s), and it cannot be "
		    "read whether it is enforced",
		    name, file);
	else
		doctor_add(l->r, DOCTOR_OK, "apparmor", NULL,
		    "its AppArmor profile %s is not enforced", name);
}

void doctor_unit_apparmor(struct doctor_unit_look *l)
{
	const char *asked = unit_get(l->u, "AppArmorProfile");
	char file[PATH_MAX], name[NAME_BYTES], real[PATH_MAX];

	if (access("/sys/kernel/security/apparmor", F_OK) != 0)
		return; /* the kernel has no AppArmor */
	while (*asked == '-')
		asked++;
	if (asked[0] && is_enforced(asked) != 0) {
		doctor_add(l->r, DOCTOR_WARN, "apparmor",
		    "allow the library and its segments there",
		    "AppArmorProfile=%s confines the service", asked);
		return;
	}
	if (!l->daemon[0])
		return;
	if (find_profile(l->daemon, file, name) ||
	    (realpath(l->daemon, real) && strcmp(real, l->daemon) != 0 &&
	        find_profile(real, file, name)))
		say(l, name, file, is_enforced(name));
}
