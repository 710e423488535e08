/* folder.c - checks the directory of a user's segments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc/folder.h"

#include "host/memory/foreign_ask.h"
#include "host/proc/procfs.h"

void folder_default(uid_t user, char path[FOLDER_PATH_BYTES])
{
	(void)snprintf(path, FOLDER_PATH_BYTES, FOLDER_SHM "/seep-%u", (unsigned)user);
}

bool folder_is_note(const char *name, uid_t user)
{
	char begin[FOLDER_PATH_BYTES];
	size_t n;

	n = (size_t)snprintf(begin, sizeof(begin), "seep-%u-", (unsigned)user);
	return strncmp(name, begin, n) == 0 && strspn(name + n, "0123456789abcdef") == 8 &&
	    name[n + 8] == '\0';
}

void folder_remove_note(const char *path)
{
	struct stat st;

	if (strncmp(path, FOLDER_SHM "/", sizeof(FOLDER_SHM)) == 0 && lstat(path, &st) == 0 &&
	    folder_is_note(path + sizeof(FOLDER_SHM), st.st_uid))
		(void)rmdir(path);
}

enum folder_state folder_look(const char *path, uid_t user, uid_t *ret_owner)
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

static bool complain(
    const char *path, enum folder_state state, uid_t owner, char *text, size_t text_bytes)
{
	switch (state) {
	case FOLDER_TAKEN:
		(void)snprintf(text, text_bytes, "%s belongs to uid %u", path, (unsigned)owner);
		return true;
	case FOLDER_NO_DIRECTORY:
		(void)snprintf(text, text_bytes, "%s is not a directory", path);
		return true;
	case FOLDER_SHARED:
		(void)snprintf(text, text_bytes, "%s can be written by others", path);
		return true;
	default:
		return false;
	}
}

bool folder_complaint(const char *path, uid_t user, char *text, size_t text_bytes)
{
	uid_t owner = 0;
	enum folder_state state = folder_look(path, user, &owner);

	return complain(path, state, owner, text, text_bytes);
}

/* The process's /dev/shm may be a file system that does not answer. */
static enum folder_state ask(pid_t pid, const char *path, uid_t user, uid_t *ret_owner)
{
	struct foreign_request r = {.kind = FOREIGN_FOLDER, .pid = pid, .user = user};
	struct foreign_folder found = {.state = FOLDER_MISSING};
	size_t len;
	char *text;

	(void)snprintf(r.path, sizeof(r.path), "%s", path);
	if (foreign_ask(&r, &text, &len) < 0)
		return FOLDER_MISSING;
	if (len == sizeof(found))
		memcpy(&found, text, sizeof(found));
	free(text);
	*ret_owner = found.owner;
	return (enum folder_state)found.state;
}

bool folder_complaint_of(pid_t pid, char *text, size_t text_bytes)
{
	char path[FOLDER_PATH_BYTES], there[FOLDER_PATH_BYTES + 32];
	enum folder_state state;
	uid_t user, owner = 0;

	if (procfs_owner(pid, &user) < 0)
		return false;
	folder_default(user, path);
	(void)snprintf(there, sizeof(there), "/proc/%d/root%s", (int)pid, path);
	state = foreign_text_is_mine(pid) ? folder_look(there, user, &owner)
	                                  : ask(pid, there, user, &owner);
	return complain(path, state, owner, text, text_bytes);
}
