/* pools.c - visits the log of each process of an input. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/family.h"

#include "session/load/history.h"
#include "segments/find/dead.h"
#include "kit/os/infile.h"
#include "segments/find/proc.h"
#include "segments/read/segfile.h"
#include "kit/words/text.h"

/* With `only`, that slot alone. */
static int visit_slots(const struct pools_visitor *v, int dir, const char *name,
    const struct segfile *f, const int *only)
{
	uint8_t taken[SEGFILE_SLOTS];
	struct seg_header h;
	int err = 0;

	segfile_taken(f, taken);
	for (int i = SEGFILE_OWN; i < segfile_slots(f) && err == 0; i++)
		if ((!only || i == *only) && (i == SEGFILE_OWN || taken[i]) &&
		    segfile_header(f, i, &h, NULL) == 0)
			err = v->pool(v->context, dir, name, &h);
	return err;
}

static int visit_segment(const struct pools_visitor *v, int dir, const char *name)
{
	struct segfile *f;
	int err = segfile_open(dir, name, &f, NULL);

	if (err < 0)
		return err == -ENOMEM ? err : 0; /* the session says why */
	err = visit_slots(v, dir, name, f, NULL);
	segfile_close(f);
	return err;
}

int pools_entries(struct recording *b, enum recording_type type,
    int (*each)(void *context, const void *bytes, size_t len), void *context, bool *ret_damaged)
{
	int err = 0, got = 1;

	recording_only(b, type);
	while (got == 1 && err == 0) {
		const void *bytes;
		uint32_t found;
		size_t len;

		got = recording_next(b, &found, &bytes, &len);
		if (got == 1)
			err = each(context, bytes, len);
		if (got == -EBADMSG) {
			*ret_damaged = true;
			got = recording_resume(b) ? 1 : 0;
		}
	}
	return got < 0 ? got : err;
}

/* A segment, or a recording: a chapter, for example. */
static bool is_input(const char *name)
{
	return name[0] != '.' && !segfile_is_beside(name);
}

/* A recording in a folder. */
static int visit_beside(
    const struct pools_visitor *v, int dir, const char *folder, const char *name)
{
	struct recording *b;
	char path[PATH_MAX];
	int err;

	if (!listing_is_own(dir, name) ||
	    snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return 0;
	err = recording_open_entry(path, &b);
	if (err < 0)
		return err == -ENOMEM ? err : 0; /* the session says why */
	err = v->recording(v->context, b);
	recording_close(b);
	return err;
}

static int visit_directory(const struct pools_visitor *v, const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing_names names = {0};
	struct chapters_order order = {0};
	int err = dir < 0 ? -errno : listing_read(dir, is_input, &names);

	if (err == 0)
		err = chapters_sort(&names, &order);
	for (size_t i = 0; err == 0 && i < order.count; i++)
		err = visit_beside(v, dir, path, order.list[i]);
	for (size_t i = 0; err == 0 && i < names.count; i++) {
		const char *name = names.names[i];

		if (text_ends_with(name, ".seg"))
			err = visit_segment(v, dir, name);
		else if (!chapters_has(name))
			err = visit_beside(v, dir, path, name);
	}
	free(order.list);
	listing_release(&names);
	if (dir >= 0)
		(void)close(dir);
	return err;
}

static int visit_file(const struct pools_visitor *v, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct recording *b;
	char dir[PATH_MAX];
	int fd, err = recording_open(path, &b);

	if (err == 0) {
		err = v->recording(v->context, b);
		recording_close(b);
		return err;
	}
	if (err != -EINVAL)
		return err;
	(void)snprintf(
	    dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = visit_segment(v, fd, slash ? slash + 1 : path);
	(void)close(fd);
	return err;
}

static int visit_path(const struct pools_visitor *v, const char *path, struct fault *where)
{
	struct stat st;
	int err;

	if (stat(path, &st) < 0)
		err = -errno;
	else if (S_ISDIR(st.st_mode))
		err = visit_directory(v, path);
	else
		err = visit_file(v, path);
	if (err < 0)
		return fault_set(where, err, "%s: %s", path, strerror(-err));
	return err;
}

static int visit_slot(const struct pools_visitor *v, const char *directory, const char *name,
    const struct segfile *f, int slot, struct fault *where)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 ? -errno : visit_slots(v, fd, name, f, &slot);

	if (fd >= 0)
		(void)close(fd);
	if (err < 0)
		return fault_set(where, err, "%s: %s", directory, strerror(-err));
	return err;
}

static int visit_running(const struct pools_visitor *v, pid_t pid, struct fault *where)
{
	struct segfile *f = NULL;
	char path[4096], *slash;
	int slot, err = proc_open(pid, &f, &slot, path, where);

	if (err < 0)
		return err;
	slash = strrchr(path, '/');
	if (slash) {
		*slash = '\0';
		err = visit_slot(v, path, slash + 1, f, slot, where);
	} else {
		err = fault_set(where, -EINVAL, "%s: no directory", path);
	}
	segfile_close(f);
	return err;
}

static int visit_dead(
    const struct pools_visitor *v, const char *directory, pid_t pid, struct fault *where)
{
	struct dead d;
	int err = dead_find(0, directory, pid, &d);

	if (err < 0)
		return fault_set(where, err, "no such process");
	err = visit_slot(v, directory, d.name, d.file, d.slot, where);
	segfile_close(d.file);
	return err;
}

int pools_visit(const char *path, pid_t pid, const struct pools_visitor *v, struct fault *where)
{
	if (!path)
		return visit_running(v, pid, where);
	return pid ? visit_dead(v, path, pid, where) : visit_path(v, path, where);
}
