/* proc_look.c - what /proc said of processes, kept for a while. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/proc_look.h"

#include <errno.h>
#include <stdlib.h>

#include "util/room.h"

enum { BUCKETS = 1024 };

/* By pid modulo BUCKETS; in each bucket as they came. */
struct bucket {
	struct proc_seen *items;
	size_t count, room;
};

struct proc_look {
	struct bucket buckets[BUCKETS];
};

struct proc_look *
proc_look_new(void)
{
	return calloc(1, sizeof(struct proc_look));
}

void
proc_look_free(struct proc_look *look)
{
	for (size_t i = 0; look && i < BUCKETS; i++) {
		struct bucket *b = &look->buckets[i];

		for (size_t k = 0; k < b->count; k++)
			free(b->items[k].files);
		free(b->items);
	}
	free(look);
}

struct proc_seen *
proc_look_find(struct proc_look *look, pid_t pid)
{
	struct bucket *b = &look->buckets[(size_t)pid % BUCKETS];

	for (size_t i = 0; i < b->count; i++)
		if (b->items[i].pid == pid)
			return &b->items[i];
	if (room_make(&b->items, &b->room, b->count, sizeof(*b->items)) < 0)
		return NULL;
	b->items[b->count] = (struct proc_seen){.pid = pid};
	return &b->items[b->count++];
}

int
proc_look_add(struct proc_seen *s, uint64_t device, uint64_t inode)
{
	int err;

	if (s->count > 0 && s->files[s->count - 1].inode == inode &&
	    s->files[s->count - 1].device == device)
		return 0; /* a further piece of the same file */
	if (s->count == PROC_LOOK_FILES)
		return -E2BIG;
	err = room_make(&s->files, &s->room, s->count, sizeof(*s->files));
	if (err == 0)
		s->files[s->count++] = (struct proc_file){device, inode};
	return err;
}

bool
proc_look_has(const struct proc_seen *s, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->files[i].inode == inode && s->files[i].device == device)
			return true;
	return false;
}
