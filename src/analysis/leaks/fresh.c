/* fresh.c - blocks that a process has got while it was looked at. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/judge.h"

#include "segments/blocks/live_map.h"
#include "kit/data/sorted.h"

struct list {
	struct heap *heap;
	const struct heap_block *blocks;
	size_t count, next;
	size_t left; /* so many more may be added */
	struct ranges *ret;
	struct grown *grown; /* or NULL */
	int err;
};

/* The first block of the heap at or behind an address. */
static size_t first_at(const struct list *l, uint64_t address)
{
	return sorted_first(l->blocks, l->count, x, x->address < address);
}

static bool is_known(const struct live_map_block *b, const struct heap_block *known)
{
	return known->address == b->address && known->site == b->site &&
	    known->size == (b->size_known ? b->size : 0) && known->birth == b->birth;
}

/* Nearly all come in the order of their addresses. */
static bool add_fresh(const struct live_map_block *b, void *arg)
{
	enum { NEAR = 4 };
	struct list *l = arg;
	size_t i = l->next;

	if (i > 0 && l->blocks[i - 1].address >= b->address)
		i = first_at(l, b->address);
	for (int k = 0; i < l->count && l->blocks[i].address < b->address; k++)
		i = k < NEAR ? i + 1 : first_at(l, b->address);
	l->next = i;
	if (i < l->count && is_known(b, &l->blocks[i]))
		return true;
	if (!b->size_known || b->size == 0 || b->size > UINT64_MAX - b->address)
		return true;
	if (l->grown) {
		int is_new = grown_add(l->grown, l->heap, b->address, b->size, b->site);

		l->err = is_new < 0 ? is_new : 0;
		if (is_new <= 0)
			return l->err == 0;
	}
	if (l->left == 0)
		l->err = -E2BIG;
	else
		l->err = address_ranges_add(l->ret, b->address, b->address + b->size);
	if (l->err == 0)
		l->err = heap_note_other(l->heap, b->address);
	l->left--;
	return l->err == 0;
}

int fresh_ranges(pid_t pid, struct foreign *memory, const struct seg_header *header,
    struct heap *heap, uint64_t budget_ns, size_t most, struct ranges *ret, struct grown *grown,
    struct fault *where)
{
	struct list list = {.heap = heap,
	    .blocks = heap_blocks(heap),
	    .count = heap_count(heap),
	    .left = most,
	    .ret = ret,
	    .grown = grown};
	struct live_map m = {.each = add_fresh, .arg = &list, .memory = memory, .is_list = true};
	int err = live_map_read(&m, pid, header, budget_ns);

	if (list.err < 0)
		err = list.err;
	if (err < 0 && m.why.text[0])
		(void)fault_set(where, err, "%s", m.why.text);
	live_map_release(&m);
	address_ranges_settle(ret);
	if (grown)
		grown_settle(grown);
	return err;
}
