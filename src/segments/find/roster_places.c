/* roster_places.c - the directories with segments, and what is new in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/roster_places.h"

#include <sys/inotify.h>

#include "host/proc/folder.h"
#include "kit/os/infile.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"
#include "kit/words/text.h"

enum {
	PLACES_MAX = 1024,
	FILES_MAX = LISTING_MAX, /* of one directory */
	EVENTS = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF |
	    IN_MOVE_SELF | IN_ONLYDIR,
	LOAD = 50, /* rest so many times as long as listing took of the CPU */
};

/* The clock of files is coarse: two changes may have the same time. */
#define COARSE_NS  UINT64_C(50000000)
#define PARENT_RUN "/run/seep"

enum kind {
	KIND_GIVEN, /* by a path of the user's, who may use links */
	KIND_SHM,   /* /dev/shm/seep-UID */
	KIND_RUN,   /* /run/seep, and what is below it */
};

struct place {
	struct roster_place shown;
	enum kind kind;
	int watch; /* of inotify, -1: none */
	bool is_dirty;
	bool is_known;       /* in this look: its path still leads to it */
	uint64_t changed_ns; /* the directory's own time, when it was listed */
	uint64_t next_ns;    /* when to list it again */
	uint64_t refused;
};

struct roster_places {
	char **given; /* NULL: /dev/shm and /run/seep */
	size_t given_count;
	struct place **items;
	size_t count, room;
	int inotify;
	uint64_t numbers;
	uint64_t refused;             /* directories */
	uint64_t shm_ns, shm_next_ns; /* as changed_ns; when to list it again */
};

/* ---- coming and going ---- */

static void free_place(struct roster_places *p, struct place *x)
{
	if (x->watch >= 0)
		(void)inotify_rm_watch(p->inotify, x->watch);
	(void)close(x->shown.fd);
	free(x->shown.path);
	free(x);
}

void roster_places_free(struct roster_places *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++)
		free_place(p, p->items[i]);
	for (size_t i = 0; i < p->given_count; i++)
		free(p->given[i]);
	if (p->inotify >= 0)
		(void)close(p->inotify);
	free(p->given);
	free(p->items);
	free(p);
}

static int take_given(struct roster_places *p, const char *const *directories)
{
	size_t n = 0;

	while (directories[n])
		n++;
	p->given = calloc(n + 1, sizeof(char *));
	if (!p->given)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		p->given[i] = strdup(directories[i]);
		if (!p->given[i])
			return -ENOMEM;
		p->given_count++;
	}
	return 0;
}

int roster_places_new(const char *const *directories, struct roster_places **ret)
{
	struct roster_places *p = calloc(1, sizeof(*p));
	const char *one[] = {getenv("SEEP_DIR"), NULL};
	int err = 0;

	if (!p)
		return -ENOMEM;
	if (!directories && one[0] && one[0][0])
		directories = one;
	/* without inotify every look compares the times of the directories */
	p->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (directories)
		err = take_given(p, directories);
	if (err < 0) {
		roster_places_free(p);
		return err;
	}
	*ret = p;
	return 0;
}

int roster_places_fd(const struct roster_places *p)
{
	return p->inotify;
}

uint64_t roster_places_refused(const struct roster_places *p)
{
	uint64_t refused = p->refused;

	for (size_t i = 0; i < p->count; i++)
		refused += p->items[i]->refused;
	return refused;
}

const struct roster_place *roster_places_find(const struct roster_places *p, uint64_t number)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i]->shown.number == number)
			return &p->items[i]->shown;
	return NULL;
}

static uint64_t changed_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

/* Was the directory changed so recently that it may change again unseen? */
static bool is_recent(uint64_t changed)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);

	return now < changed + COARSE_NS;
}

/* On a busy machine time passes in which we did nothing. */
static uint64_t cpu_since(uint64_t start)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void watch(struct roster_places *p, struct place *x)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", x->shown.fd);
	x->watch = p->inotify < 0 ? -1 : inotify_add_watch(p->inotify, path, EVENTS);
}

/* Takes over fd. -ENOMEM. */
static int add_place(
    struct roster_places *p, int fd, const struct stat *st, const char *path, enum kind kind)
{
	struct place *x = NULL;

	if (p->count >= PLACES_MAX) {
		p->refused++;
		(void)close(fd);
		return 0;
	}
	if (room_make(&p->items, &p->room, p->count, sizeof(struct place *)) == 0)
		x = calloc(1, sizeof(*x));
	if (x)
		x->shown.path = strdup(path);
	if (!x || !x->shown.path) {
		(void)close(fd);
		free(x);
		return -ENOMEM;
	}
	x->shown.number = ++p->numbers;
	x->shown.fd = fd;
	x->shown.device = st->st_dev;
	x->shown.inode = st->st_ino;
	x->kind = kind;
	x->is_dirty = x->is_known = true;
	watch(p, x);
	p->items[p->count++] = x;
	return 0;
}

static struct place *find_place(const struct roster_places *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->items[i]->shown.path, path) == 0)
			return p->items[i];
	return NULL;
}

static bool is_user_folder(const char *name)
{
	return strncmp(name, "seep-", 5) == 0 && name[5] >= '0' && name[5] <= '9';
}

/* Whose is /dev/shm/NAME, by its name? */
static bool is_right_owner(const char *name, uid_t owner)
{
	char expected[FOLDER_PATH_BYTES];

	if (geteuid() != 0 && owner != geteuid())
		return false;
	folder_default(owner, expected);
	return strcmp(expected + sizeof(FOLDER_SHM), name) == 0 || folder_is_note(name, owner);
}

/* Is it still there, or there at last? -ENOMEM. */
static int look_at_path(struct roster_places *p, const char *path, enum kind kind)
{
	struct place *known = find_place(p, path);
	struct stat st;
	int fd;

	if ((kind == KIND_GIVEN ? stat(path, &st) : lstat(path, &st)) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	if (known && known->shown.device == st.st_dev && known->shown.inode == st.st_ino) {
		known->is_known = true;
		return 0;
	}
	if (known)
		return 0; /* another directory: when the old one is gone */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (kind == KIND_GIVEN ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return 0;
	/* it may be another one by now */
	if (fstat(fd, &st) < 0 ||
	    ((kind == KIND_SHM || (kind == KIND_RUN && is_user_folder(text_base(path)))) &&
	        !is_right_owner(text_base(path), st.st_uid))) {
		(void)close(fd);
		return 0;
	}
	return add_place(p, fd, &st, path, kind);
}

static bool is_any_folder(const char *name)
{
	return name[0] != '.';
}

/* All directories in one that are wanted. -ENOMEM. */
static int look_into_parent(struct roster_places *p, int parent, const char *path,
    bool (*is_wanted)(const char *name), enum kind kind)
{
	struct listing_names names = {0};
	int err = listing_read(parent, is_wanted, &names);

	p->refused += names.refused;
	for (size_t i = 0; i < names.count && err == 0; i++) {
		char entry[PATH_MAX];

		if ((size_t)snprintf(entry, sizeof(entry), "%s/%s", path, names.names[i]) <
		    sizeof(entry))
			err = look_at_path(p, entry, kind);
	}
	listing_release(&names);
	return err == -ENOMEM ? err : 0;
}

/* /dev/shm is everybody's, and may be busy: it is listed if it has changed. */
static int look_into_shm(struct roster_places *p)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), changed, start;
	int fd, err = 0;
	struct stat st;

	fd = open(FOLDER_SHM, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	changed = fstat(fd, &st) == 0 ? changed_ns(&st) : 0;
	if (changed != p->shm_ns && now >= p->shm_next_ns) {
		p->shm_ns = is_recent(changed) ? 0 : changed;
		start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		err = look_into_parent(p, fd, FOLDER_SHM, is_user_folder, KIND_SHM);
		p->shm_next_ns = now + cpu_since(start) * LOAD;
	}
	(void)close(fd);
	for (size_t i = 0; i < p->count && err == 0; i++)
		if (p->items[i]->kind == KIND_SHM)
			err = look_at_path(p, p->items[i]->shown.path, KIND_SHM);
	return err;
}

/* Made by root, or by systemd for a service (RuntimeDirectory=seep/NAME). */
static int look_into_run(struct roster_places *p)
{
	int fd = open(PARENT_RUN, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()))
		err = look_into_parent(p, fd, PARENT_RUN, is_any_folder, KIND_RUN);
	(void)close(fd);
	if (err == 0)
		err = look_at_path(p, PARENT_RUN, KIND_RUN);
	return err;
}

/* ---- what has changed ---- */

static void mark_dirty(struct roster_places *p, int watch_number)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i]->watch == watch_number || watch_number < 0)
			p->items[i]->is_dirty = true;
}

static void drain(struct roster_places *p)
{
	_Alignas(struct inotify_event) char buffer[16384];
	ssize_t n;

	while (p->inotify >= 0 && (n = read(p->inotify, buffer, sizeof(buffer))) > 0) {
		for (char *at = buffer; at < buffer + n;) {
			struct inotify_event e;

			memcpy(&e, at, sizeof(e));
			/* -1: the queue has overflowed */
			mark_dirty(p, e.wd);
			at += sizeof(e) + e.len;
		}
	}
}

static bool is_due(struct place *x, uint64_t now)
{
	struct stat st;

	if (now < x->next_ns)
		return false;
	if (x->is_dirty)
		return true;
	if (x->watch >= 0 || fstat(x->shown.fd, &st) < 0)
		return false;
	return changed_ns(&st) != x->changed_ns;
}

static int list(struct place *x, const struct roster_visitor *v)
{
	int fd = openat(x->shown.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	size_t files = 0;
	struct stat st;
	int err = 0;

	if (!d) {
		if (fd >= 0)
			(void)close(fd);
		return 0;
	}
	if (fstat(fd, &st) == 0)
		x->changed_ns = is_recent(changed_ns(&st)) ? 0 : changed_ns(&st);
	x->is_dirty = false;
	x->refused = 0;
	while (err == 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.' || !text_ends_with(e->d_name, ".seg") ||
		    (e->d_type != DT_REG && e->d_type != DT_UNKNOWN))
			continue;
		if (files++ < FILES_MAX)
			err = v->file(v->context, &x->shown, e->d_name, e->d_ino);
		else
			x->refused++;
	}
	(void)closedir(d);
	if (err == 0)
		v->all(v->context, &x->shown);
	return err;
}

/* Places whose path leads elsewhere, or nowhere. */
static void drop_gone(struct roster_places *p, const struct roster_visitor *v)
{
	for (size_t i = 0; i < p->count;) {
		struct place *x = p->items[i];

		if (x->is_known) {
			i++;
			continue;
		}
		v->all(v->context, &x->shown);
		memmove(p->items + i, p->items + i + 1, (--p->count - i) * sizeof(struct place *));
		free_place(p, x);
	}
}

static int find_places(struct roster_places *p)
{
	int err = 0;

	for (size_t i = 0; i < p->count; i++)
		p->items[i]->is_known = false;
	for (size_t i = 0; i < p->given_count && err == 0; i++)
		err = look_at_path(p, p->given[i], KIND_GIVEN);
	if (!p->given && err == 0)
		err = look_into_shm(p);
	if (!p->given && err == 0)
		err = look_into_run(p);
	return err;
}

int roster_places_look(struct roster_places *p, const struct roster_visitor *v)
{
	uint64_t now, start;
	int err;

	drain(p);
	p->refused = 0;
	err = find_places(p);
	for (size_t i = 0; i < p->count && err == 0; i++) {
		struct place *x = p->items[i];

		now = clock_ns(CLOCK_MONOTONIC);
		if (!x->is_known || !is_due(x, now))
			continue;
		start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		err = list(x, v);
		x->next_ns = now + cpu_since(start) * LOAD;
	}
	if (err == 0)
		drop_gone(p, v);
	return err;
}
