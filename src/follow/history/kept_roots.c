/* kept_roots.c - the root directories of containers, kept for names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/store.h"

#include "names/find/places.h"
#include "kit/data/room.h"

enum {
	ROOTS_MAX = 16,     /* of one service */
	ROOTS_ALL_MAX = 512 /* descriptors are scarce */
};

struct kept_root {
	uint64_t view;
	int fd;
	size_t living;
};

static size_t open_roots; /* of all services */

static void close_at(struct kept_roots *r, size_t i)
{
	close(r->list[i].fd);
	r->list[i] = r->list[--r->count];
	open_roots--;
}

void kept_roots_release(struct kept_roots *r)
{
	while (r->count > 0)
		close_at(r, 0);
	free(r->list);
	*r = (struct kept_roots){0};
}

static struct kept_root *find(const struct kept_roots *r, uint64_t view)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->list[i].view == view)
			return &r->list[i];
	return NULL;
}

/* A service that only has some mounts of its own sees our files. */
static bool is_our_root(int fd)
{
	struct stat theirs, ours;

	return fstat(fd, &theirs) < 0 || stat("/", &ours) < 0 ||
	    (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino);
}

uint64_t kept_roots_enter(struct kept_roots *r, pid_t pid)
{
	uint64_t view = fs_view_of(pid);
	struct kept_root *known = view ? find(r, view) : NULL;
	char path[32];
	int fd;

	if (known) {
		known->living++;
		return view;
	}
	if (!view || r->count >= ROOTS_MAX || open_roots >= ROOTS_ALL_MAX ||
	    room_make(&r->list, &r->room, r->count, sizeof(*r->list)) < 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (is_our_root(fd)) {
		close(fd);
		return 0;
	}
	r->list[r->count++] = (struct kept_root){.view = view, .fd = fd, .living = 1};
	open_roots++;
	return view;
}

void kept_roots_leave(struct kept_roots *r, uint64_t view)
{
	struct kept_root *known = view ? find(r, view) : NULL;

	if (known && known->living > 0)
		known->living--;
}

void kept_roots_drop(struct kept_roots *r)
{
	for (size_t i = 0; i < r->count;)
		if (r->list[i].living == 0)
			close_at(r, i);
		else
			i++;
}

struct process_root kept_roots_find(const struct kept_roots *r, uint64_t view)
{
	const struct kept_root *known = view ? find(r, view) : r->count == 1 ? &r->list[0] : NULL;

	return known ? (struct process_root){.view = known->view, .fd = known->fd}
	             : (struct process_root){0};
}
