/* proc_cache.c - what /proc said of processes, kept for a while. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/find/proc.h"

#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum { BUCKETS = 1024 };

/* By pid modulo BUCKETS; unsorted within a bucket. */
struct bucket {
	struct proc_seen *items;
	size_t count, room;
};

/* Who maps a file; file 0, 0: it is not known what the process maps. */
struct user {
	uint64_t device, inode;
	pid_t pid;
};

struct proc_cache {
	struct bucket buckets[BUCKETS];
	struct user *users; /* in order */
	size_t user_count, user_room;
	struct proc_cache_state state;
};

struct proc_cache *proc_cache_new(void)
{
	return calloc(1, sizeof(struct proc_cache));
}

void proc_cache_clear(struct proc_cache *cache)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		struct bucket *b = &cache->buckets[i];

		for (size_t k = 0; k < b->count; k++)
			free(b->items[k].files);
		b->count = 0;
	}
	cache->user_count = 0;
	cache->state.is_full = false;
}

void proc_cache_free(struct proc_cache *cache)
{
	if (!cache)
		return;
	proc_cache_clear(cache);
	for (size_t i = 0; i < BUCKETS; i++)
		free(cache->buckets[i].items);
	free(cache->users);
	free(cache);
}

struct proc_cache_state *proc_cache_state(struct proc_cache *cache)
{
	return &cache->state;
}

void proc_cache_until(struct proc_cache *cache, uint64_t until_ns)
{
	cache->state.until_ns = until_ns;
}

void proc_cache_forget(struct proc_seen *s)
{
	free(s->files);
	*s = (struct proc_seen){.pid = s->pid};
}

BY(by_file, struct user, UP(device) ?: UP(inode) ?: UP(pid))

static int add_user(struct proc_cache *cache, uint64_t device, uint64_t inode, pid_t pid)
{
	int err =
	    room_make(&cache->users, &cache->user_room, cache->user_count, sizeof(*cache->users));

	if (err == 0)
		cache->users[cache->user_count++] = (struct user){device, inode, pid};
	return err;
}

static int add_users(struct proc_cache *cache, const struct proc_seen *s)
{
	int err = 0;

	if (!s->is_read)
		return 0;
	for (size_t i = 0; i < s->count && err == 0; i++)
		err = add_user(cache, s->files[i].device, s->files[i].inode, s->pid);
	if (err == 0 && s->err < 0 && s->err != -ESRCH)
		err = add_user(cache, 0, 0, s->pid);
	return err;
}

int proc_cache_finish(struct proc_cache *cache, uint64_t begin_ns, bool is_partial)
{
	int err = 0;

	cache->user_count = 0;
	for (size_t i = 0; i < BUCKETS; i++)
		for (size_t k = 0; k < cache->buckets[i].count && err == 0; k++)
			err = add_users(cache, &cache->buckets[i].items[k]);
	if (err < 0)
		return err;
	if (cache->user_count > 0)
		qsort(cache->users, cache->user_count, sizeof(*cache->users), by_file);
	cache->state.is_full = true;
	cache->state.is_partial = is_partial;
	cache->state.begin_ns = begin_ns;
	cache->state.times++;
	return 0;
}

/* The first entry that is not before this file. */
static size_t find_users(const struct proc_cache *cache, uint64_t device, uint64_t inode)
{
	const struct user key = {.device = device, .inode = inode};
	size_t at = 0, end = cache->user_count;

	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (by_file(&cache->users[middle], &key) < 0)
			at = middle + 1;
		else
			end = middle;
	}
	return at;
}

static bool each_of(const struct proc_cache *cache, uint64_t device, uint64_t inode,
    bool (*each)(pid_t pid, void *context), void *context)
{
	for (size_t i = find_users(cache, device, inode); i < cache->user_count &&
	     cache->users[i].device == device && cache->users[i].inode == inode;
	     i++)
		if (each(cache->users[i].pid, context))
			return true;
	return false;
}

bool proc_cache_each(const struct proc_cache *cache, uint64_t device, uint64_t inode,
    bool (*each)(pid_t pid, void *context), void *context)
{
	return each_of(cache, device, inode, each, context) || each_of(cache, 0, 0, each, context);
}

void proc_cache_each_file(const struct proc_cache *cache,
    void (*each)(void *context, uint64_t device, uint64_t inode, pid_t pid), void *context)
{
	for (size_t i = 0; i < cache->user_count; i++)
		if (cache->users[i].inode != 0)
			each(context, cache->users[i].device, cache->users[i].inode,
			    cache->users[i].pid);
}

struct proc_seen *proc_cache_find(struct proc_cache *cache, pid_t pid)
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

int proc_cache_add(struct proc_seen *s, uint64_t device, uint64_t inode)
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

bool proc_cache_has(const struct proc_seen *s, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->files[i].inode == inode && s->files[i].device == device)
			return true;
	return false;
}
