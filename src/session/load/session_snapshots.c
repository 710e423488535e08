/* session_snapshots.c - snapshots that belong to a session, and are not loaded yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/session_moment.h"

#include "base/std.h"
#include "segments/read/segfile.h"
#include "session/load/load_parts.h"
#include "kit/data/sorted.h"

enum { NAMED_MAX = 4 }; /* files of others that are named one by one */

int session_snapshots_add(struct session *s, const char *path, const struct seg_header *h)
{
	struct session_snapshot *more;

	more = reallocarray(s->snapshots, s->snapshot_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->snapshots = more;
	more += s->snapshot_count;
	*more = (struct session_snapshot){
	    .path = strdup(path),
	    .pid = h->pid,
	    .number = h->snapshot_number,
	    .reason = h->snapshot_reason,
	    .time_ns = h->snapshot_realtime_ns,
	};
	if (!more->path)
		return -ENOMEM;
	memcpy(more->uuid, h->uuid, sizeof(h->uuid));
	memcpy(more->label, h->snapshot_label, sizeof(h->snapshot_label));
	s->snapshot_count++;
	return 0;
}

static bool is_of_session(const struct session *s, const struct seg_header *h)
{
	for (size_t i = 0; i < s->count; i++)
		if (h->session[0] && strcmp(s->processes[i]->header.session, h->session) == 0)
			return true;
	return false;
}

/* The state while the names in FILE.snapshots are read. */
struct gathering {
	struct session *session;
	const char *folder;
	int dir;
	uid_t owner;    /* of the recording */
	size_t refused; /* files of others */
};

/*
 * The folder may be in a directory that anybody can write to, so anybody may
 * have made it. A file in it is read only if it belongs to the owner of the
 * recording. 1: it does; 0: it does not; or -ENOMEM. This opens no file and
 * follows no link.
 */
static int is_of_owner(struct gathering *g, const char *name, struct stat *ret)
{
	if (fstatat(g->dir, name, ret, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (ret->st_uid == g->owner)
		return S_ISREG(ret->st_mode);
	if (g->refused++ >= NAMED_MAX)
		return 0;
	return session_note(g->session,
	    "%s/%s left out: it belongs to uid %u, the recording to uid %u", g->folder, name,
	    (unsigned)ret->st_uid, (unsigned)g->owner);
}

static int add_file(struct gathering *g, const char *name, const struct segfile *f)
{
	struct seg_header h;
	char *path;
	int err;

	if (segfile_header(f, SEGFILE_OWN, &h, NULL) < 0 ||
	    h.snapshot_reason == SEG_SNAPSHOT_NONE || !is_of_session(g->session, &h))
		return 0;
	if (asprintf(&path, "%s/%s", g->folder, name) < 0)
		return -ENOMEM;
	err = session_snapshots_add(g->session, path, &h);
	free(path);
	return err;
}

static int look_at(struct gathering *g, const char *name)
{
	struct segfile *f;
	struct stat st;
	int err;

	if (name[0] == '.')
		return 0;
	err = is_of_owner(g, name, &st);
	if (err <= 0 || segfile_open(g->dir, name, &f, NULL) < 0)
		return err < 0 ? err : 0;
	/* otherwise another file has been given this name in between */
	err = 0;
	if (segfile_source(f)->device == st.st_dev && segfile_source(f)->inode == st.st_ino)
		err = add_file(g, name, f);
	segfile_close(f);
	return err;
}

int session_snapshots_of_recording(struct session *s, const char *file)
{
	struct gathering g = {.session = s};
	struct dirent *e;
	struct stat st;
	char *folder;
	int err = 0;
	DIR *d;

	if (stat(file, &st) < 0)
		return 0;
	if (asprintf(&folder, "%s" SESSION_SNAPSHOTS_SUFFIX, file) < 0)
		return -ENOMEM;
	g.folder = folder;
	g.owner = st.st_uid;
	g.dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = g.dir < 0 ? NULL : fdopendir(g.dir);
	if (!d && g.dir >= 0)
		(void)close(g.dir);
	while (d && err == 0 && (e = readdir(d)))
		err = look_at(&g, e->d_name);
	if (d)
		(void)closedir(d);
	if (err == 0 && g.refused > NAMED_MAX)
		err = session_note(s,
		    "%zu more files in %s left out: they belong to others than "
		    "the recording",
		    g.refused - NAMED_MAX, folder);
	free(folder);
	return err;
}

BY(by_time, struct session_snapshot, UP(time_ns) ?: UP(number) ?: strcmp(x->path, y->path))

static int load(struct session *s, const char *path, struct fault *where)
{
	struct fault why = {""};
	struct segfile *f;
	int err;

	err = segfile_open_entry(path, &f, &why);
	if (err == 0) {
		err = session_add_segfile(s, f, path, false, &why);
		segfile_close(f);
	}
	if (err < 0 && err != -ENOMEM && err != -ENOENT)
		err = session_note(s, "%s left out: %s", path, why.text);
	if (err == -ENOMEM)
		return fault_set(where, err, "out of memory");
	return 0;
}

int session_snapshots_finish(struct session *s, struct fault *where)
{
	int err = 0;

	if (s->snapshot_count > 1)
		qsort(s->snapshots, s->snapshot_count, sizeof(*s->snapshots), by_time);
	for (size_t i = s->snapshot_count; i-- > 0 && err == 0;) {
		struct session_snapshot *x = &s->snapshots[i];

		if (session_find(s, x->uuid))
			continue;
		err = load(s, x->path, where);
		x->is_loaded = true;
	}
	return err;
}

/* The names in a recording apply to the snapshots of the same process, too. */
static void lend_names(const struct session *s, struct process *p)
{
	for (size_t i = 0; i < s->count && !p->names; i++)
		if (memcmp(s->processes[i]->header.uuid, p->header.uuid, sizeof(p->header.uuid)) ==
		    0)
			p->names = s->processes[i]->names;
}

int session_add_snapshots(struct session *s, struct fault *where)
{
	int err = 0;

	for (size_t i = 0; i < s->snapshot_count && err == 0; i++) {
		if (s->snapshots[i].is_loaded)
			continue;
		err = load(s, s->snapshots[i].path, where);
		s->snapshots[i].is_loaded = true;
	}
	for (size_t i = 0; i < s->count; i++)
		lend_names(s, s->processes[i]);
	return err;
}
