/* moving_blocks.c - blocks that a process is resizing right now. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/moving_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu/cpu.h"
#include "kit/data/room.h"

_Static_assert((int)RESIZING_PAGE_BYTES == (int)FOREIGN_PAGE_BYTES,
    "one page of the process is one page of notes");

static int add_notes(struct moving *m, const struct resizing_page *page)
{
	for (size_t i = 0; i < RESIZING_NOTES; i++) {
		if (page->notes[i].count == 0)
			continue; /* never used */
		if (room_make(&m->notes, &m->room, m->count, sizeof(*m->notes)) < 0)
			return -ENOMEM;
		m->notes[m->count++] = page->notes[i];
	}
	return 0;
}

int moving_blocks_read(
    struct foreign *memory, const struct seg_header *h, struct moving *m, struct fault *where)
{
	uint64_t at = h->moving_root;
	int err = 0;

	m->count = 0;
	for (int i = 0; i < MOVING_PAGES_MAX && at && err == 0; i++) {
		const struct foreign_range r = {at, 1};
		struct resizing_page page;
		struct foreign_batch b;

		if (at % RESIZING_PAGE_BYTES || at >> CPU_ADDRESS_BITS)
			break;
		err = foreign_read(memory, &r, 1, &b, where);
		if (err < 0 || b.pages[0] != FOREIGN_READ)
			break;
		memcpy(&page, b.bytes, sizeof(page));
		err = add_notes(m, &page);
		at = page.next;
	}
	return err;
}

void moving_blocks_release(struct moving *m)
{
	free(m->notes);
	*m = (struct moving){0};
}

bool moving_blocks_is_same(const struct moving *a, const struct moving *b)
{
	return a->count == b->count &&
	    (a->count == 0 || memcmp(a->notes, b->notes, a->count * sizeof(*a->notes)) == 0);
}

bool moving_blocks_any(const struct moving *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->notes[i].address)
			return true;
	return false;
}
