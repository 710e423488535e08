/* mark.c - moments that the host names: a ring in the segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/snapshot/mark.h"

#include <string.h>

#include "base/attr.h"
#include "base/fmt.h"
#include "collector/segment/tick.h"

struct segment_table mark_table;
static uint64_t given; /* marks ever put */
static uint8_t writing[MARK_RING];

bool mark_init(void)
{
	given = 0;
	memset(writing, 0, sizeof(writing));
	return segment_table_init(
	    &mark_table, SEG_EXT_MARK, 0, sizeof(struct seg_mark), 0, MARK_RING);
}

size_t mark_copy_label(char *to, size_t bytes, const char *label)
{
	size_t n = label ? fmt_length(label, bytes) : 0;
	size_t i;

	if (n == bytes) {
		n--;
		/*
		 * label[n] is cut off, and so are the bytes that it continues
		 */
		while (n && ((unsigned char)label[n] & 0xc0) == 0x80)
			n--;
	}
	for (i = 0; i < n; i++)
		to[i] = label[i];
	memset(to + n, 0, bytes - n);
	return n;
}

void mark_put(enum seg_mark_kind kind, const char *label)
{
	uint64_t n = ADD(&given, 1);
	uint32_t at = (uint32_t)(n % MARK_RING);
	struct seg_mark *row = segment_table_row(&mark_table, at);
	uint32_t after_ns;
	uint8_t idle = 0;

	if (n >= MARK_RING)
		segment_count(SEG_MARKS_LOST, 1);
	/* a thread that is a whole ring behind still writes here */
	if (!row || !CAS(&writing[at], &idle, 1)) {
		segment_count(SEG_MARKS_LOST, 1);
		return;
	}
	__atomic_exchange_n(&row->sequence, 0, __ATOMIC_ACQ_REL);
	row->tick = tick_moment(&after_ns);
	row->after_ns = after_ns;
	row->kind = kind;
	mark_copy_label(row->label, sizeof(row->label), label);
	STORE_RELEASE(&row->sequence, n + 1);
	STORE_RELEASE(&writing[at], 0);
}
