/* memory_group.c - limit, use and OOM kills of memory cgroups. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc/memory_group.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/proc/procfs_group.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"

#define S UINT64_C(1000000000)

enum {
	TEXT_BYTES = 4096,
	LEVELS_MAX = 32,
	LOOK_NS = 5000000,
};
#define LIMITS_NS (10 * S)            /* limits change rarely */
#define KILL_NS   (10 * S)            /* so long a kill waits for its process */
#define NO_LIMIT  (UINT64_C(1) << 60) /* version 1 has no word for it */

struct group {
	struct memory_group shown; /* the first: see the casts below */
	char *path;
	bool is_v2;
	size_t root_bytes; /* of the path: as of procfs_group.h */
	size_t users;
	size_t limit_len;             /* of the path, where the limit is */
	uint64_t limits_ns, kills_ns; /* when they were read */
	uint64_t kills;
	uint64_t unclaimed; /* of them */
};

struct memory_groups {
	struct group **items;
	size_t count, room;
	size_t next; /* to be looked at */
};

static struct group *group_of(struct memory_group *g)
{
	return (struct group *)(void *)g;
}

struct memory_groups *memory_groups_new(void)
{
	return calloc(1, sizeof(struct memory_groups));
}

static void free_group(struct group *g)
{
	free(g->path);
	free(g);
}

void memory_groups_free(struct memory_groups *all)
{
	for (size_t i = 0; all && i < all->count; i++)
		free_group(all->items[i]);
	if (all)
		free(all->items);
	free(all);
}

/* A file of the group, or of one above it. false: it cannot be read. */
static bool read_file(const struct group *g, size_t len, const char *name, char text[TEXT_BYTES])
{
	char path[PROCFS_GROUP_PATH + 64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%.*s/%s", (int)len, g->path, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = read(fd, text, TEXT_BYTES - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* false: no number, as "max" is. */
static bool read_number(const struct group *g, size_t len, const char *name, uint64_t *ret)
{
	char text[TEXT_BYTES];

	if (!read_file(g, len, name, text) || !isdigit((unsigned char)text[0]))
		return false;
	*ret = strtoull(text, NULL, 10);
	return true;
}

static void read_used(struct group *g)
{
	size_t len = g->limit_len ? g->limit_len : strlen(g->path);

	if (!read_number(
	        g, len, g->is_v2 ? "memory.current" : "memory.usage_in_bytes", &g->shown.used))
		g->shown.used = 0;
}

static void read_limits(struct group *g, uint64_t now)
{
	size_t len = strlen(g->path);

	g->limits_ns = now;
	g->shown.limit = 0;
	g->limit_len = 0;
	for (int i = 0; i < LEVELS_MAX && len >= g->root_bytes; i++) {
		uint64_t limit;

		if (read_number(
		        g, len, g->is_v2 ? "memory.max" : "memory.limit_in_bytes", &limit) &&
		    limit < NO_LIMIT && (g->shown.limit == 0 || limit < g->shown.limit)) {
			g->shown.limit = limit;
			g->limit_len = len;
		}
		while (len > 0 && g->path[len - 1] != '/')
			len--;
		len -= len > 0;
	}
}

/* The line "oom_kill N". */
static bool read_kills(const struct group *g, uint64_t *ret)
{
	static const char key[] = "oom_kill ";
	char text[TEXT_BYTES], *at;

	if (!read_file(g, strlen(g->path), g->is_v2 ? "memory.events" : "memory.oom_control", text))
		return false;
	at = strncmp(text, key, sizeof(key) - 1) == 0 ? text : strstr(text, "\noom_kill ");
	if (!at)
		return false;
	*ret = strtoull(strchr(at, ' '), NULL, 10);
	return true;
}

static void look_for_kills(struct group *g, uint64_t now)
{
	uint64_t kills;

	if (!read_kills(g, &kills))
		return;
	if (kills > g->kills) {
		g->unclaimed += kills - g->kills;
		g->kills_ns = now;
	} else if (now - g->kills_ns > KILL_NS) {
		g->unclaimed = 0; /* of processes that are not traced */
	}
	g->kills = kills;
}

struct memory_group *memory_groups_join(struct memory_groups *all, const struct procfs_group *where)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct group *g;

	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->items[i]->path, where->memory) == 0) {
			all->items[i]->users++;
			return &all->items[i]->shown;
		}
	if (room_make(&all->items, &all->room, all->count, sizeof(struct group *)) < 0)
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->path = strdup(where->memory);
	if (!g->path) {
		free(g);
		return NULL;
	}
	g->is_v2 = where->is_v2;
	g->root_bytes = where->root_bytes;
	g->users = 1;
	(void)read_kills(g, &g->kills);
	read_limits(g, now);
	read_used(g);
	all->items[all->count++] = g;
	return &g->shown;
}

void memory_groups_leave(struct memory_groups *all, struct memory_group *shown)
{
	struct group *g = shown ? group_of(shown) : NULL;

	if (!g || --g->users > 0)
		return;
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i] == g) {
			all->items[i] = all->items[--all->count];
			break;
		}
	free_group(g);
}

void memory_groups_look(struct memory_groups *all)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), now = start;

	for (size_t i = 0; i < all->count && now - start < LOOK_NS; i++) {
		struct group *g = all->items[all->next++ % all->count];

		look_for_kills(g, now);
		if (now - g->limits_ns >= LIMITS_NS)
			read_limits(g, now);
		read_used(g);
		now = clock_ns(CLOCK_MONOTONIC);
	}
}

bool memory_groups_claim_kill(struct memory_group *shown)
{
	struct group *g = shown ? group_of(shown) : NULL;

	if (!g)
		return false;
	look_for_kills(g, clock_ns(CLOCK_MONOTONIC));
	if (g->unclaimed == 0)
		return false;
	g->unclaimed--;
	return true;
}

void memory_groups_unclaim_kill(struct memory_group *shown)
{
	if (shown)
		group_of(shown)->unclaimed++;
}
