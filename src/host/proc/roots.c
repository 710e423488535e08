/* roots.c - which memory of a process may hold the pointers of a program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc/roots.h"

#include "host/proc/procfs.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum {
	AREAS_MAX = 1 << 20, /* 16 times as many as a process may have */
	PAGE = 4096,
	RED_ZONE = 128, /* below the stack pointer, and still in use */
};

#define ADDRESS_END (UINT64_C(1) << 47)

/* ---- /proc/PID/maps ------------------------------------------------------- */

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Does the file's name begin with this? */
static bool is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash && begins_with(slash + 1, name);
}

static enum roots_kind kind_of(const struct procfs_mapping *m)
{
	if (begins_with(m->path, "[v")) /* vvar, vdso, vsyscall */
		return ROOTS_KERNEL;
	if (begins_with(m->path, "[heap]"))
		return ROOTS_HEAP;
	if (begins_with(m->path, "[stack]"))
		return ROOTS_STACK;
	if (begins_with(m->path, "anon_inode:[io_uring]"))
		return ROOTS_RING;
	if ((begins_with(m->path, "/dev/") && !begins_with(m->path, "/dev/shm/") &&
	        !begins_with(m->path, "/dev/hugepages/") && !begins_with(m->path, "/dev/zero")) ||
	    begins_with(m->path, "/sys/") || begins_with(m->path, "/proc/"))
		return ROOTS_DEVICE;
	return m->rights[3] == 's' ? ROOTS_SHARED : ROOTS_MEMORY;
}

static bool is_sound(const struct procfs_mapping *m, const struct roots_areas *before)
{
	return m->end <= ADDRESS_END && m->start % PAGE == 0 && m->end % PAGE == 0 &&
	    (before->count == 0 || before->at[before->count - 1].end <= m->start);
}

int roots_parse(char *text, struct roots_areas *ret)
{
	struct procfs_maps maps = {.text = text, .next = text};
	struct procfs_mapping m;

	*ret = (struct roots_areas){0};
	while (ret->count < AREAS_MAX && procfs_maps_next(&maps, &m)) {
		if (!is_sound(&m, ret))
			continue;
		if (room_make(&ret->at, &ret->room, ret->count, sizeof(*ret->at)) < 0) {
			roots_release(ret);
			return -ENOMEM;
		}
		ret->at[ret->count++] = (struct roots_area){.start = m.start,
		    .end = m.end,
		    .kind = kind_of(&m),
		    .can_read = m.rights[0] == 'r',
		    .can_write = m.rights[1] == 'w',
		    .can_execute = m.rights[2] == 'x',
		    .is_libc = m.inode && is_named(m.path, "libc.so.6"),
		    .is_file = m.inode != 0};
	}
	return 0;
}

uint64_t roots_swapped_shared(const char *smaps)
{
	bool is_shared = false;
	uint64_t bytes = 0;

	for (const char *p = smaps; *p;) {
		size_t len = strcspn(p, "\n");
		const char *dash = memchr(p, '-', len);
		const char *space = memchr(p, ' ', len);

		/* "START-END rw-s ..." begins a mapping, "Name:   N kB" follows */
		if (dash && space && dash < space && space[-1] != ':' &&
		    len > (size_t)(space - p) + 4)
			is_shared = space[4] == 's';
		else if (is_shared && begins_with(p, "Swap:"))
			bytes += strtoull(p + 5, NULL, 10) * 1024;
		p += len + (p[len] == '\n');
	}
	return bytes;
}

void roots_release(struct roots_areas *a)
{
	free(a->at);
	*a = (struct roots_areas){0};
}

const struct roots_area *roots_at(const struct roots_areas *a, uint64_t address)
{
	size_t low = sorted_first(a->at, a->count, x, x->end <= address);

	return low < a->count && a->at[low].start <= address ? &a->at[low] : NULL;
}

/* ---- what to scan --------------------------------------------------------- */

/*
 * Is nothing but one stack in this area? That of the first thread is; another
 * one where a guard page lies below it. Coroutines may have theirs side by side
 * in one mapping, and what is below the one is the other then.
 */
static bool is_one_stack(const struct roots_areas *a, size_t i)
{
	const struct roots_area *x = &a->at[i];

	if (x->kind == ROOTS_STACK)
		return true;
	return x->kind == ROOTS_MEMORY && !x->is_file && i > 0 && x[-1].end == x->start &&
	    !x[-1].can_read && !x[-1].can_write;
}

/* Where the part of an area begins that is in use, by the stack pointers. */
static uint64_t begin_of(
    const struct roots_areas *a, size_t i, const uint64_t *pointers, size_t count)
{
	const struct roots_area *x = &a->at[i];
	uint64_t begin = x->start;
	size_t inside = 0;

	for (size_t k = 0; k < count; k++) {
		if (pointers[k] < x->start || pointers[k] >= x->end)
			continue;
		inside++;
		begin = (pointers[k] & ~UINT64_C(7)) - RED_ZONE;
	}
	if (inside != 1 || begin < x->start || !is_one_stack(a, i))
		return x->start;
	return begin;
}

static int add_areas(
    const struct roots_areas *a, const uint64_t *pointers, size_t count, struct roots_plan *all)
{
	int err = 0;

	for (size_t i = 0; i < a->count && err == 0; i++) {
		const struct roots_area *x = &a->at[i];
		uint64_t begin = x->start;

		if (x->kind > ROOTS_STACK)
			continue;
		if (count > 0)
			begin = begin_of(a, i, pointers, count);
		err = address_ranges_add(&all->weak, x->start, begin);
		if (err == 0)
			err = address_ranges_add(
			    x->can_execute ? &all->code : &all->certain, begin, x->end);
	}
	return err;
}

int roots_plan(const struct roots_areas *a, const struct ranges * not, const uint64_t *pointers,
    size_t count, struct roots_plan *ret)
{
	struct roots_plan all = {{0}, {0}, {0}};
	int err = add_areas(a, pointers, count, &all);

	address_ranges_settle(&all.certain);
	address_ranges_settle(&all.code);
	address_ranges_settle(&all.weak);
	if (err == 0)
		err = address_ranges_subtract(&all.certain, not, &ret->certain);
	if (err == 0)
		err = address_ranges_subtract(&all.code, not, &ret->code);
	if (err == 0)
		err = address_ranges_subtract(&all.weak, not, &ret->weak);
	roots_plan_release(&all);
	if (err < 0)
		roots_plan_release(ret);
	return err;
}

void roots_plan_release(struct roots_plan *p)
{
	address_ranges_release(&p->certain);
	address_ranges_release(&p->code);
	address_ranges_release(&p->weak);
}

/* ---- glibc's first arena -------------------------------------------------- */

/*
 * struct malloc_state of glibc 2.27 and later, in words: lock and flags, a flag,
 * 10 lists of small chunks, the top chunk, the last remainder; 127 pairs of
 * list heads, where an empty list points to 16 bytes before its own pair; 2
 * words of bits; the next arena, which is itself where there is one; three more
 * and two sums.
 */
enum {
	ARENA_BINS = 14,
	ARENA_BIN_COUNT = 127,
	ARENA_NEXT = ARENA_BINS + 2 * ARENA_BIN_COUNT + 2,
	ARENA_WORDS = ARENA_NEXT + 5,
	ARENA_EMPTY_LEAST = 16, /* so many empty lists make it certain */
	ARENA_HEAP_BYTES = 64 << 20,
};

static bool is_arena(uint64_t address, const uint64_t *w)
{
	unsigned empty = 0;

	for (unsigned i = 0; i < ARENA_BIN_COUNT; i++) {
		unsigned k = ARENA_BINS + 2 * i;
		uint64_t self = address + (uint64_t)k * 8 - 16;

		if (w[k] == self && w[k + 1] == self)
			empty++;
		else if (w[k] % 16 || w[k + 1] % 16 || !w[k] || !w[k + 1])
			return false;
	}
	/* another arena begins behind the header of its first heap */
	return empty >= ARENA_EMPTY_LEAST &&
	    (w[ARENA_NEXT] == address || (w[ARENA_NEXT] && w[ARENA_NEXT] % ARENA_HEAP_BYTES < 256));
}

bool roots_find_arena(uint64_t address, const void *bytes, size_t len, struct range *ret)
{
	const uint64_t *words = bytes;
	size_t count = len / 8;

	for (size_t i = 0; i + ARENA_WORDS <= count; i += 2) {
		/* a quick look first: some list of the larger chunks is empty */
		uint64_t at = address + i * 8;

		if (words[i + ARENA_NEXT] != at && words[i + ARENA_NEXT] % ARENA_HEAP_BYTES >= 256)
			continue;
		if (!is_arena(at, words + i))
			continue;
		*ret = (struct range){at, at + ARENA_WORDS * sizeof(uint64_t)};
		return true;
	}
	return false;
}
