/* gather_walk.c - the segment directories, and the files in them. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "host/proc/folder.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "segments/find/gather_parts.h"

#define RUN "/run/seep"

enum {
	FILES_MAX = 65536, /* in all directories */
	OTHERS_MAX = 4096, /* in one directory of another user */
	DIRECTORIES_MAX = 4096,
};

static void close_directories(struct gather *g)
{
	for (size_t i = 0; i < g->directory_count; i++)
		close(g->directories[i].fd);
	g->directory_count = 0;
}

/* `owner`: whose it must be; -1: anybody's. */
static int add_directory(struct gather *g, const char *path, uid_t owner, bool is_run)
{
	struct gather_directory *d;
	struct stat st, other;
	int fd;

	if (g->directory_count >= DIRECTORIES_MAX)
		return 0;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0 || (owner != (uid_t)-1 && st.st_uid != owner))
		goto out;
	for (size_t i = 0; i < g->directory_count; i++)
		if (fstat(g->directories[i].fd, &other) == 0 && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			goto out;
	if (room_make(&g->directories, &g->directory_room, g->directory_count,
	        sizeof(*g->directories)) < 0) {
		close(fd);
		return -ENOMEM;
	}
	d = &g->directories[g->directory_count++];
	(void)snprintf(d->path, sizeof(d->path), "%s", path);
	d->fd = fd;
	d->is_run = is_run;
	return 0;
out:
	close(fd);
	return 0;
}

/* seep-UID and seep-UID-XXXXXXXX belong to that user, or are none of ours. */
static bool owner_of(const char *name, uid_t *ret)
{
	char *end;
	unsigned long uid;

	if (strncmp(name, "seep-", 5) != 0 || name[5] < '0' || name[5] > '9')
		return false;
	uid = strtoul(name + 5, &end, 10);
	if (uid >= UINT32_MAX || (*end && *end != '-'))
		return false;
	*ret = (uid_t)uid;
	return true;
}

static int add_all_of(struct gather *g, const char *parent, bool is_run)
{
	DIR *d = opendir(parent);
	struct dirent *e;
	int err = 0;

	while (d && err == 0 && (e = readdir(d))) {
		char path[PATH_MAX];
		uid_t owner = (uid_t)-1;

		/* anybody may make directories in both */
		if (e->d_name[0] == '.' || (!owner_of(e->d_name, &owner) && !is_run))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", parent, e->d_name) < (int)sizeof(path))
			err = add_directory(g, path, owner, is_run);
	}
	if (d)
		closedir(d);
	return err;
}

static int find_directories(struct gather *g)
{
	const char *env = getenv("SEEP_DIR");
	int err = 0;

	close_directories(g);
	for (const char *const *d = g->plan.directories; d && *d && err == 0; d++) {
		char *real = realpath(*d, NULL);

		err = add_directory(g, real ? real : *d, (uid_t)-1,
		    real && strncmp(real, RUN "/", sizeof(RUN)) == 0);
		free(real);
	}
	if (g->plan.directories)
		return err;
	/* as the roster does: whoever names a place means that one alone */
	if (env && env[0])
		return add_directory(g, env, (uid_t)-1, false);
	err = add_all_of(g, FOLDER_SHM, false);
	if (err == 0 && geteuid() == 0)
		err = add_all_of(g, RUN, true);
	return err;
}

/* ---- files ---- */

struct file_id {
	size_t directory;
	uint64_t inode;
	const char *name;
};

static bool same_file(const void *items, uint32_t item, const void *key)
{
	const struct gather_file *f = (const struct gather_file *)items + item;
	const struct file_id *id = key;

	return f->inode == id->inode && strcmp(f->name, id->name) == 0;
}

static uint64_t hash_of(const struct file_id *id)
{
	return dict_hash(id->inode, dict_hash_text(id->name), 11);
}

/* What a file of an earlier round has, if it is this one. */
static struct gather_file take_known(
    struct gather_file *old, const struct dict *index, const struct file_id *id)
{
	struct gather_file f = {.directory = id->directory, .inode = id->inode};
	uint32_t at;

	if (old && dict_seek(index, hash_of(id), same_file, old, id, &at)) {
		f.file = old[at].file;
		f.own = old[at].own;
		f.may_remove = old[at].may_remove;
		old[at].file = NULL;
	}
	return f;
}

static void open_file(struct gather *g, struct gather_file *f, const char *name)
{
	const struct gather_directory *d = &g->directories[f->directory];

	if (segfile_open(d->fd, name, &f->file, NULL) < 0) {
		f->file = NULL;
		return;
	}
	if (segfile_header(f->file, SEGFILE_OWN, &f->own, NULL) < 0 ||
	    segfile_source(f->file)->inode != f->inode) {
		segfile_close(f->file);
		f->file = NULL;
		return;
	}
	f->may_remove = segfile_source(f->file)->uid == geteuid() || (d->is_run && geteuid() == 0);
}

struct walk {
	struct gather *gather;
	struct gather_file *old;
	struct dict index; /* of these */
};

static int add_file(struct walk *w, size_t directory, const struct dirent *e)
{
	struct gather *g = w->gather;
	const struct file_id id = {.directory = directory, .inode = e->d_ino, .name = e->d_name};
	struct gather_file f = take_known(w->old, &w->index, &id);
	uint32_t at;
	int err;

	if (!f.file)
		open_file(g, &f, e->d_name);
	if (!f.file)
		return 0; /* being born, gone, or no segment */
	err = room_make(&g->files, &g->file_room, g->file_count, sizeof(*g->files));
	if (err == 0) {
		f.name = strdup(e->d_name);
		err = f.name ? 0 : -ENOMEM;
	}
	if (err < 0) {
		segfile_close(f.file);
		return err;
	}
	g->files[g->file_count] = f;
	err = dict_find(
	    &g->file_index, hash_of(&id), same_file, g->files, &id, (uint32_t)g->file_count, &at);
	g->file_count++;
	return err < 0 ? err : 0;
}

static int list_directory(struct walk *w, size_t directory)
{
	const struct gather_directory *from = &w->gather->directories[directory];
	int fd = openat(from->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t most = OTHERS_MAX, count = 0;
	struct dirent *e;
	struct stat st;
	int err = 0;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	if (fstat(from->fd, &st) == 0 && st.st_uid == geteuid())
		most = FILES_MAX;
	while (err == 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.' || !text_ends_with(e->d_name, ".seg"))
			continue;
		if (++count > most || w->gather->file_count >= FILES_MAX)
			break;
		err = add_file(w, directory, e);
	}
	closedir(d);
	return err;
}

static void release_files(struct gather_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		segfile_close(files[i].file);
		free(files[i].name);
	}
	free(files);
}

int gather_walk(struct gather *g)
{
	struct walk w = {.gather = g, .old = g->files, .index = g->file_index};
	size_t old_count = g->file_count;
	int err;

	g->files = NULL;
	g->file_count = 0;
	g->file_room = 0;
	g->file_index = (struct dict){0};
	err = find_directories(g);
	for (size_t i = 0; i < g->directory_count && err == 0; i++)
		err = list_directory(&w, i);
	release_files(w.old, old_count);
	dict_release(&w.index);
	return err;
}

void gather_walk_release(struct gather *g)
{
	release_files(g->files, g->file_count);
	g->files = NULL;
	g->file_count = 0;
	dict_release(&g->file_index);
	close_directories(g);
	free(g->directories);
	g->directories = NULL;
}
