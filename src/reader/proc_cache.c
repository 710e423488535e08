/* proc_cache.c - what /proc said of processes, kept for a while. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/proc_cache.h"

#include <errno.h>
#include <stdlib.h>

#include "util/room.h"

enum { BUCKETS = 1024 };

/* By pid modulo BUCKETS; unsorted within a bucket. */
struct bucket {
	struct proc_seen *items;
	size_t count, room;
};

struct proc_cache {
	struct bucket buckets[BUCKETS];
};

struct proc_cache *
proc_cache_new(void)
{
	return calloc(1, sizeof(struct proc_cache));
}

void
proc_cache_free(struct proc_cache *cache)
{
	for (size_t i = 0; cache && i < BUCKETS; i++) {
		struct bucket *b = &cache->buckets[i];

		for (size_t k = 0; k < b->count; k++)
			free(b->items[k].files);
		free(b->items);
	}
	free(cache);
}

struct proc_seen *
proc_cache_find(struct proc_cache *cache, pid_t pid)
{
	struct bucket *b = &cache->buckets[(size_t)pid % BUCKETS];

	for (size_t i = 0; i < b->count; i++)
		if (b->items[i].pid == pid)
			return &b->items[i];
	if (room_make(&b->items, &b->room, b->count, sizeof(*b->items)) < 0)
		return NULL;
	b->items[b->count] = (struct proc_seen){.pid = pid};
	return &b->items[b->count++];
}

int
proc_cache_add(struct proc_seen *s, uint64_t device, uint64_t inode)
{
	int err;

	if (s->count > 0 && s->files[s->count - 1].inode == inode &&
	    s->files[s->count - 1].device == device)
		return 0; /* another mapping of the same file */
	if (s->count == PROC_CACHE_FILES)
		return -E2BIG;
	err = room_make(&s->files, &s->room, s->count, sizeof(*s->files));
	if (err == 0)
		s->files[s->count++] = (struct proc_file){device, inode};
	return err;
}

bool
proc_cache_has(const struct proc_seen *s, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->files[i].inode == inode && s->files[i].device == device)
			return true;
	return false;
}
