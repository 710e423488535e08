/* segment.c - the shared mapping: header, directory, extents, counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment.h"

#include <string.h>

#include "base/cpu.h"
#include "base/sys.h"
#include "collector/mem.h"
#include "collector/tick.h"

/* Counts from before there is a segment; segment_init() moves them into it. */
static struct seg_header nowhere;

struct segment segment = {.header = &nowhere};

enum { AHEAD_MAX = 64 << 10 };

/* Makes [at, at + bytes) writable for good. */
static bool
try_pages(uint8_t *at, uint64_t bytes)
{
	if (segment.anonymous)
		return true;
	if (sys_mprotect(at, bytes, PROT_READ | PROT_WRITE))
		return false;
	/*
	 * A full tmpfs answers here with an error; a plain store would answer
	 * with SIGBUS. Without the call all was preallocated at the start.
	 */
	return !segment.populate ||
	    !sys_madvise(at, bytes, MADV_POPULATE_WRITE);
}

/* False: no memory, counted. */
static bool
open_pages(uint8_t *at, uint64_t bytes)
{
	if (try_pages(at, bytes))
		return true;
	segment_count(SEG_NO_MEMORY, 1);
	return false;
}

/*
 * Two system calls for each extent would be a twentieth of what a program with
 * many stacks pays for us: so an eighth more than is in use is opened along
 * with it, where the medium and the budget have that. Several threads may do
 * this at once; what lies below segment.open has been opened by one of them.
 */
static bool
open_extent(uint64_t at)
{
	uint64_t open = LOAD_ACQUIRE(&segment.open);
	uint64_t end = at + SEG_EXTENT_STEP;
	uint64_t ahead = (at - segment.first) / 8;

	if (end <= open)
		return true;
	ahead = ahead > AHEAD_MAX ? AHEAD_MAX : ahead;
	ahead &= ~(uint64_t)(SEG_EXTENT_STEP - 1);
	if (end + ahead > segment.bytes ||
	    !try_pages(segment.base + open, end + ahead - open))
		return open_pages(segment.base + at, SEG_EXTENT_STEP);
	RAISE(&segment.open, end + ahead);
	return true;
}

bool
segment_init(uint8_t *base, uint64_t bytes, uint64_t largest, bool anonymous,
    bool populate)
{
	uint64_t capacity = largest / SEG_EXTENT_STEP;
	uint64_t dir_bytes = capacity * sizeof(struct seg_extent);
	uint64_t first;
	struct seg_header *h;
	int i;

	dir_bytes = (dir_bytes + CPU_PAGE - 1) & ~(uint64_t)(CPU_PAGE - 1);
	first = SEG_HEADER_BYTES + dir_bytes;
	first =
	    (first + SEG_EXTENT_STEP - 1) & ~(uint64_t)(SEG_EXTENT_STEP - 1);

	segment.header = &nowhere;
	segment.anonymous = anonymous;
	segment.populate = populate;
	if (!open_pages(base, SEG_HEADER_BYTES + CPU_PAGE))
		return false;
	segment.base = base;
	segment.bytes = bytes;
	segment.first = segment.used = segment.open = first;
	segment.dir_offset = SEG_HEADER_BYTES;
	segment.dir_capacity = (uint32_t)capacity;
	segment.dir_used = 0;
	segment.dir_open = CPU_PAGE;

	h = (struct seg_header *)base;
	h->version = SEG_VERSION;
	h->header_bytes = SEG_HEADER_BYTES;
	h->tick_ns = SEG_TICK_NS;
	h->total_bytes = bytes;
	h->used_bytes = first;
	h->dir_offset = SEG_HEADER_BYTES;
	h->dir_capacity = (uint32_t)capacity;
	h->slot_index = UINT32_MAX;
	for (i = 0; i < SEG_COUNTS; i++) {
		h->counts[i] += LOAD(&nowhere.counts[i]);
		STORE(&nowhere.counts[i], 0);
	}
	segment.header = h;
	return true;
}

bool
segment_is_tight(void)
{
	return LOAD(&segment.used) > segment.bytes / 4 * 3;
}

/*
 * Room for one extent of SEG_EXTENT_STEP bytes, zeroed and writable, or NULL
 * (counted). Lock-free; a signal handler may call it. It becomes visible to
 * readers by publish().
 */
static void *
new_extent(void)
{
	static uint32_t refused; /* the tick after that of the last failure */
	uint64_t at, end;

	/*
	 * A medium that was full may have room again. It is asked once in a
	 * tick, or every event would cost two system calls for nothing.
	 */
	if (unlikely(LOAD(&refused) == tick_now() + 1))
		return NULL;
	at = ADD(&segment.used, SEG_EXTENT_STEP);
	end = at + SEG_EXTENT_STEP;
	if (end > segment.bytes) {
		ADD(&segment.used, (uint64_t)-SEG_EXTENT_STEP);
		return NULL;
	}
	if (open_extent(at))
		return segment.base + at;
	/* given back, or failures would use the budget up */
	CAS(&segment.used, &end, at);
	STORE(&refused, tick_now() + 1);
	return NULL;
}

static void
publish(void *extent, enum seg_kind kind, uint32_t owner, uint32_t row_bytes,
    uint64_t first)
{
	uint32_t i = ADD(&segment.dir_used, 1);
	uint64_t end = (uint64_t)(i + 1) * sizeof(struct seg_extent);
	uint64_t open = LOAD(&segment.dir_open);
	uint8_t *dir = segment.base + segment.dir_offset;
	struct seg_extent *e = (struct seg_extent *)dir + i;

	if (i >= segment.dir_capacity)
		return; /* cannot be: there is an entry for every extent */
	if (end > open) {
		uint64_t page = (end - 1) & ~(uint64_t)(CPU_PAGE - 1);

		if (!open_pages(dir + page, CPU_PAGE))
			return;
		STORE(&segment.dir_open, page + CPU_PAGE);
	}
	e->owner = owner;
	e->row_bytes = row_bytes;
	e->count = SEG_EXTENT_STEP / row_bytes;
	e->first = first;
	e->offset = (uint64_t)((uint8_t *)extent - segment.base);
	STORE_RELEASE(&e->kind, kind);
	STORE(&segment.header->dir_used, i + 1);
	STORE(&segment.header->used_bytes, LOAD(&segment.used));
}

void
segment_table_shape(struct segment_table *t, enum seg_kind kind, uint32_t owner,
    uint32_t row_bytes, uint64_t first, uint64_t max_rows)
{
	uint32_t rows = SEG_EXTENT_STEP / row_bytes;

	t->rows_bits = (uint32_t)__builtin_ctz(rows);
	t->row_bytes = row_bytes;
	t->kind = kind;
	t->owner = owner;
	t->first = first;
	if (t->chunks) { /* a forked child starts over in the same pages */
		if (t->chunk_high)
			mem_zero(t->chunks, t->chunk_high * sizeof(*t->chunks));
		t->chunk_high = 0;
		return;
	}
	t->chunk_count = (uint32_t)((max_rows + rows - 1) / rows);
}

bool
segment_table_map(struct segment_table *t)
{
	uint8_t **mine, **none = NULL;

	if (likely(LOAD_ACQUIRE(&t->chunks)))
		return true;
	mine = mem_alloc(t->chunk_count * sizeof(*mine));
	if (!mine)
		return false;
	/* the loser's pages are wasted: rare and never touched */
	CAS(&t->chunks, &none, mine);
	return true;
}

bool
segment_table_init(struct segment_table *t, enum seg_kind kind, uint32_t owner,
    uint32_t row_bytes, uint64_t first, uint64_t max_rows)
{
	segment_table_shape(t, kind, owner, row_bytes, first, max_rows);
	return segment_table_map(t);
}

SEEP_COLD void *
segment_table_open(struct segment_table *t, uint64_t row)
{
	uint64_t c = row >> t->rows_bits;
	uint8_t *mine = new_extent();
	uint8_t *chunk = NULL;

	if (!mine)
		return NULL;
	if (CAS(&t->chunks[c], &chunk, mine)) {
		publish(mine, t->kind, t->owner, t->row_bytes,
		    t->first + (c << t->rows_bits));
		RAISE(&t->chunk_high, (uint32_t)c + 1);
		chunk = mine;
	}
	/* else: somebody was faster; our extent stays unused */
	return chunk + (row & ((1u << t->rows_bits) - 1)) * t->row_bytes;
}

bool
segment_move(
    uint8_t *base, uint64_t bytes, struct segment_table **tables, size_t count)
{
	uint8_t *from = segment.base;
	uint64_t used = LOAD(&segment.used);
	uint64_t first = segment.first, head;
	size_t i;

	if (used > bytes)
		return false;
	head = segment.dir_offset + segment.dir_open;
	segment.anonymous = false;
	if (!open_pages(base, head) ||
	    (used > first && !open_pages(base + first, used - first))) {
		segment.anonymous = true;
		return false;
	}
	memcpy(base, from, head);
	memcpy(base + first, from + first, used - first);
	segment.header = (struct seg_header *)base;
	segment.header->total_bytes = bytes;
	segment.base = base;
	segment.bytes = bytes;
	segment.open = used;
	for (i = 0; i < count; i++) {
		struct segment_table *t = tables[i];
		uint32_t c;

		for (c = 0; t->chunks && c < t->chunk_high; c++) {
			if (t->chunks[c] >= from && t->chunks[c] < from + used)
				t->chunks[c] += base - from;
		}
	}
	return true;
}
