/* snapthin.c - keeps the snapshots of a process within their bounds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/snapshot/snapthin.h"

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
 * A thread that gives a file its name looks at the level afterwards, and a
 * thread that raises the level looks for the file afterwards. So one of the two
 * removes the file. In the same way a thread whose file becomes the first or
 * the newest checks the file that was it before.
 */
enum { LEVEL_SHIFT = 58, LEVEL_MAX = 31 };
#define NEXT_MASK ((UINT64_C(1) << LEVEL_SHIFT) - 1)

static uint32_t most_files;
static uint64_t most_bytes;
static uint64_t grid;          /* level << LEVEL_SHIFT | next */
static uint32_t first, newest; /* numbers of files that have their names */
/* signed, because a file may be subtracted before its writer has added it */
static int64_t held_files, held_bytes;
static uint32_t drops_begun, drops_ended; /* removals of files, so far */

void snapthin_start(uint32_t files, uint64_t bytes)
{
	most_files = files;
	most_bytes = bytes;
	grid = 1; /* level 0, place 1 */
	first = newest = 0;
	held_files = held_bytes = 0;
	drops_begun = drops_ended = 0; /* a fork may have come in between */
}

static bool is_on_grid(uint32_t number)
{
	uint64_t g = LOAD_ACQUIRE(&grid);
	uint64_t step = UINT64_C(1) << (g >> LEVEL_SHIFT);
	uint64_t place = number - 1;

	if (place & (step - 1))
		return false;
	return !(place & step) || place >= (g & NEXT_MASK);
}

static bool is_end(uint32_t number)
{
	return number == LOAD_ACQUIRE(&first) || number == LOAD_ACQUIRE(&newest);
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

/* False: there is no such file of ours. */
static bool drop(const struct snapthin *t, uint32_t number)
{
	char name[SNAPFILE_NAME_BYTES];
	int64_t bytes;
	bool done;

	snapfile_name(name, t->file->pid, number, true);
	bytes = size_if_ours(t, name);
	if (bytes < 0)
		return false;
	__atomic_fetch_add(&drops_begun, 1, __ATOMIC_SEQ_CST);
	/* if several threads try, one succeeds and subtracts the file */
	done = sys_call(SYS_unlinkat, t->file->dir, (long)name, 0, 0) == 0;
	if (done) {
		ADD(&held_files, -1);
		ADD(&held_bytes, -bytes);
		segment_count(SEG_SNAPSHOTS_THINNED, 1);
	}
	__atomic_fetch_add(&drops_ended, 1, __ATOMIC_SEQ_CST);
	return done;
}

/* As getdents64() gives it. */
struct entry {
	uint64_t inode, offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* Is this the name of one of our snapshots, with any number? */
static bool is_our_name(const struct snapthin *t, const char *name)
{
	char ours[SNAPFILE_NAME_BYTES];
	const char *end = name + fmt_length(name, SNAPFILE_NAME_BYTES);
	size_t begin;
	uint64_t number;

	snapfile_name(ours, t->file->pid, 1, true);
	begin = fmt_length(ours, sizeof(ours)) - sizeof("1" SNAPFILE_END) + 1;
	if ((size_t)(end - name) <= begin)
		return false;
	fmt_scan_decimal(name + begin, end, &number);
	if (!number || number > UINT32_MAX)
		return false;
	snapfile_name(ours, t->file->pid, (uint32_t)number, true);
	return fmt_same(ours, name);
}

/*
 * Counts the files that are there, because somebody may have moved some away. A
 * file that another thread removes meanwhile could be subtracted twice, so the
 * result is dropped then. A file that another thread is about to add may be
 * counted twice, which keeps one snapshot less until the next count.
 */
static void count_again(const struct snapthin *t)
{
	uint32_t drops = __atomic_load_n(&drops_ended, __ATOMIC_SEQ_CST);
	int64_t bytes_before = LOAD(&held_bytes), bytes = 0;
	int64_t files_before = LOAD(&held_files), files = 0;
	long n, at;

	if (sys_call(SYS_lseek, t->file->dir, 0, 0 /* SEEK_SET */, 0) != 0)
		return;
	while (
	    (n = sys_call(SYS_getdents64, t->file->dir, (long)t->buffer, t->buffer_bytes, 0)) > 0) {
		for (at = 0; at < n;) {
			const struct entry *e = (const void *)(t->buffer + at);
			int64_t size;

			at += e->bytes;
			if (!is_our_name(t, e->name))
				continue;
			size = size_if_ours(t, e->name);
			files += size >= 0;
			bytes += size >= 0 ? size : 0;
		}
	}
	if (n < 0 || __atomic_load_n(&drops_begun, __ATOMIC_SEQ_CST) != drops)
		return;
	ADD(&held_bytes, bytes - bytes_before);
	ADD(&held_files, files - files_before);
}

/* ---- which --------------------------------------------------------------- */

/*
 * The number to remove next; 0 if there is none between the first and the
 * newest.
 */
static uint32_t claim(void)
{
	uint64_t g = LOAD_ACQUIRE(&grid);

	for (;;) {
		uint64_t level = g >> LEVEL_SHIFT, next = g & NEXT_MASK;
		uint64_t step = UINT64_C(1) << level;
		uint64_t last = LOAD_ACQUIRE(&newest), more;

		if (!last)
			return 0;
		last--;
		if (next < last)
			more = level << LEVEL_SHIFT | (next + 2 * step);
		else if (2 * step < last && level < LEVEL_MAX)
			more = (level + 1) << LEVEL_SHIFT | 2 * step;
		else
			return 0;
		if (!CAS(&grid, &g, more))
			continue; /* another thread was faster; g is new */
		if (next < last)
			return (uint32_t)next + 1;
		g = more;
	}
}

/* Removes one file. If the file is missing, counts all files again, once. */
static bool thin(const struct snapthin *t, bool *counted)
{
	uint32_t number;

	while ((number = claim())) {
		if (is_end(number))
			continue;
		if (drop(t, number))
			return true;
		if (*counted)
			continue;
		*counted = true;
		count_again(t);
		return true;
	}
	return false;
}

static bool is_too_much(void)
{
	int64_t files = LOAD(&held_files), bytes = LOAD(&held_bytes);

	return files > most_files || (bytes > 0 && (uint64_t)bytes > most_bytes);
}

/* If this file becomes the first: the number of the former one; otherwise 0. */
static uint32_t take_first(uint32_t number)
{
	uint32_t was = LOAD_ACQUIRE(&first);

	while (!was || number < was) {
		if (CAS(&first, &was, number))
			return was;
	}
	return 0;
}

static uint32_t take_newest(uint32_t number)
{
	uint32_t was = LOAD_ACQUIRE(&newest);

	while (number > was) {
		if (CAS(&newest, &was, number))
			return was;
	}
	return 0;
}

static void judge(const struct snapthin *t, uint32_t number)
{
	if (number && !is_end(number) && !is_on_grid(number))
		drop(t, number);
}

void snapthin_added(const struct snapthin *t, uint64_t bytes)
{
	uint32_t number = t->file->number;
	bool counted = false;

	ADD(&held_files, 1);
	ADD(&held_bytes, (int64_t)bytes);
	judge(t, take_first(number));
	judge(t, take_newest(number));
	judge(t, number);
	while (is_too_much() && thin(t, &counted))
		continue;
}

bool snapthin_give(const struct snapthin *t, uint64_t missing)
{
	int64_t bytes = LOAD(&held_bytes);
	bool counted = false;

	return bytes > 0 && (uint64_t)bytes >= missing && thin(t, &counted);
}
