/* our_ranges.c - which memory of a running process is the collector's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/blocks/our_ranges.h"

#include "base/cpu/cpu.h"
#include "format/cell.h"
#include "format/seg_ignored.h"
#include "format/seg_own_memory.h"
#include "host/memory/foreign.h"
#include "host/proc/procfs.h"
#include "kit/data/room.h"
#include "segments/blocks/live_map.h"

enum { PAGE = FOREIGN_PAGE_BYTES, COPIES = 3 };

/* ---- the ranges in the table ---- */

/* The table as it was at one moment, or nearly. */
static int copy_table(struct our_ranges *r, struct foreign *memory, const struct seg_header *h,
    struct own_memory_entry *to)
{
	uint64_t bytes = h->ours_entries * (uint64_t)OURS_ENTRY_BYTES;
	uint64_t skip = h->ours_table % PAGE;
	struct foreign_range range = {
	    .start = h->ours_table - skip, .pages = (skip + bytes + PAGE - 1) / PAGE};
	struct foreign_batch b;
	int err = foreign_read(memory, &range, 1, &b, &r->why);

	for (size_t i = 0; err == 0 && i < b.count; i++) {
		if (b.pages[i] == FOREIGN_SWAPPED)
			r->is_partial = true;
		else if (b.pages[i] != FOREIGN_READ && b.pages[i] != FOREIGN_UNTOUCHED)
			err = -EFAULT; /* the collector has no such pages */
	}
	if (err == 0)
		memcpy(to, b.bytes + skip, bytes);
	return err;
}

static bool is_sane(const struct own_memory_entry *e)
{
	return e->start < e->end && e->start % PAGE == 0 && e->end % PAGE == 0 &&
	    e->end <= UINT64_C(1) << CPU_ADDRESS_BITS &&
	    (e->kind == OWN_MEMORY_FOREVER || e->kind == OWN_MEMORY_FOR_NOW);
}

/* `all`: COPIES tables, see format/seg_own_memory.h. */
static int add_entries(struct our_ranges *r, const struct own_memory_entry *all, uint32_t entries)
{
	int err = 0;

	for (uint32_t i = 0; err == 0 && i < entries; i++) {
		const struct own_memory_entry *e = &all[entries + i];
		uint32_t before = all[i].sequence;
		uint32_t after = all[2 * entries + i].sequence;

		if (before != after || before % 2 != 0)
			continue; /* it is just being mapped or unmapped */
		if (e->kind == OWN_MEMORY_NONE)
			continue;
		if (is_sane(e))
			err = r->add(e->start, e->end, r->arg);
		else
			r->is_partial = true;
	}
	return err;
}

static int read_table(struct our_ranges *r, struct foreign *memory, const struct seg_header *h)
{
	size_t entries = h->ours_entries;
	struct own_memory_entry *all = calloc(COPIES * entries, sizeof(*all));
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

static struct file file_at(const struct procfs_mapping *m, uint64_t address)
{
	if (address < m->start || address >= m->end || m->rights[3] != 's')
		return (struct file){0};
	return (struct file){m->device, m->inode};
}

/* What a process shares of files, as one reading of its map has it. */
struct mapped {
	struct mapping {
		uint64_t start, end;
		struct file file;
	} * at;
	size_t count, room;
	struct file own, control;
};

static int read_mapped(pid_t pid, const struct seg_header *h, struct mapped *ret)
{
	struct procfs_mapping m;
	struct procfs_maps maps;
	int err = procfs_maps_open(&maps, pid);

	while (err == 0 && procfs_maps_next_file(&maps, &m)) {
		struct file own = file_at(&m, h->own_address);
		struct file control = file_at(&m, h->control_address);

		err = room_make(&ret->at, &ret->room, ret->count, sizeof(*ret->at));
		if (err < 0)
			break;
		ret->at[ret->count++] = (struct mapping){m.start, m.end, {m.device, m.inode}};
		if (own.inode != 0)
			ret->own = own;
		if (control.inode != 0)
			ret->control = control;
	}
	procfs_maps_close(&maps);
	return err == -EACCES ? -EPERM : err;
}

static bool is_same(const struct file *a, const struct file *b)
{
	return a->inode != 0 && a->inode == b->inode && a->device == b->device;
}

static int read_files(struct our_ranges *r, pid_t pid, const struct seg_header *h)
{
	struct mapped all = {0};
	int err = read_mapped(pid, h, &all);

	for (size_t i = 0; i < all.count && err == 0; i++) {
		const struct mapping *m = &all.at[i];

		if (is_same(&m->file, &all.own) || is_same(&m->file, &all.control))
			err = r->add(m->start, m->end, r->arg);
	}
	free(all.at);
	return err;
}

int our_ranges_read(struct our_ranges *r, pid_t pid, const struct seg_header *h)
{
	struct foreign *memory = r->memory;
	int err;

	*r = (struct our_ranges){.add = r->add,
	    .arg = r->arg,
	    .memory = r->memory,
	    .is_partial = h->counts[SEG_LOST_RANGES] != 0};
	if (h->ours_table == 0 || h->ours_entries == 0 || h->ours_entries > OWN_MEMORY_MAX)
		return -ENOTSUP;
	err = memory ? 0 : foreign_open(pid, NULL, &memory, &r->why);
	if (err == 0)
		err = read_table(r, memory, h);
	if (err == 0)
		err = read_files(r, pid, h);
	if (err == 0 && !foreign_is_same(memory))
		err = -ESRCH;
	if (!r->memory)
		foreign_close(memory);
	return err;
}

/* ---- ignored_blocks: blocks that a running process keeps on purpose ---- */

enum { AT_ONCE = 16384 }; /* entries that one call reads */

struct reading {
	struct foreign *memory;
	const struct births *births; /* NULL: cells have births */
	int (*add)(const struct ignored_block *b, void *arg);
	void *arg;
	struct fault *why;
};

/* Reads bytes at any address; valid until the next call. */
static int read_at(const struct reading *r, uint64_t from, size_t bytes, const uint8_t **ret)
{
	uint64_t skip = from % PAGE;
	struct foreign_range range = {
	    .start = from - skip, .pages = (skip + bytes + PAGE - 1) / PAGE};
	struct foreign_batch b;
	int err = foreign_read(r->memory, &range, 1, &b, r->why);

	for (size_t i = 0; err == 0 && i < b.count; i++)
		if (b.pages[i] != FOREIGN_READ && b.pages[i] != FOREIGN_UNTOUCHED)
			err = b.pages[i] == FOREIGN_SWAPPED ? -ENODATA : -EFAULT;
	if (err == 0)
		*ret = b.bytes + skip;
	return err;
}

static int ignored_blocks_add_entries(const struct reading *r, const uint8_t *bytes, size_t count)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < count; i++) {
		struct ignored_entry e;
		struct ignored_block b;

		memcpy(&e, bytes + i * sizeof(e), sizeof(e));
		b = (struct ignored_block){
		    .address = e.address, .site = cell_site(e.cell), .birth = cell_birth(e.cell)};
		if (r->births)
			b.birth = births_tick(r->births, b.birth);
		if (b.address != 0 && b.site != 0)
			err = r->add(&b, r->arg);
	}
	return err;
}

static int read_level(const struct reading *r, uint64_t level, unsigned bits)
{
	uint64_t count = UINT64_C(1) << bits, words, n;
	const uint8_t *bytes = NULL;
	int err = read_at(r, level, IGNORED_HEAD_BYTES, &bytes);

	if (err < 0 || !bytes)
		return err;
	memcpy(&words, bytes, sizeof(words));
	if (words != bits)
		return -ENOTSUP;
	for (uint64_t i = 0; err == 0 && i < count; i += n) {
		n = count - i < AT_ONCE ? count - i : AT_ONCE;
		err = read_at(r, level + IGNORED_HEAD_BYTES + i * sizeof(struct ignored_entry),
		    n * sizeof(struct ignored_entry), &bytes);
		if (err == 0)
			err = ignored_blocks_add_entries(r, bytes, n);
	}
	return err;
}

static int read_levels(const struct reading *r, uint64_t root)
{
	uint64_t levels[IGNORED_LEVELS];
	const uint8_t *bytes = NULL;
	int err = read_at(r, root, sizeof(levels), &bytes);

	if (err < 0 || !bytes)
		return err;
	memcpy(levels, bytes, sizeof(levels));
	for (unsigned i = 0; err == 0 && i < IGNORED_LEVELS && levels[i]; i++)
		err = read_level(r, levels[i], IGNORED_FIRST_BITS + IGNORED_GROW_BITS * i);
	return err;
}

int ignored_blocks_read(pid_t pid, struct foreign *memory, const struct seg_header *h,
    int (*add)(const struct ignored_block *b, void *arg), void *arg, struct fault *why)
{
	struct reading r = {.memory = memory, .add = add, .arg = arg, .why = why};
	struct births births = {0};
	int err;

	if (h->ignored_root == 0 || h->live_cell_version < 2)
		return -ENOTSUP;
	err = memory ? 0 : foreign_open(pid, NULL, &r.memory, why);
	if (err == 0 && h->live_cell_version == CELL_VERSION_LOG) {
		err = births_read(&births, r.memory, h);
		r.births = &births;
	}
	if (err == 0)
		err = read_levels(&r, h->ignored_root);
	births_release(&births);
	if (err == 0 && !foreign_is_same(r.memory))
		err = -ESRCH;
	if (!memory)
		foreign_close(r.memory);
	return err;
}
