/* our_ranges.c - which memory of a running process is the collector's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/our_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "reader/foreign.h"
#include "trace/ours.h"

enum { PAGE = FOREIGN_PAGE_BYTES, COPIES = 3 };

/* ---- what is in the table ---- */

/* The table as it was at one moment, or nearly. */
static int
copy_table(struct our_ranges *r, struct foreign *memory,
    const struct seg_header *h, struct ours_entry *to)
{
	uint64_t bytes = h->ours_entries * (uint64_t)OURS_ENTRY_BYTES;
	uint64_t skip = h->ours_table % PAGE;
	struct foreign_range range = {.start = h->ours_table - skip,
	    .pages = (skip + bytes + PAGE - 1) / PAGE};
	struct foreign_batch b;
	int err = foreign_read(memory, &range, 1, &b, &r->why);

	for (size_t i = 0; err == 0 && i < b.count; i++) {
		if (b.pages[i] == FOREIGN_SWAPPED)
			r->is_partial = true;
		else if (b.pages[i] != FOREIGN_READ &&
		    b.pages[i] != FOREIGN_UNTOUCHED)
			err = -EFAULT; /* the collector has no such pages */
	}
	if (err == 0)
		memcpy(to, b.bytes + skip, bytes);
	return err;
}

static bool
is_sane(const struct ours_entry *e)
{
	return e->start < e->end && e->start % PAGE == 0 &&
	    e->end % PAGE == 0 && e->end <= UINT64_C(1) << CPU_ADDRESS_BITS &&
	    (e->kind == OURS_FOREVER || e->kind == OURS_FOR_NOW);
}

/* `all`: COPIES tables, see trace/ours.h. */
static int
add_entries(
    struct our_ranges *r, const struct ours_entry *all, uint32_t entries)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < entries; i++) {
		const struct ours_entry *e = &all[entries + i];
		uint32_t before = all[i].sequence;
		uint32_t after = all[2 * entries + i].sequence;

		if (before != after || before % 2 != 0)
			continue; /* it is being mapped, or unmapped */
		if (e->kind == OURS_NONE)
			continue;
		if (is_sane(e))
			err = r->add(e->start, e->end, r->arg);
		else
			r->is_partial = true;
	}
	return err;
}

static int
read_table(
    struct our_ranges *r, struct foreign *memory, const struct seg_header *h)
{
	size_t entries = h->ours_entries;
	struct ours_entry *all = calloc(COPIES * entries, sizeof(*all));
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; err == 0 && i < COPIES; i++)
		err = copy_table(r, memory, h, all + i * entries);
	if (err == 0)
		err = add_entries(r, all, h->ours_entries);
	free(all);
	return err;
}

/* ---- what is of a file ---- */

struct mapping {
	uint64_t start, end, major, minor, inode;
	bool is_shared;
};

/* A number at *p, which moves behind it and behind one `end`. */
static bool
take_number(const char **p, int base, char end, uint64_t *ret)
{
	char *behind;

	errno = 0;
	*ret = strtoull(*p, &behind, base);
	if (errno != 0 || behind == *p || *behind != end)
		return false;
	*p = behind + 1;
	return true;
}

/* One line of /proc/PID/maps. */
static bool
parse(const char *p, struct mapping *ret)
{
	uint64_t offset;

	if (!take_number(&p, 16, '-', &ret->start) ||
	    !take_number(&p, 16, ' ', &ret->end) || strnlen(p, 5) < 5)
		return false;
	ret->is_shared = p[3] == 's';
	p += 5; /* the rights and a blank */
	return take_number(&p, 16, ' ', &offset) &&
	    take_number(&p, 16, ':', &ret->major) &&
	    take_number(&p, 16, ' ', &ret->minor) &&
	    take_number(&p, 10, ' ', &ret->inode);
}

static const char *
next_line(const char *text, struct mapping *ret)
{
	while (*text) {
		const char *line = text, *end = strchrnul(text, '\n');

		text = *end ? end + 1 : end;
		if (parse(line, ret))
			return text;
	}
	return NULL;
}

/* The file that is shared at this address; inode 0: there is none. */
static struct mapping
file_at(const char *text, uint64_t address)
{
	struct mapping m;

	while (address != 0 && (text = next_line(text, &m)) != NULL)
		if (address >= m.start && address < m.end)
			return m.is_shared ? m : (struct mapping){.inode = 0};
	return (struct mapping){.inode = 0};
}

static bool
is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode != 0 && a->inode == b->inode && a->major == b->major &&
	    a->minor == b->minor;
}

static int
add_files(struct our_ranges *r, const char *maps, const struct seg_header *h)
{
	struct mapping own = file_at(maps, h->own_address);
	struct mapping control = file_at(maps, h->control_address);
	struct mapping m;
	int err = 0;

	while (err == 0 && (maps = next_line(maps, &m)) != NULL)
		if (is_same_file(&m, &own) || is_same_file(&m, &control))
			err = r->add(m.start, m.end, r->arg);
	return err;
}

static int
read_files(struct our_ranges *r, pid_t pid, const struct seg_header *h)
{
	char *maps = NULL;
	size_t len;
	int err = foreign_maps(pid, &maps, &len);

	if (err == 0)
		err = add_files(r, maps, h);
	free(maps);
	return err == -EACCES ? -EPERM : err;
}

int
our_ranges_read(struct our_ranges *r, pid_t pid, const struct seg_header *h)
{
	struct foreign *memory = NULL;
	int err;

	*r = (struct our_ranges){.add = r->add,
	    .arg = r->arg,
	    .is_partial = h->counts[SEG_LOST_RANGES] != 0};
	if (h->ours_table == 0 || h->ours_entries == 0 ||
	    h->ours_entries > OURS_MAX)
		return -ENOTSUP;
	err = foreign_open(pid, NULL, &memory, &r->why);
	if (err == 0)
		err = read_table(r, memory, h);
	if (err == 0)
		err = read_files(r, pid, h);
	if (err == 0 && !foreign_is_same(memory))
		err = -ESRCH;
	foreign_close(memory);
	return err;
}
