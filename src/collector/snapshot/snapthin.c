/* snapthin.c - keeps the snapshots of a process within their bounds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/snapshot/snap.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/fmt.h"
#include "base/sys.h"
#include "collector/segment/segment.h"
#include "format/format.h"

/*
 * The place of a snapshot is its number less one. At level L the snapshots at
 * these places are removed: those that are no multiple of 2^L, and the odd
 * multiples of 2^L below `next`, which is one of these multiples. When no odd
 * multiple is left, the level rises.
 *
 * One thread thins at a time. Another one that comes meanwhile leaves its file to
 * that thread: it counts it in `added`, and the thread that thins looks at that
 * count before it ends. A file that was left, or got its name after a newer one,
 * is found by a look at the directory.
 */
enum { LEVEL_SHIFT = 58, LEVEL_MAX = 31 };
#define NEXT_MASK ((UINT64_C(1) << LEVEL_SHIFT) - 1)

static uint32_t most_files;
static uint64_t most_bytes;
static uint32_t added, newest; /* files that have their names; the highest number */
static bool is_thinning;

/* Of the thread that thins. */
static uint64_t grid;        /* level << LEVEL_SHIFT | next */
static uint32_t seen;        /* of `added` */
static uint32_t first, last; /* numbers of the files that it knows */
/* signed, because somebody may move files away at any time */
static int64_t held_files, held_bytes;

void snapthin_start(uint32_t files, uint64_t bytes)
{
	most_files = files;
	most_bytes = bytes;
	grid = 1; /* level 0, place 1 */
	added = newest = seen = first = last = 0;
	held_files = held_bytes = 0;
	is_thinning = false; /* a fork may have come in between */
}

/* May the file stay? */
static bool is_fit(uint32_t number)
{
	uint64_t step = UINT64_C(1) << (grid >> LEVEL_SHIFT), place = number - 1;

	if (number == first || number >= LOAD_ACQUIRE(&newest))
		return true;
	return !(place & (step - 1)) && (!(place & step) || place >= (grid & NEXT_MASK));
}

/* ---- files --------------------------------------------------------------- */

/* A snapshot that this process has written: its size, else a negative errno. */
static int64_t size_if_ours(const struct snapthin *t, const char *name)
{
	uint8_t uuid[16];
	struct stat st;
	bool ours;
	long fd;

	fd = sys_openat(
	    t->file->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	if (sys_call(SYS_fstat, fd, (long)&st, 0, 0) != 0)
		return -EBADF; /* the host has closed it */
	ours = S_ISREG(st.st_mode) &&
	    sys_call(SYS_pread64, fd, (long)uuid, sizeof(uuid),
	        offsetof(struct seg_header, uuid)) == sizeof(uuid) &&
	    memcmp(uuid, t->uuid, sizeof(uuid)) == 0;
	snapfile_let_go(fd, &st);
	return ours ? st.st_size : -ENOENT;
}

static bool remove_file(const struct snapthin *t, const char *name)
{
	if (sys_call(SYS_unlinkat, t->file->dir, (long)name, 0, 0) != 0)
		return false;
	segment_count(SEG_SNAPSHOTS_THINNED, 1);
	return true;
}

/* False: there is no such file of ours. */
static bool drop(const struct snapthin *t, uint32_t number)
{
	char name[SNAPFILE_NAME_BYTES];
	int64_t bytes;

	snapfile_name(name, t->file->pid, number, true);
	bytes = size_if_ours(t, name);
	if (bytes < 0 || !remove_file(t, name))
		return false;
	held_files--;
	held_bytes -= bytes;
	return true;
}

/* As getdents64() gives it. */
struct entry {
	uint64_t inode, offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* The number of the snapshot that has this name; 0: it is none of ours. */
static uint32_t number_in(const struct snapthin *t, const char *name)
{
	char ours[SNAPFILE_NAME_BYTES];
	const char *end = name + fmt_length(name, SNAPFILE_NAME_BYTES);
	size_t begin;
	uint64_t number;

	snapfile_name(ours, t->file->pid, 1, true);
	begin = fmt_length(ours, sizeof(ours)) - sizeof("1" SNAPFILE_END) + 1;
	if ((size_t)(end - name) <= begin)
		return 0;
	fmt_scan_decimal(name + begin, end, &number);
	if (!number || number > UINT32_MAX)
		return 0;
	snapfile_name(ours, t->file->pid, (uint32_t)number, true);
	return fmt_same(ours, name) ? (uint32_t)number : 0;
}

/* Counts the file, or removes it if it may not stay. */
static void look_at_file(const struct snapthin *t, const char *name)
{
	uint32_t number = number_in(t, name);
	int64_t size = number ? size_if_ours(t, name) : -ENOENT;

	if (size < 0)
		return;
	first = !first || number < first ? number : first;
	last = number > last ? number : last;
	if (!is_fit(number) && remove_file(t, name))
		return;
	held_files++;
	held_bytes += size;
}

/* All files that are there: somebody may have moved some away, too. */
static void look_at_all(const struct snapthin *t)
{
	long n, at;

	if (sys_call(SYS_lseek, t->file->dir, 0, 0 /* SEEK_SET */, 0) != 0)
		return;
	held_files = held_bytes = 0;
	while (
	    (n = sys_call(SYS_getdents64, t->file->dir, (long)t->buffer, t->buffer_bytes, 0)) > 0)
		for (at = 0; at < n;) {
			const struct entry *e = (const void *)(t->buffer + at);

			at += e->bytes;
			look_at_file(t, e->name);
		}
}

/* ---- which --------------------------------------------------------------- */

/* The number to remove next; 0: none is left between the first and the newest. */
static uint32_t claim(void)
{
	for (;;) {
		uint64_t level = grid >> LEVEL_SHIFT, next = grid & NEXT_MASK;
		uint64_t step = UINT64_C(1) << level, end = LOAD_ACQUIRE(&newest);

		if (next + 1 < end) {
			grid = level << LEVEL_SHIFT | (next + 2 * step);
			return (uint32_t)next + 1;
		}
		if (2 * step + 1 >= end || level == LEVEL_MAX)
			return 0;
		grid = (level + 1) << LEVEL_SHIFT | 2 * step;
	}
}

/* Removes one file. If the file is missing, looks at all files again, once. */
static bool thin(const struct snapthin *t, bool *looked)
{
	uint32_t number;

	while ((number = claim())) {
		if (number == first)
			continue;
		if (drop(t, number))
			return true;
		if (*looked)
			continue;
		*looked = true;
		look_at_all(t);
		return true;
	}
	return false;
}

static bool is_too_much(void)
{
	return held_files > most_files || (held_bytes > 0 && (uint64_t)held_bytes > most_bytes);
}

/* The next one in order, and no other thread has come meanwhile. */
static void take_in(const struct snapthin *t, uint32_t number, uint64_t bytes)
{
	uint32_t was = last;

	first = first ? first : number;
	last = number;
	held_files++;
	held_bytes += (int64_t)bytes;
	if (was && !is_fit(was))
		drop(t, was);
}

/* False: another thread thins. */
static bool begin_alone(void)
{
	return !__atomic_exchange_n(&is_thinning, true, __ATOMIC_SEQ_CST);
}

static void end_alone(void)
{
	__atomic_store_n(&is_thinning, false, __ATOMIC_SEQ_CST);
}

void snapthin_added(const struct snapthin *t, uint64_t bytes)
{
	uint32_t number = t->file->number, now;
	bool looked = false;

	RAISE(&newest, number);
	__atomic_fetch_add(&added, 1, __ATOMIC_SEQ_CST);
	while ((now = __atomic_load_n(&added, __ATOMIC_SEQ_CST)) != LOAD(&seen) && begin_alone()) {
		if (now == seen + 1 && number > last && number == LOAD(&newest))
			take_in(t, number, bytes);
		else
			look_at_all(t);
		STORE(&seen, now);
		while (is_too_much() && thin(t, &looked))
			continue;
		end_alone();
	}
}

bool snapthin_give(const struct snapthin *t, uint64_t missing)
{
	int64_t bytes = LOAD(&held_bytes);
	bool looked = false, done;

	if (bytes <= 0 || (uint64_t)bytes < missing)
		return false;
	if (!begin_alone())
		return true; /* the other thread makes room */
	done = thin(t, &looked);
	end_alone();
	return done;
}
