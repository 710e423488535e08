/* ignored_blocks.c - blocks that a running process keeps on purpose. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/blocks/ignored_blocks.h"

#include <errno.h>
#include <string.h>

#include "segments/blocks/births.h"
#include "host/memory/foreign.h"
#include "format/cell.h"
#include "format/seg_ignored.h"

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	AT_ONCE = 16384, /* entries that one call reads */
};

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

static int add_entries(const struct reading *r, const uint8_t *bytes, size_t count)
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
			err = add_entries(r, bytes, n);
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
