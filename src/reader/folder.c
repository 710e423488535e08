/* folder.c - the directory of a user's segments: is it his own? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
folder_default(uid_t user, char path[FOLDER_PATH_BYTES])
{
	(void)snprintf(
	    path, FOLDER_PATH_BYTES, FOLDER_SHM "/seep-%u", (unsigned)user);
}

bool
folder_is_note(const char *name, uid_t user)
{
	char begin[FOLDER_PATH_BYTES];
	size_t n;

	n = (size_t)snprintf(begin, sizeof(begin), "seep-%u-", (unsigned)user);
	return strncmp(name, begin, n) == 0 &&
	    strspn(name + n, "0123456789abcdef") == 8 && name[n + 8] == '\0';
}

void
folder_remove_note(const char *path)
{
	struct stat st;

	if (strncmp(path, FOLDER_SHM "/", sizeof(FOLDER_SHM)) == 0 &&
	    lstat(path, &st) == 0 &&
	    folder_is_note(path + sizeof(FOLDER_SHM), st.st_uid))
		(void)rmdir(path);
}

enum folder_state
folder_look(const char *path, uid_t user, uid_t *ret_owner)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return FOLDER_MISSING;
	*ret_owner = st.st_uid;
	if (st.st_uid != user)
		return FOLDER_TAKEN;
	if (!S_ISDIR(st.st_mode))
		return FOLDER_NO_DIRECTORY;
	return st.st_mode & 022 ? FOLDER_SHARED : FOLDER_FIT;
}

static bool
complain(const char *path, enum folder_state state, uid_t owner, char *text,
    size_t text_bytes)
{
	switch (state) {
	case FOLDER_TAKEN:
		(void)snprintf(text, text_bytes, "%s belongs to uid %u", path,
		    (unsigned)owner);
		return true;
	case FOLDER_NO_DIRECTORY:
		(void)snprintf(text, text_bytes, "%s is not a directory", path);
		return true;
	case FOLDER_SHARED:
		(void)snprintf(
		    text, text_bytes, "%s can be written by others", path);
		return true;
	default:
		return false;
	}
}

bool
folder_complaint(const char *path, uid_t user, char *text, size_t text_bytes)
{
	uid_t owner = 0;
	enum folder_state state = folder_look(path, user, &owner);

	return complain(path, state, owner, text, text_bytes);
}

bool
folder_complaint_of(pid_t pid, char *text, size_t text_bytes)
{
	char path[FOLDER_PATH_BYTES], there[FOLDER_PATH_BYTES + 32];
	enum folder_state state;
	uid_t owner = 0;
	struct stat st;

	(void)snprintf(there, sizeof(there), "/proc/%d", (int)pid);
	if (stat(there, &st) < 0)
		return false;
	folder_default(st.st_uid, path);
	(void)snprintf(there, sizeof(there), "/proc/%d/root%s", (int)pid, path);
	state = folder_look(there, st.st_uid, &owner);
	return complain(path, state, owner, text, text_bytes);
}
