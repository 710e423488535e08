/* moving.c - notes of blocks that are being resized, which no live map has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/moving.h"

#include "collector/segment/mem.h"

/* aligned, so that a reader needs one page of the host for it */
struct moving_page moving_first __attribute__((aligned(MOVING_PAGE_BYTES)));

static uint64_t taken = MOVING_LENDABLE;

/* The page behind this one, which is made if there is none. NULL: no memory. */
static struct moving_page *page_after(struct moving_page *p)
{
	return mem_publish(&p->next, sizeof(*p));
}

struct moving_note *moving_note_new(void)
{
	uint64_t i = ADD(&taken, 1);
	struct moving_page *p = &moving_first;

	for (; p && i >= MOVING_NOTES; i -= MOVING_NOTES)
		p = page_after(p);
	return p ? &p->notes[i] : &moving_first.notes[0];
}

SEEP_COLD struct moving_note *moving_note_lend(void)
{
	for (int i = 1; i < MOVING_LENDABLE; i++) {
		struct moving_note *n = &moving_first.notes[i];
		uint64_t no = 0;

		if (CAS(&n->lent, &no, 1))
			return n;
	}
	return &moving_first.notes[0];
}
