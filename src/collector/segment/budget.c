/* budget.c - how much memory a segment and our tables may take. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include "collector/segment/config.h"
#include "format/format.h"
#include "format/medium.h"
#include "base/fmt.h"

/* ---- what the memory cgroups of this process have left --------------------- */

enum { LEVELS_MAX = 8, TEXT_BYTES = 8192, KEY_MAX = 64 };

/*
 * Static, because the constructor runs once and should not use the host's
 * stack. The last bytes stay zero, so that a key can be compared at any place
 * before them.
 */
static char text[TEXT_BYTES + KEY_MAX];

/*
 * Reads a file of one level of the hierarchy into `text`. False: there is none.
 */
static bool read_level(const char *root, const char *path, const char *file)
{
	char name[512];
	struct fmt f;

	fmt_init(&f, name, sizeof(name));
	fmt_string(&f, root);
	fmt_string(&f, path);
	fmt_string(&f, file);
	return f.ok && kernel_read_file(name, text, TEXT_BYTES) > 0;
}

/* UINT64_MAX for "max", and if there is no such file. */
static uint64_t read_number(const char *root, const char *path, const char *file)
{
	uint64_t v;

	if (!read_level(root, path, file) || text[0] < '0' || text[0] > '9')
		return UINT64_MAX;
	fmt_scan_decimal(text, text + sizeof(text), &v);
	return v;
}

/* The value in a line "key value" of `text`, 0: no such line. */
static uint64_t value_of(const char *key)
{
	const size_t n = fmt_length(key, KEY_MAX);
	const char *line = text;
	uint64_t v = 0;

	while (*line) {
		if (memcmp(line, key, n) == 0 && line[n] == ' ') {
			fmt_scan_decimal(line + n + 1, text + sizeof(text), &v);
			return v;
		}
		while (*line && *line != '\n')
			line++;
		line += *line == '\n';
	}
	return 0;
}

/* Bytes that count as used, but that the kernel would free at once. */
static uint64_t reclaimable(const char *root, const char *path, bool v2)
{
	if (!read_level(root, path, "/memory.stat"))
		return 0;
	if (v2)
		return value_of("inactive_file") + value_of("active_file") +
		    value_of("slab_reclaimable");
	return value_of("total_inactive_file") + value_of("total_active_file");
}

static uint64_t left_at(const char *path, bool v2)
{
	const char *root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
	uint64_t max = read_number(root, path, v2 ? "/memory.max" : "/memory.limit_in_bytes");
	uint64_t used, gives;

	if (max == UINT64_MAX || max >= UINT64_C(1) << 60)
		return UINT64_MAX;
	used = read_number(root, path, v2 ? "/memory.current" : "/memory.usage_in_bytes");
	if (used == UINT64_MAX)
		return UINT64_MAX;
	gives = reclaimable(root, path, v2);
	used = gives < used ? used - gives : 0;
	return used < max ? max - used : 0;
}

/* Bytes left at this level and those above it. Shortens `path` on the way. */
static uint64_t left_along(char *path, bool v2)
{
	uint64_t left = UINT64_MAX;
	int i;

	for (i = 0; i < LEVELS_MAX; i++) {
		uint64_t here = left_at(path, v2);
		char *slash = NULL;
		char *c;

		left = here < left ? here : left;
		for (c = path; *c; c++) {
			if (*c == '/')
				slash = c;
		}
		if (!slash || !path[0])
			break;
		*slash = 0;
	}
	return left;
}

/*
 * Bytes that may still be used before the tightest limit on the way to the root
 * is reached; UINT64_MAX: no limit. Page cache that the kernel would free
 * counts as unused, because a container that has read files is full of it.
 * /proc/self/cgroup has lines "4:memory:/path" (v1) or "0::/path" (v2).
 */
static uint64_t left_in_groups(void)
{
	char groups[1024];
	uint64_t left = UINT64_MAX;
	char *line = groups;

	if (kernel_read_file("/proc/self/cgroup", groups, sizeof(groups)) <= 0)
		return left;
	while (*line) {
		char *end = line;
		char *c1, *c2;
		bool v2;

		while (*end && *end != '\n')
			end++;
		if (!*end)
			break;
		*end = 0;
		for (c1 = line; *c1 && *c1 != ':'; c1++)
			;
		for (c2 = *c1 ? c1 + 1 : c1; *c2 && *c2 != ':'; c2++)
			;
		v2 = c1[0] == ':' && c2 == c1 + 1;
		if (*c2 && (v2 || (c2 - c1 == 7 && !memcmp(c1, ":memory", 7)))) {
			uint64_t along;

			c2++;
			if (c2[0] == '/' && !c2[1])
				*c2 = 0;
			along = left_along(c2, v2);
			left = along < left ? along : left;
		}
		line = end + 1;
	}
	return left;
}

enum {
	MIB = 1 << 20,
	FIXED_BYTES = 4 * MIB, /* if pages cannot be populated later */
};

/* ---- shares of what is there ----------------------------------------------- */

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A share of a limit on memory; UINT64_MAX if there is none. */
static uint64_t share_of(int limit, uint64_t part)
{
	uint64_t bytes = kernel_limit(limit);

	return bytes == RLIM_INFINITY ? UINT64_MAX : bytes / part;
}

uint64_t budget_of_tables(void)
{
	/* files are address space, too, but no data */
	return min64(share_of(RLIMIT_AS, 8), share_of(RLIMIT_DATA, 4));
}

static uint64_t bounded(uint64_t b, const struct statfs *fs, bool populate)
{
	uint64_t left = left_in_groups();

	/* pages are taken when they are needed, so a small promise is kept */
	if (left != UINT64_MAX)
		b = min64(b,
		    left / MEDIUM_GROUP_SHARE < MEDIUM_GROUP_MIN ? MEDIUM_GROUP_MIN
		                                                 : left / MEDIUM_GROUP_SHARE);
	b = min64(b, (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize / MEDIUM_FREE_SHARE);
	b = min64(b, kernel_limit(RLIMIT_FSIZE) / MEDIUM_FILE_SHARE);
	b = min64(b, share_of(RLIMIT_AS, MEDIUM_SPACE_SHARE));
	if (!populate)
		b = min64(b, FIXED_BYTES);
	return b & ~(uint64_t)(SEG_EXTENT_STEP - 1);
}

uint64_t budget_of_segment(const struct statfs *fs, bool populate)
{
	return bounded(config.budget ? config.budget : MEDIUM_ROOM_MAX, fs, populate);
}

uint64_t budget_of_log(const struct statfs *fs, bool populate)
{
	return bounded(config.log_pool, fs, populate);
}
