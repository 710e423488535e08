/* procfs_group.c - /proc/PID/cgroup: service, container, memory cgroup. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc/procfs_group.h"

#include "kit/data/room.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"

enum {
	TEXT_BYTES = 16384,
	ID_DIGITS = 64, /* of docker, containerd, cri-o, podman */
	ID_LEAST = 32,  /* rkt and older ones have fewer */
};

static void copy(char to[PROCFS_GROUP_NAME], const char *from, size_t len)
{
	if (len >= PROCFS_GROUP_NAME)
		len = PROCFS_GROUP_NAME - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

/* A container's id, and no other text? */
static bool is_id(const char *text, size_t len)
{
	return len >= ID_LEAST && len <= ID_DIGITS && strspn(text, "0123456789abcdef") >= len;
}

/* "docker-ID", "cri-containerd-ID", "crio-ID", "libpod-ID": behind a dash. */
static bool take_id(const char *name, size_t len, struct procfs_group *ret)
{
	size_t at = len;

	while (at > 0 && name[at - 1] != '-' && name[at - 1] != ':')
		at--;
	if (!is_id(name + at, len - at))
		return false;
	copy(ret->container, name + at, PROCFS_GROUP_SHORT);
	return true;
}

enum part { PART_NONE, PART_FOUND, PART_STOP };

/*
 * One directory of a path, innermost first. A scope is a group of processes that
 * others than systemd have started: a container, or a login.
 */
static enum part take_part(const char *name, size_t len, struct procfs_group *ret)
{
	static const char service[] = ".service", scope[] = ".scope", machine[] = "machine-",
	                  lxc[] = "lxc.payload.";
	const size_t service_len = sizeof(service) - 1, scope_len = sizeof(scope) - 1;
	char text[PROCFS_GROUP_NAME];

	copy(text, name, len);
	if (len > service_len && text_ends_with(text, service)) {
		copy(ret->unit, text, strlen(text) - service_len);
		return PART_FOUND;
	}
	if (len > scope_len && text_ends_with(text, scope)) {
		text[strlen(text) - scope_len] = '\0';
		if (take_id(text, strlen(text), ret))
			return PART_FOUND;
		if (!text_begins_with(text, machine))
			return PART_STOP;
		copy(ret->container, text + sizeof(machine) - 1,
		    strlen(text) - (sizeof(machine) - 1));
		return PART_FOUND;
	}
	if (text_begins_with(text, lxc) && text[sizeof(lxc) - 1]) {
		copy(ret->container, text + sizeof(lxc) - 1, strlen(text) - (sizeof(lxc) - 1));
		return PART_FOUND;
	}
	/* "/docker/ID", "/kubepods/burstable/podUID/ID", "...:cri-containerd:ID" */
	return take_id(text, strlen(text), ret) ? PART_FOUND : PART_NONE;
}

/* Has the path an innermost service or container? */
static bool take_path(const char *path, struct procfs_group *ret)
{
	size_t end = strlen(path);

	while (end > 0) {
		size_t at = end;
		enum part part;

		while (at > 0 && path[at - 1] != '/')
			at--;
		part = at < end ? take_part(path + at, end - at, ret) : PART_NONE;
		if (part != PART_NONE)
			return part == PART_FOUND;
		end = at > 0 ? at - 1 : 0;
	}
	return false;
}

/* A path above the root of our cgroup namespace cannot be followed. */
static bool is_in_sight(const char *path)
{
	for (const char *p = strstr(path, "/.."); p; p = strstr(p + 1, "/.."))
		if (p[3] == '/' || p[3] == '\0')
			return false;
	return path[0] == '/';
}

static bool has_controller(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0'))
			return true;
	}
	return false;
}

/*
 * Where the groups of a version are mounted. The mount may begin at a group
 * below the root of the hierarchy, as in a container.
 */
struct mount {
	char root[PROCFS_GROUP_NAME], at[PROCFS_GROUP_NAME];
};

/* "36 35 0:32 ROOT AT OPTIONS - TYPE SOURCE SUPER_OPTIONS" */
static bool parse_mount(char *line, bool is_v2, struct mount *ret)
{
	char *rest = strstr(line, " - "), *fields[6] = {NULL}, *super[3] = {NULL};
	char *save = NULL;

	if (!rest)
		return false;
	*rest = '\0';
	rest += strlen(" - ");
	fields[0] = strtok_r(line, " ", &save);
	for (size_t i = 1; i < 6 && fields[i - 1]; i++)
		fields[i] = strtok_r(NULL, " ", &save);
	super[0] = strtok_r(rest, " \n", &save);
	for (size_t i = 1; i < 3 && super[i - 1]; i++)
		super[i] = strtok_r(NULL, " \n", &save);
	if (!fields[4] || !super[2] || strcmp(super[0], is_v2 ? "cgroup2" : "cgroup") != 0 ||
	    (!is_v2 && !has_controller(super[2], "memory")))
		return false;
	copy(ret->root, fields[3], strlen(fields[3]));
	copy(ret->at, fields[4], strlen(fields[4]));
	return true;
}

static struct mount find_mount(bool is_v2)
{
	struct mount found = {.root = "/"};
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[4096];

	copy(found.at, is_v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory",
	    strlen(is_v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory"));
	while (file && fgets(line, sizeof(line), file))
		if (parse_mount(line, is_v2, &found))
			break;
	if (file)
		(void)fclose(file);
	return found;
}

/* It stays as it is as long as we run. */
static const struct mount *mount_of(bool is_v2)
{
	static struct mount mounts[2];

	if (!mounts[is_v2].at[0])
		mounts[is_v2] = find_mount(is_v2);
	return &mounts[is_v2];
}

static void take_memory(const char *path, bool is_v2, struct procfs_group *ret)
{
	const struct mount *m = mount_of(is_v2);
	size_t root = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root), len;

	if (!is_in_sight(path) || strncmp(path, m->root, root) != 0 ||
	    (path[root] != '/' && path[root] != '\0'))
		return;
	path += root;
	len = (size_t)snprintf(
	    ret->memory, sizeof(ret->memory), "%s%s", m->at, path[0] && path[1] ? path : "");
	if (len >= sizeof(ret->memory))
		ret->memory[0] = '\0';
	ret->root_bytes = strlen(m->at);
	ret->is_v2 = is_v2;
}

/* Lines are "0::/path" (v2), "4:memory:/path" and "1:name=systemd:/path" (v1). */
void procfs_group_parse(char *text, struct procfs_group *ret)
{
	const char *v2 = NULL, *systemd = NULL, *memory = NULL;

	*ret = (struct procfs_group){0};
	for (char *line = text, *next; *line; line = next) {
		char *list, *path;

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		list = strchr(line, ':');
		path = list ? strchr(list + 1, ':') : NULL;
		if (!path)
			continue;
		list++;
		*path++ = '\0';
		if (*list == '\0')
			v2 = path;
		else if (strcmp(list, "name=systemd") == 0)
			systemd = path;
		else if (has_controller(list, "memory"))
			memory = path;
	}
	if (memory)
		take_memory(memory, false, ret);
	else if (v2)
		take_memory(v2, true, ret);
	(void)((v2 && take_path(v2, ret)) || (systemd && take_path(systemd, ret)) ||
	    (memory && take_path(memory, ret)));
}

int procfs_group_of(pid_t pid, struct procfs_group *ret)
{
	char path[64], text[TEXT_BYTES];
	size_t len = 0;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ESRCH;
	do {
		n = read(fd, text + len, sizeof(text) - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && len < sizeof(text) - 1);
	(void)close(fd);
	text[len] = '\0';
	if (len == 0)
		return -ESRCH;
	procfs_group_parse(text, ret);
	return 0;
}

/* ---- memory_group: limit, use and OOM kills of memory cgroups ---- */

#define S UINT64_C(1000000000)

enum {
	MEMORY_GROUP_TEXT_BYTES = 4096,
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
static bool read_file(
    const struct group *g, size_t len, const char *name, char text[MEMORY_GROUP_TEXT_BYTES])
{
	char path[PROCFS_GROUP_PATH + 64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%.*s/%s", (int)len, g->path, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = read(fd, text, MEMORY_GROUP_TEXT_BYTES - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* false: no number, as "max" is. */
static bool read_number(const struct group *g, size_t len, const char *name, uint64_t *ret)
{
	char text[MEMORY_GROUP_TEXT_BYTES];

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
	char text[MEMORY_GROUP_TEXT_BYTES], *at;

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

/* ---- oom: has the OOM killer of the kernel killed processes in our cgroup? ---- */

/* The value of the line "oom_kill N". */
static bool read_count(const char *path, uint64_t *ret)
{
	FILE *f = fopen(path, "re");
	char line[128];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		found = strncmp(line, "oom_kill ", 9) == 0;
		if (found)
			*ret = strtoull(line + 9, NULL, 10);
	}
	if (f)
		(void)fclose(f);
	return found;
}

/* /proc/self/cgroup: "0::/path" (v2) or "4:memory:/path" (v1). */
uint64_t oom_kills(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX], path[PATH_MAX + 64];
	uint64_t count = 0;

	while (f && fgets(line, sizeof(line), f)) {
		char *group = strchr(line, ':');
		char *at = group ? strchr(group + 1, ':') : NULL;

		if (!at)
			continue;
		*at++ = '\0';
		at[strcspn(at, "\n")] = '\0';
		if (strcmp(group, ":memory") == 0)
			snprintf(
			    path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.oom_control", at);
		else if (group[1] == '\0')
			snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.events", at);
		else
			continue;
		if (read_count(path, &count))
			break;
	}
	if (f)
		(void)fclose(f);
	return count;
}
