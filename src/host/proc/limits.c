/* limits.c - the limits of the memory of a running process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc/procfs_group.h"

#include <sys/resource.h>

enum { TEXT_BYTES = 8192, LEVELS_MAX = 32 };
#define NO_LIMIT (UINT64_C(1) << 60) /* version 1 has no word for it */

struct list {
	struct aging_limit *items;
	size_t count;
};

static uint64_t room_of(const struct aging_limit *x)
{
	return x->limit > x->used ? x->limit - x->used : 0;
}

/* The one with the least room of its kind stays. */
static void add(struct list *l, uint32_t kind, uint64_t limit, uint64_t used)
{
	const struct aging_limit x = {.kind = kind, .limit = limit, .used = used};

	for (size_t i = 0; i < l->count; i++) {
		if (l->items[i].kind != kind)
			continue;
		if (room_of(&x) < room_of(&l->items[i]))
			l->items[i] = x;
		return;
	}
	if (l->count < AGING_LIMITS)
		l->items[l->count++] = x;
}

static bool read_text(const char *path, char text[TEXT_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, TEXT_BYTES - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The number after a word at the beginning of a line; 0: none. */
static uint64_t number_after(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, word, len) == 0)
			return strtoull(line + len, NULL, 10);
	}
	return 0;
}

/* ---- memory cgroups ---- */

struct level {
	const char *path;
	size_t len;
	bool is_v2;
};

static bool level_text(const struct level *x, const char *name, char text[TEXT_BYTES])
{
	char path[PROCFS_GROUP_PATH + 64];

	(void)snprintf(path, sizeof(path), "%.*s/%s", (int)x->len, x->path, name);
	return read_text(path, text);
}

/* false: no number, as "max" is. */
static bool level_number(const struct level *x, const char *name, uint64_t *ret)
{
	char text[TEXT_BYTES];

	if (!level_text(x, name, text) || !isdigit((unsigned char)text[0]))
		return false;
	*ret = strtoull(text, NULL, 10);
	return *ret < NO_LIMIT;
}

static void add_level(struct list *l, const struct level *x)
{
	char text[TEXT_BYTES];
	uint64_t used, limit, dropped = 0;

	if (!level_number(x, x->is_v2 ? "memory.current" : "memory.usage_in_bytes", &used))
		return;
	if (level_text(x, "memory.stat", text))
		dropped = number_after(text, x->is_v2 ? "inactive_file " : "total_inactive_file ");
	used = used > dropped ? used - dropped : 0;
	if (level_number(x, x->is_v2 ? "memory.max" : "memory.limit_in_bytes", &limit))
		add(l, AGING_LIMIT_GROUP, limit, used);
	if (x->is_v2 && level_number(x, "memory.high", &limit))
		add(l, AGING_LIMIT_GROUP_HIGH, limit, used);
}

/* Of version 1, a group may not count what the groups below it use. */
static bool counts_below(const struct level *x)
{
	uint64_t yes;

	return x->is_v2 || !level_number(x, "memory.use_hierarchy", &yes) || yes > 0;
}

static void add_groups(struct list *l, const struct procfs_group *g)
{
	struct level x = {.path = g->memory, .len = strlen(g->memory), .is_v2 = g->is_v2};

	for (int i = 0; i < LEVELS_MAX && x.len > 0 && x.len >= g->root_bytes; i++) {
		if (i == 0 || counts_below(&x))
			add_level(l, &x);
		while (x.len > 0 && g->memory[x.len - 1] != '/')
			x.len--;
		if (x.len == 0)
			break;
		x.len--;
	}
}

size_t limits_of_group(const struct procfs_group *g, struct aging_limit ret[AGING_LIMITS])
{
	struct list l = {.items = ret};

	add_groups(&l, g);
	return l.count;
}

/* ---- the process and the machine ---- */

static void add_process(struct list *l, pid_t pid)
{
	char path[64], text[TEXT_BYTES];
	struct rlimit r;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!read_text(path, text))
		return;
	if (prlimit(pid, RLIMIT_AS, NULL, &r) == 0 && r.rlim_cur < NO_LIMIT)
		add(l, AGING_LIMIT_SPACE, r.rlim_cur, number_after(text, "VmSize:") << 10);
	if (prlimit(pid, RLIMIT_DATA, NULL, &r) == 0 && r.rlim_cur < NO_LIMIT)
		add(l, AGING_LIMIT_DATA, r.rlim_cur, number_after(text, "VmData:") << 10);
}

static void add_machine(struct list *l)
{
	char text[TEXT_BYTES];
	uint64_t all, free_kib;

	if (!read_text("/proc/meminfo", text))
		return;
	all = number_after(text, "MemTotal:");
	free_kib = number_after(text, "MemAvailable:");
	if (all > 0 && all < NO_LIMIT >> 10 && free_kib <= all)
		add(l, AGING_LIMIT_MACHINE, all << 10, (all - free_kib) << 10);
}

size_t limits_read(pid_t pid, struct aging_limit ret[AGING_LIMITS])
{
	struct list l = {.items = ret};
	struct procfs_group g;

	if (procfs_group_of(pid, &g) == 0)
		add_groups(&l, &g);
	add_process(&l, pid);
	add_machine(&l);
	return l.count;
}
