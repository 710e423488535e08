/* smaps.c - /proc/PID/smaps: the mappings of a process and what is resident. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc/roots.h"

#include "host/proc/procfs.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum {
	AREAS_MAX = 1 << 20, /* 16 times as many as a process may have */
	GUARD_MAX = 1 << 20, /* bytes; a larger hole is a reserve */
	KIB = 1024,
};

/* A heap of glibc's other arenas begins at such an address. */
#define ARENA_BYTES (UINT64_C(64) << 20)
#define ADDRESS_END (UINT64_C(1) << 47)

/* What else is needed of a mapping while all are parsed. */
struct more {
	uint64_t device, inode;
	bool can_execute, has_rights, is_shared;
};

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* "libseep.so", "libseep-cxx.so", ... in any directory, even if removed. */
static bool is_collector(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && begins_with(slash, "/libseep") && (slash[8] == '.' || slash[8] == '-') &&
	    strstr(slash, ".so");
}

static bool is_shared_memory(const char *path)
{
	return begins_with(path, "/dev/shm/") || begins_with(path, "/memfd:") ||
	    begins_with(path, "/SYSV") || begins_with(path, "/dev/zero") ||
	    begins_with(path, "[anon_shmem") || path[0] == '\0';
}

static enum smaps_kind kind_of(const struct smaps_area *a, const struct more *m)
{
	const char *name = a->name;

	if (begins_with(name, "[heap]"))
		return SMAPS_HEAP;
	/* libc may name the stacks of threads, and so may a program */
	if (begins_with(name, "[stack") || (begins_with(name, "[anon:") && strstr(name, "stack")))
		return SMAPS_STACK;
	if (begins_with(name, "[v")) /* vvar, vdso, vsyscall */
		return SMAPS_MODULE;
	if (is_collector(name))
		return SMAPS_COLLECTOR;
	if (m->is_shared)
		return is_shared_memory(name) ? SMAPS_SHARED : SMAPS_FILE;
	return m->inode ? SMAPS_FILE : SMAPS_ANONYMOUS;
}

BY(by_file, struct more, UP(device) ?: UP(inode))

/* Data and constants of a file belong to the code of the same file. */
static int find_modules(struct smaps *s, const struct more *more)
{
	struct more *code = malloc((s->count + 1) * sizeof(*code));
	size_t n = 0;

	if (!code)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++)
		if (more[i].inode && more[i].can_execute && !more[i].is_shared)
			code[n++] = more[i];
	qsort(code, n, sizeof(*code), by_file);
	for (size_t i = 0; i < s->count; i++)
		if (s->at[i].kind == SMAPS_FILE && !more[i].is_shared &&
		    bsearch(&more[i], code, n, sizeof(*code), by_file))
			s->at[i].kind = SMAPS_MODULE;
	free(code);
	return 0;
}

/*
 * The stack of a thread lies above pages without any right. So may a heap of
 * glibc, above the reserve of another one, but those begin at a multiple of
 * ARENA_BYTES.
 */
static void find_stacks(struct smaps *s, const struct more *more)
{
	for (size_t i = 1; i < s->count; i++) {
		struct smaps_area *a = &s->at[i];
		const struct smaps_area *below = &s->at[i - 1];

		if (a->kind == SMAPS_ANONYMOUS && a->name[0] == '\0' && more[i].has_rights &&
		    !more[i].can_execute && a->start % ARENA_BYTES != 0 &&
		    below->kind == SMAPS_ANONYMOUS && below->end == a->start &&
		    !more[i - 1].has_rights && below->end - below->start <= GUARD_MAX)
			a->kind = SMAPS_STACK;
	}
}

/* "Rss:    12 kB" */
static bool take_field(const char *line, const char *name, uint64_t *ret)
{
	size_t n = strlen(name);
	uint64_t value;

	if (strncmp(line, name, n) != 0 || line[n] != ':')
		return false;
	value = strtoull(line + n + 1, NULL, 10);
	if (value > ADDRESS_END / KIB)
		value = ADDRESS_END / KIB;
	*ret = capped_sum(*ret, value * KIB);
	return true;
}

static bool is_sound(const struct procfs_mapping *m, const struct smaps *before)
{
	return m->end <= ADDRESS_END && m->start % 4096 == 0 && m->end % 4096 == 0 &&
	    (before->count == 0 || before->at[before->count - 1].end <= m->start);
}

static int add(struct smaps *s, struct more **more, size_t *room, const struct procfs_mapping *m)
{
	struct more x = {.device = m->device,
	    .inode = m->inode,
	    .can_execute = m->rights[2] == 'x',
	    .has_rights = memcmp(m->rights, "---", 3) != 0,
	    .is_shared = m->rights[3] == 's'};
	int err = room_make(&s->at, &s->room, s->count, sizeof(*s->at));

	if (err == 0)
		err = room_make(more, room, s->count, sizeof(x));
	if (err < 0)
		return err;
	s->at[s->count] = (struct smaps_area){.start = m->start, .end = m->end, .name = m->path};
	s->at[s->count].kind = kind_of(&s->at[s->count], &x);
	(*more)[s->count++] = x;
	return 0;
}

int smaps_parse(char *text, struct smaps *ret)
{
	struct more *more = NULL;
	size_t room = 0;
	bool is_inside = false; /* fields belong to the last mapping */
	int err = 0;

	*ret = (struct smaps){0};
	for (char *line = text, *next; *line && err == 0; line = next) {
		struct smaps_area *a = ret->count ? &ret->at[ret->count - 1] : NULL;
		size_t len = strcspn(line, "\n");
		struct procfs_mapping m;

		next = line + len + (line[len] == '\n');
		line[len] = '\0';
		if (procfs_parse_mapping(line, &m)) {
			is_inside = is_sound(&m, ret) && ret->count < AREAS_MAX;
			if (is_inside)
				err = add(ret, &more, &room, &m);
		} else if (a && is_inside && !take_field(line, "Rss", &a->rss) &&
		    !take_field(line, "Swap", &a->swap)) {
			(void)take_field(line, "AnonHugePages", &a->huge);
		}
	}
	/* a mapping has no more pages than its size */
	for (size_t i = 0; i < ret->count; i++) {
		struct smaps_area *a = &ret->at[i];

		if (a->rss > a->end - a->start)
			a->rss = a->end - a->start;
		if (a->huge > a->rss)
			a->huge = a->rss;
	}
	if (err == 0 && more)
		err = find_modules(ret, more);
	if (err == 0 && more)
		find_stacks(ret, more);
	free(more);
	if (err < 0)
		smaps_release(ret);
	return err;
}

void smaps_release(struct smaps *s)
{
	free(s->at);
	*s = (struct smaps){0};
}

const struct smaps_area *smaps_at(const struct smaps *s, uint64_t address)
{
	size_t low = sorted_first(s->at, s->count, x, x->end <= address);

	return low < s->count && s->at[low].start <= address ? &s->at[low] : NULL;
}

bool smaps_rollup(const char *text, struct smaps_sums *ret)
{
	bool found = false;

	*ret = (struct smaps_sums){0};
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n");

		found |= take_field(p, "Rss", &ret->rss);
		if (!take_field(p, "Swap", &ret->swap) &&
		    !take_field(p, "Private_Hugetlb", &ret->hugetlb))
			(void)take_field(p, "Shared_Hugetlb", &ret->hugetlb);
		p += len + (p[len] == '\n');
	}
	return found;
}
