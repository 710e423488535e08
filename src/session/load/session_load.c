/* session_load.c - reads a session from a file, a directory, or a process. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "session/load/session.h"
#include "segments/find/proc.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"
#include "session/load/history.h"
#include "segments/find/dead.h"
#include "kit/os/infile.h"
#include "session/load/session_moment.h"
#include "session/load/load_parts.h"
#include "segments/read/segfile.h"

enum { BESIDE_NS = 500000000 }; /* for other segments of its directory */

static int no_memory(struct fault *where)
{
	return fault_set(where, -ENOMEM, "out of memory");
}

static int load_recording(
    struct session *s, const char *path, const char *name, bool alone, struct fault *where)
{
	int err = load_into_session(s, path, name, alone, where);

	s->is_truncated |= s->lacks_end;
	if (err == 0 && session_snapshots_of_recording(s, path) < 0)
		return no_memory(where);
	return err;
}

/* `alone`: it is the INPUT itself, not a file in a directory. */
static int load_file(
    struct session *s, const char *path, const char *name, bool alone, struct fault *where)
{
	struct seg_header h;
	struct segfile *f;
	int err;

	err = alone ? segfile_open(AT_FDCWD, path, &f, where) : segfile_open_entry(path, &f, where);
	if (err == -EINVAL)
		return load_recording(s, path, name, alone, where);
	if (err < 0)
		return err;
	if (!alone && segfile_header(f, SEGFILE_OWN, &h, NULL) == 0 &&
	    h.snapshot_reason != SEG_SNAPSHOT_NONE)
		err = session_snapshots_add(s, path, &h);
	else
		err = session_add_segfile(s, f, name, true, where);
	segfile_close(f);
	return err;
}

static bool is_input(const char *name)
{
	return name[0] != '.' && !segfile_is_beside(name);
}

static int load_directory(struct session *s, const char *path, struct fault *where)
{
	struct fault why = {""};
	struct listing_names folder = {0};
	bool has_chapters;
	int dir, err;

	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = dir < 0 ? -errno : listing_read(dir, is_input, &folder);
	if (dir >= 0)
		(void)close(dir);
	s->lost.files += folder.refused;
	if (err < 0) {
		listing_release(&folder);
		return fault_set(where, err, "%s", strerror(-err));
	}
	has_chapters = chapters_are_in(&folder);
	if (has_chapters)
		err = chapters_load(s, path, &folder, where);
	for (size_t i = 0; i < folder.count && err != -ENOMEM; i++) {
		const char *name = folder.names[i];
		char *file;

		if (has_chapters && chapters_has(name))
			continue;
		if (asprintf(&file, "%s/%s", path, name) < 0) {
			err = -ENOMEM;
			continue;
		}
		err = load_file(s, file, name, false, &why);
		free(file);
		s->is_truncated |= err == -EBADMSG || err == -EFBIG;
		/* Is the file gone, or not there yet? Then nothing is lost. */
		if (err < 0 && err != -ENOMEM && err != -ENODATA && err != -ENOENT &&
		    err != -EISDIR)
			err = session_note(s, "%s%s%s left out: %s", path,
			    text_ends_with(path, "/") ? "" : "/", name, why.text);
	}
	listing_release(&folder);
	if (err == -ENOMEM)
		return no_memory(where);
	err = session_snapshots_finish(s, where);
	if (err < 0)
		return err;
	if (s->count > 0)
		return 0;
	if (s->note_count > 0 && s->is_truncated)
		return fault_set(where, -EBADMSG, "nothing readable in it; %s", s->notes[0]);
	if (s->note_count > 0)
		return fault_set(
		    where, -ENODATA, "there is no segment and no recording in it; %s", s->notes[0]);
	return fault_set(where, -ENODATA, "there is no segment in it");
}

/*
 * The later segment of the process may be in the same directory as this file.
 */
static void look_beside_in(struct session *s, int beside)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + BESIDE_NS;
	struct seg_header h;
	struct segfile *f;
	struct dirent *e;
	char mark[32];
	DIR *dir;
	int fd;

	if (s->count == 0 || s->processes[0]->end != PROCESS_GONE)
		return;
	fd = openat(beside, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	(void)snprintf(mark, sizeof(mark), "-%u-", s->processes[0]->header.pid);
	while ((e = readdir(dir)) && clock_ns(CLOCK_MONOTONIC) < until_ns) {
		const char *dot = strrchr(e->d_name, '.');

		if (!strstr(e->d_name, mark) || !dot || strcmp(dot, ".seg") != 0 ||
		    segfile_open(dirfd(dir), e->d_name, &f, NULL) < 0)
			continue;
		if (segfile_header(f, SEGFILE_OWN, &h, NULL) == 0)
			session_mark_exec(s->processes, s->count, &h);
		segfile_close(f);
	}
	(void)closedir(dir);
}

static void look_beside(struct session *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	if (fd < 0)
		return;
	look_beside_in(s, fd);
	(void)close(fd);
}

/* Hands the session to the caller, or frees it if there was an error. */
static int hand_over(struct session *s, int err, struct session **ret)
{
	if (err < 0) {
		session_free(s);
		return err;
	}
	*ret = s;
	return 0;
}

int session_load(const char *path, struct session **ret, struct fault *where)
{
	const char *slash = strrchr(path, '/');
	struct session *s;
	struct stat st;
	int err;

	if (stat(path, &st) < 0)
		return fault_set(where, -errno, "%s", strerror(errno));
	s = session_new();
	if (!s)
		return no_memory(where);
	if (S_ISDIR(st.st_mode)) {
		char *folder = NULL;

		err = history_find(path, &folder, where);
		if (err == 0)
			err = load_directory(s, folder, where);
		free(folder);
	} else {
		err = load_file(s, path, slash ? slash + 1 : path, true, where);
		if (err == 0)
			err = session_snapshots_finish(s, where);
		if (err == 0)
			look_beside(s, path);
	}
	if (err == 0)
		err = session_finish(s);
	if (err == 0)
		session_put_in_order(s);
	return hand_over(s, err, ret);
}

int session_load_brief(int dir, const char *name, struct session_brief *brief, struct session **ret,
    struct fault *where)
{
	struct segfile *f;
	struct session *s;
	int err;

	brief->unread = 0;
	err = segfile_open(dir, name, &f, where);
	if (err < 0)
		return err;
	s = session_new();
	err = s ? 0 : no_memory(where);
	if (err == 0) {
		s->work->brief = brief;
		s->work->cache = brief->cache;
		err = session_add_segfile(s, f, name, true, where);
	}
	if (err == 0)
		look_beside_in(s, dir);
	segfile_close(f);
	if (err == 0)
		session_put_in_order(s);
	return hand_over(s, err, ret);
}

int session_load_pid(pid_t pid, struct session **ret, struct fault *where)
{
	struct segfile *f;
	struct session *s;
	char path[4096];
	int slot, err;

	err = proc_open(pid, &f, &slot, path, where);
	if (err < 0)
		return err;
	s = session_new();
	err = s ? session_add_slot(s, f, slot, pid, where) : no_memory(where);
	segfile_close(f);
	return hand_over(s, err, ret);
}

int session_load_pid_brief(pid_t pid, struct session **ret, struct session_brief_file *ret_file)
{
	struct session_brief brief = {0};
	const struct source *source;
	struct segfile *f;
	struct session *s;
	int slot, err;

	err = proc_open(pid, &f, &slot, ret_file->path, NULL);
	if (err < 0)
		return err;
	source = segfile_source(f);
	ret_file->device = source->device;
	ret_file->inode = source->inode;
	ret_file->stored_bytes = source->stored_bytes;
	ret_file->uid = source->uid;
	s = session_new();
	err = s ? 0 : -ENOMEM;
	if (err == 0) {
		s->work->brief = &brief;
		err = session_add_slot(s, f, slot, pid, NULL);
		s->work->brief = NULL; /* it is gone when we return */
	}
	segfile_close(f);
	return hand_over(s, err, ret);
}

int session_load_slot(const struct segfile *f, int slot, pid_t pid, bool blocks,
    struct session **ret, struct fault *where)
{
	struct session *s = session_new();
	int err;

	if (!s)
		return no_memory(where);
	s->work->no_blocks = !blocks;
	err = session_add_slot(s, f, slot, pid > 0 ? pid : SESSION_ASK_NOT, where);
	return hand_over(s, err, ret);
}

int session_load_slots(const struct session_slot *list, size_t count, bool blocks,
    struct session **ret, struct fault *where)
{
	struct session *s = session_new();
	struct fault why = {""};
	int err = 0;

	if (!s)
		return no_memory(where);
	s->work->no_blocks = !blocks;
	for (size_t i = 0; i < count && err == 0; i++) {
		pid_t pid = list[i].pid > 0 ? list[i].pid : SESSION_ASK_NOT;

		err = session_add_slot(s, list[i].file, list[i].slot, pid, &why);
		if (err < 0 && err != -ENOMEM)
			err =
			    session_note(s, "process %d left out: %s", (int)list[i].pid, why.text);
	}
	if (err == 0)
		err = session_finish(s);
	if (err < 0)
		(void)no_memory(where);
	return hand_over(s, err, ret);
}

int session_load_dead(
    pid_t chooser, const char *directory, pid_t pid, struct session **ret, struct fault *where)
{
	struct session *s;
	struct dead d;
	int err = dead_find(chooser, directory, pid, &d);

	if (err < 0)
		return fault_set(where, err, "no such process");
	s = session_new();
	err = s ? session_add_slot(s, d.file, d.slot, SESSION_ASK_PROC, where) : no_memory(where);
	segfile_close(d.file);
	return hand_over(s, err, ret);
}

int session_load_bytes(const void *bytes, size_t len, struct session **ret, struct fault *where)
{
	struct segfile *f;
	struct session *s;
	int err;

	err = segfile_open_bytes(bytes, len, &f, where);
	if (err < 0)
		return err;
	s = session_new();
	err = s ? session_add_segfile(s, f, "input", false, where) : no_memory(where);
	segfile_close(f);
	if (err == 0)
		session_put_in_order(s);
	return hand_over(s, err, ret);
}
