/* births.c - births of blocks in a process with an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/blocks/live_map.h"

enum { PAGE = FOREIGN_PAGE_BYTES };

/* Copies `bytes` at any address; pages that were never touched are zero. */
static int copy(struct foreign *memory, uint64_t from, void *to, size_t bytes)
{
	size_t skip = from % PAGE;
	struct foreign_range r = {.start = from - skip, .pages = (skip + bytes + PAGE - 1) / PAGE};
	struct foreign_batch b;
	int err = foreign_read(memory, &r, 1, &b, NULL);

	for (size_t i = 0; err == 0 && i < b.count; i++)
		if (b.pages[i] != FOREIGN_READ && b.pages[i] != FOREIGN_UNTOUCHED)
			err = b.pages[i] == FOREIGN_SWAPPED ? -ENODATA : -EFAULT;
	if (err == 0)
		memcpy(to, b.bytes + skip, bytes);
	return err;
}

static void find_newest(struct births *b, uint32_t leaf)
{
	for (uint32_t i = 0; i < LOG_BIRTH_ENTRIES; i++) {
		const struct log_birth *e = &b->leaves[leaf][i];

		if (e->first == 0 && e->at[0] == 0)
			continue;
		b->newest = leaf << LOG_BIRTH_BITS | i;
		b->newest_tick = log_birth_tick(e, LOG_INDEX_MASK);
	}
}

int births_read(struct births *b, struct foreign *memory, const struct seg_header *h)
{
	const size_t bytes = sizeof(struct log_birth) * LOG_BIRTH_ENTRIES;
	uint64_t at[LOG_BIRTH_LEAVES];
	int err;

	memset(b, 0, sizeof(*b));
	if (h->log_births == 0)
		return -ENOTSUP;
	err = copy(memory, h->log_births, at, sizeof(at));
	for (uint32_t i = 0; err == 0 && i < LOG_BIRTH_LEAVES; i++) {
		if (at[i] == 0)
			continue;
		b->leaves[i] = calloc(1, bytes);
		if (!b->leaves[i])
			return -ENOMEM;
		err = copy(memory, at[i], b->leaves[i], bytes);
		if (err == 0)
			find_newest(b, i);
	}
	return err;
}

uint32_t births_tick(const struct births *b, uint32_t name)
{
	uint32_t number = name >> LOG_INDEX_BITS & ((1u << LOG_NUMBER_BITS) - 1);
	const struct log_birth *leaf = b->leaves[number >> LOG_BIRTH_BITS];

	if (!leaf || number > b->newest)
		return b->newest_tick;
	return log_birth_tick(&leaf[number & (LOG_BIRTH_ENTRIES - 1)], name);
}

void births_release(struct births *b)
{
	for (size_t i = 0; i < LOG_BIRTH_LEAVES; i++)
		free(b->leaves[i]);
	memset(b, 0, sizeof(*b));
}
