/* history.c - the directory of seep watch: which folder of it is meant. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/history.h"

#include "recording/file/chapter.h"
#include "kit/os/infile.h"

#define MAGIC "seep history "

static int open_directory(const char *path, struct fault *where)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd : fault_set(where, -errno, "%s", strerror(errno));
}

/* 1: a history of ours; 0: none; -ENOTSUP; or as open() says. */
static int check_version(int dir, const char *file, struct fault *where)
{
	char text[64] = "";
	int fd = infile_open_nofollow(dir, file);
	ssize_t n;

	if (fd == -EACCES || fd == -EPERM)
		return fault_set(where, fd, "%s", strerror(-fd));
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0 || strncmp(text, MAGIC, strlen(MAGIC)) != 0)
		return 0;
	if (strcmp(text, CHAPTER_NAME_VERSION) == 0)
		return 1;
	return fault_set(where, -ENOTSUP, "history %.*s",
	    (int)strspn(text + strlen(MAGIC), "0123456789."), text + strlen(MAGIC));
}

static bool is_visible(const char *name)
{
	return name[0] != '.';
}

static int has_chapters(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct listing_names in = {0};
	int err;

	if (fd < 0)
		return 0;
	err = listing_read(fd, chapters_has, &in);
	close(fd);
	if (err == 0)
		err = in.count > 0;
	listing_release(&in);
	return err == -ENOMEM ? err : err > 0;
}

static int list_services(int dir, struct listing_names *ret)
{
	size_t kept = 0;
	int err = listing_read(dir, is_visible, ret);

	for (size_t i = 0; i < ret->count; i++) {
		int has = err < 0 ? 0 : has_chapters(dir, ret->names[i]);

		if (has < 0)
			err = has;
		if (has > 0)
			ret->names[kept++] = ret->names[i];
		else
			free(ret->names[i]);
	}
	ret->count = kept;
	return err;
}

int history_services(const char *path, struct listing_names *ret, struct fault *where)
{
	int dir = open_directory(path, where), err;

	*ret = (struct listing_names){0};
	if (dir < 0)
		return dir;
	err = check_version(dir, CHAPTER_NAME_VERSION_FILE, where);
	if (err == 0)
		err = fault_set(where, -EINVAL, "no history of seep watch");
	if (err > 0) {
		err = list_services(dir, ret);
		if (err < 0)
			(void)fault_set(where, err, "%s", strerror(-err));
	}
	close(dir);
	if (err < 0)
		listing_release(ret);
	return err < 0 ? err : 0;
}

/* "a, b, c and 7 more", as many as there is room for. */
static int say_several(const struct listing_names *services, struct fault *where)
{
	char text[200];
	size_t len = 0, i = 0;

	text[0] = '\0';
	for (; i < services->count; i++) {
		int n = snprintf(
		    text + len, sizeof(text) - len, "%s%s", i ? ", " : "", services->names[i]);

		if (n < 0 || (size_t)n >= sizeof(text) - len)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
	if (i == services->count)
		return fault_set(where, -ENOTUNIQ, "%s", text);
	return fault_set(
	    where, -ENOTUNIQ, "%s%s%zu more", text, i ? " and " : "", services->count - i);
}

static int find_service(const char *path, int dir, char **ret, struct fault *where)
{
	struct listing_names services = {0};
	int err = list_services(dir, &services);

	if (err < 0)
		err = fault_set(where, err, "%s", strerror(-err));
	else if (services.count == 0)
		err = fault_set(where, -ENODATA, "the history has no chapter yet");
	else if (services.count > 1)
		err = say_several(&services, where);
	else if (asprintf(ret, "%s/%s", path, services.names[0]) < 0)
		err = fault_set(where, -ENOMEM, "out of memory");
	listing_release(&services);
	return err;
}

int history_find(const char *path, char **ret, struct fault *where)
{
	int dir = open_directory(path, where), err;

	if (dir < 0)
		return dir;
	err = check_version(dir, CHAPTER_NAME_VERSION_FILE, where);
	if (err > 0) {
		err = find_service(path, dir, ret, where);
		close(dir);
		return err;
	}
	/* a service: its history has the version, where we may look */
	if (err == 0 && has_chapters(dir, ".") > 0 &&
	    check_version(dir, "../" CHAPTER_NAME_VERSION_FILE, where) == -ENOTSUP)
		err = -ENOTSUP;
	close(dir);
	if (err < 0)
		return err;
	*ret = strdup(path);
	return *ret ? 0 : fault_set(where, -ENOMEM, "out of memory");
}

bool history_default(int which, char path[HISTORY_PATH_BYTES])
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	bool is_root = geteuid() == 0;
	int n;

	if (which > 0 && is_root)
		return false;
	if (which > 0 || is_root)
		n = snprintf(path, HISTORY_PATH_BYTES, "/var/lib/seep");
	else if (state && state[0] == '/')
		n = snprintf(path, HISTORY_PATH_BYTES, "%s/seep", state);
	else if (home && home[0] == '/')
		n = snprintf(path, HISTORY_PATH_BYTES, "%s/.local/state/seep", home);
	else
		return false;
	return n > 0 && n < HISTORY_PATH_BYTES;
}
