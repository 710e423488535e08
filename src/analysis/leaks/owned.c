/* owned.c - memory that belongs to the allocator, and so holds no root. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/owned.h"

#include "segments/blocks/our_ranges.h"

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	GLIBC_GRANULE_BITS = 5,
	/* low bits of the size of a chunk, in the word before its block */
	CHUNK_MMAPPED = 2,
	CHUNK_OTHER_ARENA = 4,
	CHUNK_FLAGS = 7,
	HEAP_BYTES = 64 << 20,   /* a heap of another arena, and its alignment */
	MMAPPED_SLACK = 4 << 20, /* what a mapping has beyond its block */
	HEAPS_MAX = 1 << 20,
	HEAPS_AT_ONCE = FOREIGN_BATCH_RANGES,
};

struct owned {
	const struct heap *heap;
	const struct seg_header *header;
	bool is_glibc;
	size_t next;          /* the block whose header comes next */
	struct ranges all;    /* mappings of large chunks; pages with blocks */
	struct ranges heaps;  /* where heaps of other arenas may begin */
	struct ranges fences; /* one byte each, see note_fences() */
	uint64_t top;         /* the chunk at the end of the first arena, 0: unknown */
};

int owned_new(const struct heap *heap, const struct seg_header *header, struct owned **ret)
{
	struct owned *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->heap = heap;
	o->header = header;
	o->is_glibc = header->live_granule_bits == GLIBC_GRANULE_BITS;
	*ret = o;
	return 0;
}

void owned_free(struct owned *o)
{
	if (!o)
		return;
	address_ranges_release(&o->all);
	address_ranges_release(&o->heaps);
	address_ranges_release(&o->fences);
	free(o);
}

static uint64_t page_down(uint64_t address)
{
	return address / PAGE * PAGE;
}

static uint64_t page_up(uint64_t address)
{
	return page_down(address + PAGE - 1);
}

/* Ranges that begin in order, and may overlap the last one. */
static int add(struct ranges *r, uint64_t start, uint64_t end)
{
	if (r->count && start <= r->at[r->count - 1].end && start >= r->at[r->count - 1].start) {
		if (end > r->at[r->count - 1].end)
			r->at[r->count - 1].end = end;
		return 0;
	}
	return address_ranges_add(r, start, end);
}

/* ---- glibc ---------------------------------------------------------------- */

static int note_header(struct owned *o, const struct heap_block *b, const uint64_t *words)
{
	uint64_t chunk = b->address - OWNED_HEADER;
	uint64_t size = words[1] & ~(uint64_t)CHUNK_FLAGS;
	/* of a mapping: what memalign() has left before the chunk */
	uint64_t before = words[0];

	if (words[1] & CHUNK_MMAPPED && before <= chunk && before <= HEAP_BYTES &&
	    (chunk - before) % PAGE == 0 && (chunk + size) % PAGE == 0 &&
	    size >= b->size + OWNED_HEADER && size - b->size <= MMAPPED_SLACK)
		return add(&o->all, chunk - before, chunk + size);
	if ((words[1] & (CHUNK_MMAPPED | CHUNK_OTHER_ARENA)) == CHUNK_OTHER_ARENA &&
	    size < HEAP_BYTES) {
		uint64_t base = chunk / HEAP_BYTES * HEAP_BYTES;
		int err = 0;

		if (o->heaps.count < HEAPS_MAX &&
		    (!o->heaps.count || o->heaps.at[o->heaps.count - 1].start != base))
			err = address_ranges_add(&o->heaps, base, base + PAGE);
		if (err < 0)
			return err;
	}
	return add(&o->all, page_down(chunk), page_up(b->address + b->size));
}

/*
 * A program may take memory by sbrk() itself. glibc notices when it needs more:
 * it ends what it had, at the end of a page, with two chunks of 16 bytes, and
 * goes on behind what the program has taken.
 */
static int note_fences(struct owned *o, uint64_t address, const uint8_t *bytes, size_t len)
{
	enum { FENCE_BYTES = 32, FENCE_SIZE = 16 | 1 };
	int err = 0;

	for (uint64_t at = page_up(address + FENCE_BYTES); at <= address + len && err == 0;
	     at += PAGE) {
		uint64_t w[FENCE_BYTES / 8];

		memcpy(w, bytes + (at - FENCE_BYTES - address), sizeof(w));
		if (w[1] == FENCE_SIZE && w[3] == FENCE_SIZE &&
		    heap_find(o->heap, at - FENCE_BYTES) < 0 && heap_find(o->heap, at - 1) < 0)
			err = address_ranges_add(&o->fences, at, at + 1);
	}
	return err;
}

int owned_note_headers(struct owned *o, uint64_t address, const uint8_t *bytes, size_t len)
{
	const struct heap_block *b = heap_blocks(o->heap);
	uint64_t end = address + len;
	int err = o->is_glibc ? note_fences(o, address, bytes, len) : 0;

	while (o->is_glibc && o->next < heap_count(o->heap) && err == 0) {
		uint64_t chunk = b[o->next].address - OWNED_HEADER;
		uint64_t words[2] = {0, 0};

		if (b[o->next].address >= OWNED_HEADER && chunk >= end)
			break;
		if (b[o->next].address >= OWNED_HEADER && chunk >= address &&
		    chunk + OWNED_HEADER <= end)
			memcpy(words, bytes + (chunk - address), sizeof(words));
		/* a header that was not read says nothing */
		err = note_header(o, &b[o->next], words);
		o->next++;
	}
	return err;
}

/*
 * struct heap_info, at the beginning of each heap: its arena, the heap before
 * it, its size, and how much of it may be used. A chunk that was freed since may
 * have led us anywhere, so all of it must fit.
 */
static int note_heap(struct owned *o, uint64_t base, const uint8_t *page)
{
	uint64_t words[4];

	memcpy(words, page, sizeof(words));
	if (words[0] == 0 || words[0] % 16 || words[1] % HEAP_BYTES || words[2] == 0 ||
	    words[2] % PAGE || words[2] > HEAP_BYTES || words[3] < words[2] ||
	    words[3] > HEAP_BYTES || words[3] % PAGE)
		return 0;
	return address_ranges_add(&o->all, base, base + words[2]);
}

static int read_heaps(struct owned *o, struct foreign *memory, struct fault *where)
{
	int err = 0;

	address_ranges_settle(&o->heaps);
	for (size_t i = 0; i < o->heaps.count && err == 0;) {
		struct foreign_range r[HEAPS_AT_ONCE];
		struct foreign_batch b;
		size_t n = 0;

		for (; n < HEAPS_AT_ONCE && i + n < o->heaps.count; n++)
			r[n] = (struct foreign_range){o->heaps.at[i + n].start, 1};
		err = foreign_read(memory, r, n, &b, where);
		for (size_t k = 0; k < n && err == 0; k++)
			if (b.pages[k] == FOREIGN_READ)
				err = note_heap(o, r[k].start, b.bytes + k * PAGE);
		i += n;
	}
	return err;
}

/* The pages of "[heap]" that have no block were not read for their headers. */
static int find_fences(
    struct owned *o, struct foreign *memory, const struct range *heap, struct fault *where)
{
	struct ranges whole = {0}, rest = {0};
	int err = address_ranges_add(&whole, heap->start, heap->end);

	if (err == 0)
		err = address_ranges_subtract(&whole, &o->all, &rest);
	for (size_t i = 0; i < rest.count && err == 0; i++) {
		uint64_t at = rest.at[i].start, end = rest.at[i].end;

		while (at < end && err == 0) {
			struct foreign_range r = {at, (end - at) / PAGE};
			struct foreign_batch b;

			if (r.pages > FOREIGN_BATCH_PAGES)
				r.pages = FOREIGN_BATCH_PAGES;
			if (r.pages == 0)
				break;
			err = foreign_read(memory, &r, 1, &b, where);
			if (err == 0)
				err = note_fences(o, at, b.bytes, b.count * PAGE);
			at += r.pages * PAGE;
		}
	}
	address_ranges_release(&whole);
	address_ranges_release(&rest);
	return err;
}

/* Before glibc has noticed, its last chunk ends where the program's begins. */
static int find_top(
    struct owned *o, struct foreign *memory, const struct range *heap, struct fault *where)
{
	struct foreign_range r = {page_down(o->top + 8), 1};
	struct foreign_batch b;
	uint64_t size;
	int err;

	if (o->top % OWNED_HEADER || o->top < heap->start || o->top + OWNED_HEADER > heap->end)
		return 0;
	err = foreign_read(memory, &r, 1, &b, where);
	if (err < 0 || b.pages[0] != FOREIGN_READ)
		return err;
	memcpy(&size, b.bytes + (o->top + 8 - r.start), sizeof(size));
	size &= ~(uint64_t)CHUNK_FLAGS;
	if (size == 0 || size >= heap->end - o->top || (o->top + size) % PAGE)
		return 0;
	return address_ranges_add(&o->fences, o->top + size, o->top + size + 1);
}

/* From a fence up to the next block: of the program. */
static int add_foreign(struct owned *o, const struct range *heap, struct ranges *ret)
{
	const struct heap_block *b = heap_blocks(o->heap);
	size_t count = heap_count(o->heap), k = 0;
	int err = 0;

	address_ranges_settle(&o->fences);
	for (size_t i = 0; i < o->fences.count && err == 0; i++) {
		uint64_t from = o->fences.at[i].start, to = heap->end;

		if (from < heap->start || from >= heap->end)
			continue;
		while (k < count && b[k].address < from)
			k++;
		if (k < count && b[k].address - OWNED_HEADER < to)
			to = b[k].address - OWNED_HEADER;
		err = address_ranges_add(ret, from, to);
	}
	return err;
}

/* "[heap]", less what the program has taken there itself. */
static int add_break(struct owned *o, struct foreign *memory, const struct roots_areas *areas,
    struct ranges *foreign, struct ranges *ret, struct fault *where)
{
	int err = 0;

	for (size_t i = 0; i < areas->count && err == 0; i++) {
		struct range heap = {areas->at[i].start, areas->at[i].end};

		if (areas->at[i].kind != ROOTS_HEAP)
			continue;
		err = find_fences(o, memory, &heap, where);
		if (err == 0)
			err = find_top(o, memory, &heap, where);
		if (err == 0)
			err = add_foreign(o, &heap, foreign);
		if (err == 0)
			err = address_ranges_add(ret, heap.start, heap.end);
	}
	return err;
}

enum { LIBC_PAGES_MAX = 512 };

/* libc's data and bss: the first arena's state is there. */
static int add_first_arena(
    struct owned *o, struct foreign *memory, const struct roots_areas *areas, struct fault *where)
{
	int err = 0;

	for (size_t i = 0; i < areas->count && err == 0; i++) {
		const struct roots_area *a = &areas->at[i];
		struct foreign_range r = {a->start, (a->end - a->start) / PAGE};
		struct foreign_batch b;
		struct range found;

		if (!a->is_libc || !a->can_write || a->kind != ROOTS_MEMORY)
			continue;
		if (r.pages > LIBC_PAGES_MAX)
			r.pages = LIBC_PAGES_MAX;
		err = foreign_read(memory, &r, 1, &b, where);
		if (err < 0 || !roots_find_arena(r.start, b.bytes, b.count * PAGE, &found))
			continue;
		err = address_ranges_add(&o->all, found.start, found.end);
		memcpy(&o->top,
		    b.bytes + (found.start - r.start) + ROOTS_ARENA_TOP * sizeof(uint64_t),
		    sizeof(o->top));
	}
	return err;
}

/* ---- any ------------------------------------------------------------------ */

/* `whole`: the pages of blocks; else the blocks alone. */
static int add_blocks(const struct owned *o, bool whole, struct ranges *ret)
{
	const struct heap_block *b = heap_blocks(o->heap);
	int err = 0;

	for (size_t i = 0; i < heap_count(o->heap) && err == 0; i++) {
		uint64_t start = b[i].address, end = start + b[i].size;

		if (whole)
			err = add(ret, page_down(start), page_up(end));
		else
			err = add(ret, start, end);
	}
	return err;
}

static int add_range(uint64_t start, uint64_t end, void *arg)
{
	return address_ranges_add(arg, start, end);
}

/*
 * The memory of the collector, as it says itself. A process that lies about
 * that hides, or makes up, leaks of its own.
 */
static int add_ours(const struct owned *o, pid_t pid, struct foreign *memory, struct ranges *ret)
{
	struct our_ranges ours = {.add = add_range, .arg = ret, .memory = memory};
	int err = our_ranges_read(&ours, pid, o->header);

	return err == -ENOTSUP || err == -EFAULT ? 0 : err;
}

static int add_glibc(struct owned *o, struct foreign *memory, const struct roots_areas *areas,
    struct ranges *ret, struct fault *where)
{
	struct ranges all = {0}, foreign = {0};
	int err = read_heaps(o, memory, where);

	if (err == 0)
		err = add_first_arena(o, memory, areas, where);
	address_ranges_settle(&o->all);
	if (err == 0)
		err = add_break(o, memory, areas, &foreign, &all, where);
	for (size_t i = 0; i < o->all.count && err == 0; i++)
		err = address_ranges_add(&all, o->all.at[i].start, o->all.at[i].end);
	address_ranges_settle(&all);
	address_ranges_settle(&foreign);
	if (err == 0)
		err = address_ranges_subtract(&all, &foreign, ret);
	address_ranges_release(&all);
	address_ranges_release(&foreign);
	return err;
}

int owned_settle(struct owned *o, pid_t pid, struct foreign *memory,
    const struct roots_areas *areas, bool blocks_only, struct ranges *ret, struct fault *where)
{
	int err = 0;

	*ret = (struct ranges){0};
	if (blocks_only)
		err = add_blocks(o, false, ret);
	else if (!o->is_glibc)
		err = add_blocks(o, true, ret);
	if (err == 0 && !blocks_only && !o->is_glibc)
		err = jemalloc_memory_ranges(memory, areas, ret, where);
	if (!blocks_only && o->is_glibc)
		err = add_glibc(o, memory, areas, ret, where);
	if (err == 0)
		err = add_ours(o, pid, memory, ret);
	address_ranges_settle(ret);
	if (err < 0)
		address_ranges_release(ret);
	return err;
}

/* ---- jemalloc_memory: the memory that jemalloc keeps for itself ---- */

enum {
	BASE_BYTES = 2 << 20, /* what pieces are aligned to, and multiples of */
	RECORD_BYTES = 128,   /* and their alignment */
	AT_ONCE = FOREIGN_BATCH_RANGES,
};

#define BASE_MOST   (UINT64_C(1) << 40)
#define ADDRESS_END (UINT64_C(1) << 47)

/*
 * struct base_block of jemalloc 5: its size, the next one, then the record of
 * what is left of it, which ends where the piece does.
 */
bool jemalloc_memory_is_base(
    uint64_t address, const void *page, struct range *ret, uint64_t *ret_used_end)
{
	uint64_t w[5];

	memcpy(w, page, sizeof(w));
	if (address % BASE_BYTES || w[0] == 0 || w[0] % BASE_BYTES || w[0] > BASE_MOST ||
	    w[0] > ADDRESS_END - address || w[1] % BASE_BYTES || w[1] == address)
		return false;
	if (w[3] <= address || w[3] > address + w[0] || w[4] != address + w[0] - w[3])
		return false;
	*ret = (struct range){address, address + w[0]};
	*ret_used_end = w[3];
	return true;
}

/*
 * struct edata (before 5.3 struct extent): flags in the low 45 bits, the
 * address, of which large blocks may have an offset in the page, the size, whose
 * low bits are a number.
 */
bool jemalloc_memory_is_record(const void *bytes, struct range *ret)
{
	uint64_t w[3], start, size;

	memcpy(w, bytes, sizeof(w));
	start = w[1] / PAGE * PAGE;
	size = w[2] / PAGE * PAGE;
	if (w[0] >> 45 || start == 0 || start >= ADDRESS_END || size == 0 ||
	    size > ADDRESS_END - start)
		return false;
	*ret = (struct range){start, start + size};
	return true;
}

static bool may_have_it(const struct roots_area *a)
{
	return a->kind == ROOTS_MEMORY && !a->is_file && a->can_write;
}

/* Records of memory that is not, or no longer, of this kind are passed over. */
static int add_records(
    const uint8_t *bytes, size_t len, const struct roots_areas *areas, struct ranges *ret)
{
	int err = 0;

	for (size_t i = 0; i + RECORD_BYTES <= len && err == 0; i += RECORD_BYTES) {
		const struct roots_area *a;
		struct range r;

		if (!jemalloc_memory_is_record(bytes + i, &r))
			continue;
		a = roots_at(areas, r.start);
		if (a && may_have_it(a) && r.end <= a->end)
			err = address_ranges_add(ret, r.start, r.end);
	}
	return err;
}

/* A piece, up to what is in use of it. */
static int read_base(struct foreign *memory, const struct roots_areas *areas, struct range base,
    uint64_t used_end, struct ranges *ret, struct fault *where)
{
	int err = address_ranges_add(ret, base.start, base.end);

	for (uint64_t at = base.start; at < used_end && err == 0;) {
		struct foreign_range r = {at, (used_end - at + PAGE - 1) / PAGE};
		struct foreign_batch b;

		if (r.pages > FOREIGN_BATCH_PAGES)
			r.pages = FOREIGN_BATCH_PAGES;
		err = foreign_read(memory, &r, 1, &b, where);
		if (err == 0)
			err = add_records(b.bytes, b.count * PAGE, areas, ret);
		at += r.pages * PAGE;
	}
	return err;
}

struct found {
	struct range base;
	uint64_t used_end;
};

/* These pages may begin a piece. */
static int look_at(struct foreign *memory, const struct roots_areas *areas,
    const struct foreign_range *pages, size_t count, struct ranges *ret, struct fault *where)
{
	struct found found[AT_ONCE];
	struct foreign_batch b;
	size_t n = 0;
	int err = foreign_read(memory, pages, count, &b, where);

	for (size_t i = 0; i < count && err == 0; i++)
		if (b.pages[i] == FOREIGN_READ &&
		    jemalloc_memory_is_base(
		        pages[i].start, b.bytes + i * PAGE, &found[n].base, &found[n].used_end))
			n++;
	for (size_t i = 0; i < n && err == 0; i++) {
		const struct roots_area *a = roots_at(areas, found[i].base.start);

		if (a && found[i].base.end <= a->end)
			err =
			    read_base(memory, areas, found[i].base, found[i].used_end, ret, where);
	}
	return err;
}

int jemalloc_memory_ranges(struct foreign *memory, const struct roots_areas *areas,
    struct ranges *ret, struct fault *where)
{
	struct foreign_range pages[AT_ONCE];
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < areas->count && err == 0; i++) {
		const struct roots_area *a = &areas->at[i];
		uint64_t at = (a->start + BASE_BYTES - 1) / BASE_BYTES;

		if (!may_have_it(a))
			continue;
		for (at *= BASE_BYTES; at < a->end && err == 0; at += BASE_BYTES) {
			pages[n++] = (struct foreign_range){at, 1};
			if (n < AT_ONCE)
				continue;
			err = look_at(memory, areas, pages, n, ret, where);
			n = 0;
		}
	}
	if (n > 0 && err == 0)
		err = look_at(memory, areas, pages, n, ret, where);
	return err;
}
