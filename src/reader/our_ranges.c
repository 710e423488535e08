/* our_ranges.c - which memory of a running process is the collector's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/our_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "reader/foreign.h"
#include "reader/procfs.h"
#include "trace/ours.h"

enum { PAGE = FOREIGN_PAGE_BYTES, COPIES = 3 };

/* ---- the ranges in the table ---- */

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
			continue; /* it is just being mapped or unmapped */
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

/* ---- mappings of the collector's files ---- */

/* A file that the process shares; inode 0 means none. */
struct file {
	uint64_t device, inode;
};

static struct file
file_at(const struct procfs_mapping *m, uint64_t address)
{
	if (address < m->start || address >= m->end || m->rights[3] != 's')
		return (struct file){0};
	return (struct file){m->device, m->inode};
}

/* The text is read twice, because parsing it cuts it into lines. */
static int
find_files(pid_t pid, const struct seg_header *h, struct file ret[2])
{
	struct procfs_mapping m;
	struct procfs_maps maps;
	int err = procfs_maps_open(&maps, pid);

	while (err == 0 && procfs_maps_next_file(&maps, &m)) {
		struct file own = file_at(&m, h->own_address);
		struct file control = file_at(&m, h->control_address);

		if (own.inode != 0)
			ret[0] = own;
		if (control.inode != 0)
			ret[1] = control;
	}
	procfs_maps_close(&maps);
	return err;
}

static bool
is_one_of(const struct procfs_mapping *m, const struct file files[2])
{
	for (int i = 0; i < 2; i++)
		if (files[i].inode != 0 && files[i].inode == m->inode &&
		    files[i].device == m->device)
			return true;
	return false;
}

static int
read_files(struct our_ranges *r, pid_t pid, const struct seg_header *h)
{
	struct file files[2] = {{0}};
	struct procfs_mapping m;
	struct procfs_maps maps;
	int err = find_files(pid, h, files);

	if (err == 0)
		err = procfs_maps_open(&maps, pid);
	if (err < 0)
		return err == -EACCES ? -EPERM : err;
	while (err == 0 && procfs_maps_next_file(&maps, &m))
		if (is_one_of(&m, files))
			err = r->add(m.start, m.end, r->arg);
	procfs_maps_close(&maps);
	return err;
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
