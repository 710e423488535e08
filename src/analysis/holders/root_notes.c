/* root_notes.c - which words outside of the heap point to which blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/holders/root_notes.h"

#include "base/cpu/elf_machine.h"
#include "kit/data/room.h"

#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

enum {
	TCB_ALIGN = 16,
	TCBS_MAX = 1 << 16, /* a process can make up any number of them */
};

static int add(struct root_notes *n, uint32_t area, uint64_t word, uint32_t target)
{
	struct root_note *last = n->at && n->count ? &n->at[n->count - 1] : NULL;
	int err;

	if (word > UINT32_MAX)
		word = UINT32_MAX;
	if (last && last->area == area && last->word == word && last->target == target)
		return 0;
	if ((n->count + 1) * sizeof(*n->at) > n->max_bytes)
		return -E2BIG;
	err = room_make(&n->at, &n->room, n->count, sizeof(*n->at));
	if (err == 0 && n->at)
		n->at[n->count++] =
		    (struct root_note){.area = area, .word = (uint32_t)word, .target = target};
	return err;
}

/* A control block of a thread has its own address in itself. */
static int note_tcb(struct root_notes *n, uint64_t at, const uint8_t *bytes, size_t left)
{
	for (int i = 0; i < CPU_TCB_SELF_WORDS; i++) {
		size_t from = (size_t)CPU_TCB_SELF[i] * 8;
		uint64_t word;

		if (from + 8 > left)
			return 0;
		memcpy(&word, bytes + from, sizeof(word));
		if (word != at)
			return 0;
	}
	if (n->tcb_count == TCBS_MAX)
		return 0;
	if (room_make(&n->tcbs, &n->tcb_room, n->tcb_count, sizeof(*n->tcbs)) < 0)
		return -ENOMEM;
	n->tcbs[n->tcb_count++] = at;
	return 0;
}

/* The word at an address of this area, or of none, points to a block, or to none. */
static int note(struct root_notes *n, const struct roots_areas *areas, const struct roots_area *a,
    uint64_t at, uint64_t word, int64_t to)
{
	uint32_t area = a ? (uint32_t)(a - areas->at) : (uint32_t)ROOT_NOTES_ELSEWHERE;
	uint64_t index = a ? (at - a->start) / 8 : 0;

	if (to >= 0)
		return add(n, area, index, (uint32_t)to);
	return grown_miss_root(
	    &n->grown, word, area, index < UINT32_MAX ? (uint32_t)index : UINT32_MAX);
}

int root_notes_scan(struct root_notes *n, const struct heap *h, const struct roots_areas *areas,
    enum heap_part part, uint64_t address, const void *bytes, size_t len)
{
	const struct heap_block *b = heap_blocks(h);
	const struct roots_area *a = NULL;
	size_t count = heap_count(h);
	uint64_t low, span;
	int err = 0;

	if (part == HEAP_BLOCKS || part == HEAP_WEAK_ROOT)
		return 0;
	low = count ? b[0].address : 0;
	span = count ? b[count - 1].address + b[count - 1].size - low : 0;
	for (size_t i = (size_t)(-address & 7); i + 8 <= len && err == 0; i += 8) {
		uint64_t at = address + i, word;
		int64_t to;

		memcpy(&word, (const uint8_t *)bytes + i, sizeof(word));
		if (word == at && at % TCB_ALIGN == 0)
			err = note_tcb(n, at, (const uint8_t *)bytes + i, len - i);
		word &= ADDRESS_MASK;
		if (err < 0)
			continue;
		to = word - low < span ? heap_find(h, word) : -1;
		if (to < 0 && !address_ranges_hold(&n->grown.near, word))
			continue;
		if (!a || at < a->start || at >= a->end)
			a = roots_at(areas, at);
		err = note(n, areas, a, at, word, to);
	}
	return err;
}

int root_notes_word(
    struct root_notes *n, const struct heap *h, enum root_notes_area where, uint64_t word)
{
	int64_t to = heap_find(h, word & ADDRESS_MASK);

	return to < 0 ? 0 : add(n, (uint32_t)where, 0, (uint32_t)to);
}

static int note_found(void *context, uint32_t area, uint32_t word, uint32_t number)
{
	return add(context, area, word, number);
}

int root_notes_finish(struct root_notes *n, struct heap *h)
{
	int err = heap_flush(h);

	if (err == 0)
		err = grown_finish(&n->grown, note_found, n);
	/*
	 * A new block to which no pointer was found came after the words were
	 * read. What it holds of the heap was there, and is not nobody's.
	 */
	for (size_t i = 0; i < n->grown.edge_count && err == 0; i++)
		if (n->grown.edges[i].to < n->grown.first)
			err = add(n, (uint32_t)ROOT_NOTES_NEW, 0, n->grown.edges[i].to);
	return err;
}

void root_notes_release(struct root_notes *n)
{
	grown_release(&n->grown);
	free(n->at);
	free(n->tcbs);
	free(n->threads);
	roots_release(&n->areas);
	*n = (struct root_notes){.max_bytes = n->max_bytes};
}
