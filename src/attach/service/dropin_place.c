/* dropin_place.c - where the drop-in goes, and how it gets there. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "attach/service/dropin.h"
#include "kit/words/text.h"
#include "kit/os/outfile.h"

enum { MADE_MAX = 16, TRIES = 100 };

/* ---- where ---- */

static int user_place(bool is_runtime, char *to, size_t bytes)
{
	const char *dir = getenv(is_runtime ? "XDG_RUNTIME_DIR" : "XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int n;

	if (dir && dir[0] == '/')
		n = snprintf(to, bytes, "%s/systemd/user", dir);
	else if (!is_runtime && home && home[0] == '/')
		n = snprintf(to, bytes, "%s/.config/systemd/user", home);
	else
		return -ENOENT;
	return n < (int)bytes ? 0 : -ENAMETOOLONG;
}

int dropin_path(const struct unit_manager *m, bool is_runtime, const char *unit, char ret[PATH_MAX])
{
	char place[PATH_MAX];
	int err = 0;

	if (m->is_user)
		err = user_place(is_runtime, place, sizeof(place));
	else
		(void)snprintf(place, sizeof(place), "/%s/systemd/%s", is_runtime ? "run" : "etc",
		    m->is_user ? "user" : "system");
	if (err < 0)
		return err;
	if (snprintf(ret, PATH_MAX, "%s/%s.d/" DROPIN_NAME, place, unit) >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

/* ---- directories ---- */

static int open_path(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Those that were made, so that they can be removed again. */
struct made {
	int parents[MADE_MAX];
	char names[MADE_MAX][NAME_MAX + 1];
	size_t count;
};

static void forget_made(struct made *m, bool remove)
{
	while (m->count > 0) {
		m->count--;
		if (remove)
			(void)unlinkat(m->parents[m->count], m->names[m->count], AT_REMOVEDIR);
		(void)close(m->parents[m->count]);
	}
}

/* Opens the parent of the path's last part and makes that there. */
static int make_one(const char *path, struct made *m)
{
	char parent[PATH_MAX];
	const char *name = text_base(path);
	int fd;

	if (m->count >= MADE_MAX || strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	(void)snprintf(parent, sizeof(parent), "%.*s", (int)(name - path), path);
	fd = open_path(parent, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	if (mkdirat(fd, name, 0755) < 0) {
		int err = -errno;

		(void)close(fd);
		return err == -EEXIST ? 0 : err;
	}
	/* whatever the umask says, because everybody may read units */
	if (fchmodat(fd, name, 0755, 0) < 0) {
		int err = -errno;

		(void)unlinkat(fd, name, AT_REMOVEDIR);
		(void)close(fd);
		return err;
	}
	m->parents[m->count] = fd;
	(void)snprintf(m->names[m->count], sizeof(m->names[0]), "%s", name);
	m->count++;
	return 0;
}

/* Opens the directory and makes what is missing of its path. */
static int open_made(const char *path, struct made *m)
{
	int fd = open_path(path, O_RDONLY | O_DIRECTORY), err = 0;
	char part[PATH_MAX];

	if (fd != -ENOENT)
		return fd;
	for (const char *at = path + 1; err == 0; at++) {
		if (*at && *at != '/')
			continue;
		(void)snprintf(part, sizeof(part), "%.*s", (int)(at - path), path);
		fd = open_path(part, O_PATH | O_DIRECTORY);
		if (fd == -ENOENT)
			err = make_one(part, m);
		else if (fd < 0)
			err = fd;
		else
			(void)close(fd);
		if (!*at)
			break;
	}
	return err < 0 ? err : open_path(path, O_RDONLY | O_DIRECTORY);
}

static void directory_of(const char *path, char to[PATH_MAX])
{
	(void)snprintf(to, PATH_MAX, "%.*s", (int)(text_base(path) - path - 1), path);
}

/* ---- the file ---- */

/* A new file under a name that systemd does not read. */
static int open_temp(int dir, char name[NAME_MAX + 1])
{
	int fd = -1;

	for (unsigned i = 0; fd < 0 && i < TRIES; i++) {
		(void)snprintf(name, NAME_MAX + 1, "." DROPIN_NAME ".%d.%u", (int)getpid(), i);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

static int write_in(int dir, const char *text)
{
	char temp[NAME_MAX + 1];
	int fd = open_temp(dir, temp), err;

	if (fd < 0)
		return fd;
	err = fchmod(fd, 0644) < 0 ? -errno : 0;
	if (err == 0)
		err = write_all(fd, text, strlen(text));
	if (err == 0 && fsync(fd) < 0)
		err = -errno;
	if (close(fd) < 0 && err == 0)
		err = -errno;
	if (err == 0 && renameat(dir, temp, dir, DROPIN_NAME) < 0)
		err = -errno;
	if (err < 0)
		(void)unlinkat(dir, temp, 0);
	else
		(void)fsync(dir); /* a file system without it keeps the name */
	return err;
}

int dropin_write(const char *path, const char *text, unsigned *ret_made)
{
	struct made made = {.count = 0};
	char parent[PATH_MAX];
	int dir, err;

	directory_of(path, parent);
	dir = open_made(parent, &made);
	err = dir < 0 ? dir : write_in(dir, text);
	if (dir >= 0)
		(void)close(dir);
	if (ret_made && err == 0)
		*ret_made = (unsigned)made.count;
	forget_made(&made, err < 0);
	return err;
}

/* Refused if others have something there. */
static int remove_directory(const char *path)
{
	char above[PATH_MAX];
	int dir, err;

	directory_of(path, above);
	dir = open_path(above[0] ? above : "/", O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		return dir;
	err = unlinkat(dir, text_base(path), AT_REMOVEDIR) < 0 ? -errno : 0;
	(void)close(dir);
	return err;
}

int dropin_remove(const char *path, unsigned directories)
{
	char parent[PATH_MAX], above[PATH_MAX];
	int dir, err = 0;

	directory_of(path, parent);
	dir = open_path(parent, O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		return dir;
	if (unlinkat(dir, DROPIN_NAME, 0) < 0)
		err = -errno;
	(void)fsync(dir);
	(void)close(dir);
	if (err < 0)
		return err;
	while (directories-- > 0 && remove_directory(parent) == 0) {
		directory_of(parent, above);
		memcpy(parent, above, sizeof(parent));
	}
	return 0;
}
