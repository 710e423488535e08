/* resizing.c - notes of blocks that are being resized, which no live map has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/resizing.h"

#include "collector/segment/mem.h"

/* aligned, so that a reader needs one page of the host for it */
struct resizing_page resizing_first __attribute__((aligned(RESIZING_PAGE_BYTES)));

static uint64_t taken = RESIZING_LENDABLE;

/* The page behind this one, which is made if there is none. NULL: no memory. */
static struct resizing_page *page_after(struct resizing_page *p)
{
	return mem_publish(&p->next, sizeof(*p));
}

struct resizing_note *resizing_note_new(void)
{
	uint64_t i = ADD(&taken, 1);
	struct resizing_page *p = &resizing_first;

	for (; p && i >= RESIZING_NOTES; i -= RESIZING_NOTES)
		p = page_after(p);
	return p ? &p->notes[i] : &resizing_first.notes[0];
}

SEEP_COLD struct resizing_note *resizing_note_lend(void)
{
	for (int i = 1; i < RESIZING_LENDABLE; i++) {
		struct resizing_note *n = &resizing_first.notes[i];
		uint64_t no = 0;

		if (CAS(&n->lent, &no, 1))
			return n;
	}
	return &resizing_first.notes[0];
}
