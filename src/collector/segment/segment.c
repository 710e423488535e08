/* segment.c - the shared mapping: header, directory, extents, counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/segment.h"

#include <string.h>

#include "base/cpu/cpu.h"
#include "base/sys.h"
#include "collector/segment/mem.h"
#include "collector/segment/tick.h"

/* Counts from before there is a segment; segment_init() moves them into it. */
static struct seg_header nowhere;

struct segment segment = {.header = &nowhere};

enum {
	AHEAD_MIN = 64 << 10, /* opened ahead of use */
	AHEAD_MAX = 128 << 10,
	SPARE = 16 << 10, /* more, that may be used for what can wait */
};

struct segment_layout segment_layout(uint64_t bytes)
{
	uint64_t dir = bytes / SEG_EXTENT_STEP * sizeof(struct seg_extent);
	struct segment_layout l;

	l.dir_bytes = cpu_page_up(dir);
	l.head_bytes =
	    SEG_HEADER_BYTES + (l.dir_bytes < SEGMENT_HEAD_DIR ? l.dir_bytes : SEGMENT_HEAD_DIR);
	l.first = (SEG_HEADER_BYTES + l.dir_bytes + SEG_EXTENT_STEP - 1) &
	    ~(uint64_t)(SEG_EXTENT_STEP - 1);
	return l;
}

/* ---- windows ------------------------------------------------------------- */

/* The offsets in the segment that one window covers. */
struct span {
	uint32_t window;
	uint64_t begin, end;
};

static struct span first_span(void)
{
	return (struct span){
	    0, segment.layout.first, segment.layout.first + segment.memory.extents_bytes};
}

/* False: that was the last one. */
static bool next_span(struct span *s)
{
	uint64_t bytes = segment.memory.extents_bytes << ++s->window;

	if (bytes > SEGMENT_WINDOW_MAX)
		bytes = SEGMENT_WINDOW_MAX;
	if (bytes > segment.bytes - s->end)
		bytes = segment.bytes - s->end;
	s->begin = s->end;
	s->end += bytes;
	return bytes && s->window < SEGMENT_WINDOWS;
}

/* False: beyond the last window. */
static bool span_of(uint64_t offset, struct span *ret)
{
	*ret = first_span();
	while (offset >= ret->end) {
		if (!next_span(ret))
			return false;
	}
	return true;
}

static uint8_t *map_plain(uint64_t bytes)
{
	uint8_t *p = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (sys_failed(p))
		return NULL;
	own_memory_add(p, bytes, OWN_MEMORY_FOR_NOW);
	sys_madvise(p, bytes, MADV_DONTDUMP);
	return p;
}

/* Of map_plain(), or of a file. */
static void unmap(uint8_t *at, uint64_t bytes)
{
	own_memory_remove(at, bytes);
	sys_munmap(at, bytes);
}

/* Maps what follows from this page on, of the file or as plain memory. */
static uint8_t *map_more(uint8_t *page, uint64_t bytes)
{
	return segment.memory.is_private ? map_plain(bytes) : sys_view(page, bytes);
}

bool segment_map_private(struct segment_memory *ret, uint64_t bytes)
{
	const struct segment_layout l = segment_layout(bytes);
	uint64_t window = bytes - l.first;

	window = window < SEGMENT_WINDOW ? window : SEGMENT_WINDOW;
	*ret = (struct segment_memory){.head = map_plain(l.head_bytes + CPU_PAGE),
	    .extents = map_plain(window + CPU_PAGE),
	    .extents_bytes = window,
	    .is_private = true};
	return ret->head && ret->extents;
}

/* Maps windows up to this one. NULL: no memory. */
static SEEP_COLD uint8_t *map_windows(uint32_t up_to)
{
	struct span s = first_span();

	if (segment.memory.anonymous)
		return NULL;
	while (s.window < up_to) {
		uint64_t before = s.end - s.begin;
		uint8_t *none = NULL, *mine;

		if (!next_span(&s))
			return NULL;
		if (LOAD_ACQUIRE(&segment.windows[s.window]))
			continue;
		mine = map_more(segment.windows[s.window - 1] + before, s.end - s.begin + CPU_PAGE);
		if (!mine)
			return NULL;
		if (!CAS(&segment.windows[s.window], &none, mine))
			unmap(mine, s.end - s.begin + CPU_PAGE);
	}
	return LOAD_ACQUIRE(&segment.windows[up_to]);
}

/* Where the extent at this offset is mapped; NULL: no memory. */
static uint8_t *address_of(uint64_t offset)
{
	struct span s;
	uint8_t *w;

	if (!span_of(offset, &s))
		return NULL;
	w = LOAD_ACQUIRE(&segment.windows[s.window]);
	if (unlikely(!w))
		w = map_windows(s.window);
	return w ? w + (offset - s.begin) : NULL;
}

/* ---- pages --------------------------------------------------------------- */

/*
 * Makes pages for [at, at + bytes). A full tmpfs answers here with an error,
 * but to a plain store with SIGBUS. If the kernel lacks the call, all pages
 * were made at the start.
 */
static bool make_pages(uint8_t *at, uint64_t bytes)
{
	if (segment.memory.anonymous || !segment.populate)
		return true;
	mem_keep_out_of_cores();
	return sys_madvise(at, bytes, MADV_POPULATE_WRITE) == 0;
}

/* False: no memory, counted. */
static bool make_pages_or_count(uint8_t *at, uint64_t bytes)
{
	if (at && make_pages(at, bytes))
		return true;
	segment_count(SEG_NO_MEMORY, 1);
	return false;
}

/* Extents at these offsets, in one window or several. */
static bool open_range(uint64_t from, uint64_t to)
{
	while (from < to) {
		uint8_t *at = address_of(from);
		struct span s;
		uint64_t end;

		if (!at || !span_of(from, &s))
			return false;
		end = s.end < to ? s.end : to;
		if (!make_pages(at, end - from))
			return false;
		from = end;
	}
	return true;
}

/* How many bytes of extents are opened before they are needed. */
static uint64_t ahead_of(uint64_t offset)
{
	uint64_t ahead = (offset - segment.layout.first) / 8;

	ahead = ahead > AHEAD_MAX ? AHEAD_MAX : ahead;
	ahead = ahead < AHEAD_MIN ? AHEAD_MIN : ahead;
	return (ahead & ~(uint64_t)(SEG_EXTENT_STEP - 1)) + SPARE;
}

bool segment_has_spare(void)
{
	uint64_t used = LOAD(&segment.used);

	return LOAD(&segment.open) >= used + SPARE + SEG_EXTENT_STEP &&
	    used < segment.bytes / 8 * 3;
}

/*
 * A system call for each extent would be a large part of our cost in a program
 * with many stacks. So an eighth more than is in use is opened along with it,
 * if the medium and the budget have room. Several threads may do this at once;
 * everything below segment.open has been opened by one of them.
 */
static bool open_up_to(uint64_t end)
{
	uint64_t open = LOAD_ACQUIRE(&segment.open);

	if (end > segment.bytes || !open_range(open, end))
		return false;
	RAISE(&segment.open, end);
	return true;
}

static bool open_extent(uint64_t at)
{
	uint64_t end = at + SEG_EXTENT_STEP;

	if (end <= LOAD_ACQUIRE(&segment.open) || open_up_to(end + ahead_of(at)))
		return true;
	return make_pages_or_count(address_of(at), SEG_EXTENT_STEP);
}

void segment_refill(void)
{
	uint64_t used = LOAD(&segment.used);

	if (segment.header == &nowhere || segment.memory.anonymous)
		return;
	if (LOAD(&segment.open) < used + AHEAD_MIN / 4)
		open_up_to(used + ahead_of(used));
}

/* ---- the whole ----------------------------------------------------------- */

static void use_memory(const struct segment_memory *m)
{
	memset(segment.windows, 0, sizeof(segment.windows));
	segment.memory = *m;
	segment.windows[0] = m->extents;
	segment.dir_rest = NULL;
}

bool segment_init(const struct segment_memory *m, uint64_t bytes, uint64_t largest, bool populate)
{
	struct seg_header *h;
	int i;

	segment.header = &nowhere;
	segment.populate = populate;
	segment.layout = segment_layout(largest);
	use_memory(m);
	if (!make_pages_or_count(m->head, SEG_HEADER_BYTES + CPU_PAGE))
		return false;
	segment.bytes = bytes;
	segment.used = segment.open = segment.layout.first;
	segment.pieces = 0;
	segment.dir_capacity = (uint32_t)(largest / SEG_EXTENT_STEP);
	segment.dir_used = 0;
	segment.dir_open = CPU_PAGE;

	h = (struct seg_header *)(void *)m->head;
	h->version = SEG_VERSION;
	h->header_bytes = SEG_HEADER_BYTES;
	h->tick_ns = SEG_TICK_NS;
	h->counted_ticks = SEG_COUNTED_TICKS;
	h->total_bytes = bytes;
	h->used_bytes = segment.used;
	h->dir_offset = SEG_HEADER_BYTES;
	h->dir_capacity = segment.dir_capacity;
	h->slot_index = UINT32_MAX;
	h->own_address = (uint64_t)(uintptr_t)h;
	for (i = 0; i < SEG_COUNTS; i++) {
		h->counts[i] += LOAD(&nowhere.counts[i]);
		STORE(&nowhere.counts[i], 0);
	}
	segment.header = h;
	return true;
}

bool segment_init_plain(uint8_t *at, uint64_t bytes, uint64_t largest)
{
	const struct segment_layout l = segment_layout(largest);
	const struct segment_memory m = {.head = at,
	    .extents = at + l.first,
	    .extents_bytes = bytes - l.first,
	    .anonymous = true};

	return segment_init(&m, bytes, largest, false);
}

bool segment_leave_mapping(uint8_t *at, uint64_t bytes, bool keep)
{
	void *p;

	if (!at || !keep) {
		if (at)
			unmap(at, bytes);
		return true;
	}
	p = sys_mmap(at, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	if (sys_failed(p))
		return false;
	own_memory_remove(at, bytes); /* it may have been plain before */
	own_memory_add(at, bytes, OWN_MEMORY_FOR_NOW);
	return true;
}

bool segment_leave(bool keep)
{
	const struct segment_memory *m = &segment.memory;
	uint64_t more = m->anonymous ? 0 : CPU_PAGE;
	struct span s = first_span();
	bool done;

	segment.header = &nowhere;
	done = segment_leave_mapping(m->head, segment.layout.head_bytes + more, keep);
	if (segment.dir_rest)
		done &= segment_leave_mapping(segment.dir_rest,
		    segment.layout.first - segment.layout.head_bytes + CPU_PAGE, keep);
	do
		done &=
		    segment_leave_mapping(segment.windows[s.window], s.end - s.begin + more, keep);
	while (next_span(&s));
	return done;
}

bool segment_is_tight(void)
{
	return LOAD(&segment.used) > segment.bytes / 4 * 3;
}

static uint32_t refused; /* the tick after that of the last failure */

/* Failures would otherwise use up the budget. */
static void give_back(uint64_t at)
{
	uint64_t end = at + SEG_EXTENT_STEP;

	CAS(&segment.used, &end, at);
	STORE(&refused, tick_now() + 1);
}

/*
 * Room for one extent of SEG_EXTENT_STEP bytes, zeroed and writable, or NULL
 * (counted). Lock-free; a signal handler may call it. It becomes visible to
 * readers by its entry in the directory.
 */
static void *new_extent(uint64_t *ret_offset)
{
	uint64_t at, end;

	/*
	 * A medium that was full may have room again. It is asked once in a
	 * tick, because otherwise every event would make two useless system
	 * calls.
	 */
	if (unlikely(LOAD(&refused) == tick_now() + 1))
		return NULL;
	at = ADD(&segment.used, SEG_EXTENT_STEP);
	end = at + SEG_EXTENT_STEP;
	if (end > segment.bytes) {
		ADD(&segment.used, (uint64_t)-SEG_EXTENT_STEP);
		return NULL;
	}
	if (open_extent(at)) {
		*ret_offset = at;
		return address_of(at);
	}
	give_back(at);
	return NULL;
}

/* Where byte `at` of the directory is mapped; NULL: no memory. */
static uint8_t *dir_address(uint64_t at)
{
	const struct segment_memory *m = &segment.memory;
	uint64_t near = segment.layout.head_bytes - SEG_HEADER_BYTES;
	uint8_t *rest, *none = NULL;

	if (at < near || m->anonymous)
		return m->head + SEG_HEADER_BYTES + at;
	rest = LOAD_ACQUIRE(&segment.dir_rest);
	if (!rest) {
		uint64_t bytes = segment.layout.first - segment.layout.head_bytes;

		rest = map_more(m->head + segment.layout.head_bytes, bytes + CPU_PAGE);
		if (!rest)
			return NULL;
		if (!CAS(&segment.dir_rest, &none, rest)) {
			unmap(rest, bytes + CPU_PAGE);
			rest = none;
		}
	}
	return rest + (at - near);
}

/*
 * Log2 of the rows in an extent. If their size is no power of 2, the end of the
 * extent stays unused.
 */
static uint32_t rows_bits(uint32_t row_bytes)
{
	return 31 - (uint32_t)__builtin_clz(SEG_EXTENT_STEP / row_bytes);
}

static struct seg_extent *entry_at(uint32_t i)
{
	return (struct seg_extent *)(void *)dir_address((uint64_t)i * sizeof(struct seg_extent));
}

/*
 * An entry of the directory that can be written to. It is counted, and not valid
 * until it has a kind. NULL: no room.
 */
static struct seg_extent *new_entry(uint32_t *ret_index)
{
	uint32_t i = ADD(&segment.dir_used, 1), next = i + 1;
	uint64_t at = (uint64_t)i * sizeof(struct seg_extent);
	uint64_t page = cpu_page_down(at);
	/* it cannot be beyond: every extent has one entry */
	uint8_t *e = i < segment.dir_capacity ? dir_address(at) : NULL;

	if (!e ||
	    (at >= LOAD(&segment.dir_open) && !make_pages_or_count(dir_address(page), CPU_PAGE))) {
		CAS(&segment.dir_used, &next, i);
		return NULL;
	}
	RAISE(&segment.dir_open, page + CPU_PAGE);
	RAISE(&segment.header->dir_used, i + 1);
	*ret_index = i;
	return (struct seg_extent *)(void *)e;
}

/* t->rows_bits is set. */
static void shape(struct segment_table *t, enum seg_kind kind, uint32_t owner, uint32_t row_bytes,
    uint64_t first, uint64_t max_rows)
{
	const uint32_t in_page = CPU_PAGE / sizeof(*t->chunks);
	const uint32_t rows = 1u << t->rows_bits;
	uint32_t count;

	t->row_bytes = row_bytes;
	t->kind = kind;
	t->owner = owner;
	t->first = first;
	t->claim = 0;
	count = (uint32_t)((max_rows + rows - 1) / rows);
	if (t->chunks && t->chunk_count >= count) {
		/* a forked child starts over in the same pages */
		memset(t->chunks, 0, t->chunk_high * sizeof(*t->chunks));
		t->chunk_high = 0;
		return;
	}
	t->chunks = NULL; /* the old ones are too few */
	t->chunk_high = 0;
	t->chunk_count = (count + in_page - 1) & ~(in_page - 1);
}

void segment_table_shape(struct segment_table *t, enum seg_kind kind, uint32_t owner,
    uint32_t row_bytes, uint64_t first, uint64_t max_rows)
{
	t->rows_bits = rows_bits(row_bytes);
	shape(t, kind, owner, row_bytes, first, max_rows);
}

void segment_table_shape_pieces(struct segment_table *t, enum seg_kind kind, uint32_t row_bytes,
    uint64_t first, uint64_t max_rows, uint32_t rows_bits)
{
	t->rows_bits = rows_bits;
	shape(t, kind, 0, row_bytes, first, max_rows);
}

bool segment_table_map(struct segment_table *t)
{
	return likely(LOAD_ACQUIRE(&t->chunks)) ||
	    mem_publish(&t->chunks, t->chunk_count * sizeof(*t->chunks));
}

bool segment_table_init(struct segment_table *t, enum seg_kind kind, uint32_t owner,
    uint32_t row_bytes, uint64_t first, uint64_t max_rows)
{
	segment_table_shape(t, kind, owner, row_bytes, first, max_rows);
	return segment_table_map(t);
}

enum { PIECES_END = 32768 }; /* half of what readers accept */

/* Room for a piece of an extent. NULL: no room for one more extent. */
static uint8_t *new_piece(uint64_t bytes, uint64_t *ret_offset)
{
	uint64_t at = segment.pieces, in_extent = at % SEG_EXTENT_STEP;
	uint8_t *mine;

	if (in_extent && in_extent + bytes <= SEG_EXTENT_STEP) {
		*ret_offset = at;
		segment.pieces = at + bytes;
		return address_of(at);
	}
	mine = new_extent(ret_offset);
	if (mine)
		segment.pieces = *ret_offset + bytes;
	return mine;
}

/* Room for the next chunk of t, and for *ret_chunks - 1 that follow it. */
static uint8_t *new_chunks(
    const struct segment_table *t, uint64_t *ret_offset, uint32_t *ret_chunks)
{
	const uint32_t bytes = t->row_bytes << t->rows_bits;
	const uint32_t used = LOAD(&segment.dir_used);

	*ret_chunks = SEG_EXTENT_STEP / bytes;
	if (used > segment.dir_capacity / 2 || used > PIECES_END)
		return new_extent(ret_offset);
	*ret_chunks = 1;
	return new_piece(bytes, ret_offset);
}

/*
 * A signal handler may leave this by siglongjmp, at any instruction, and a chunk
 * that is in use without an entry would be lost to readers, with all that is ever
 * counted in it. So a table's claim says first which entry and which extent the
 * chunk gets, then the entry gets its kind, and then the chunk is in use. Whoever
 * comes next finishes a claim that was left.
 */
enum { CLAIM_BITS = 21, CLAIM_TRIES = 1024 };

#define CLAIM_MASK ((UINT64_C(1) << CLAIM_BITS) - 1)

/* Never 0, because an entry and an extent are counted from 1. 0: too large. */
static uint64_t claim_for(uint64_t chunk, uint32_t entry, uint64_t offset)
{
	uint64_t extent = (offset - segment.layout.first) / SEG_EXTENT_STEP;

	if (chunk > CLAIM_MASK || entry >= CLAIM_MASK || extent >= CLAIM_MASK)
		return 0;
	return chunk << 2 * CLAIM_BITS | (uint64_t)(entry + 1) << CLAIM_BITS | (extent + 1);
}

/* Several threads may do this at once, and one again later. */
static void settle_claim(struct segment_table *t, uint64_t claim)
{
	uint64_t c = claim >> 2 * CLAIM_BITS;
	struct seg_extent *e = entry_at((uint32_t)(claim >> CLAIM_BITS & CLAIM_MASK) - 1);
	uint8_t *mine =
	    address_of(segment.layout.first + ((claim & CLAIM_MASK) - 1) * SEG_EXTENT_STEP);
	uint8_t *chunk = LOAD_ACQUIRE(&t->chunks[c]);

	if (chunk && chunk != mine) /* it was opened before: ours is unused */
		STORE(&e->count, 0);
	STORE_RELEASE(&e->kind, t->kind);
	RAISE(&t->chunk_high, (uint32_t)c + 1);
	if (!chunk)
		CAS(&t->chunks[c], &chunk, mine);
	CAS(&t->claim, &claim, 0);
}

/* Finishes what others have begun. */
static void settle_others(struct segment_table *t)
{
	uint64_t claim = LOAD_ACQUIRE(&t->claim);

	if (claim)
		settle_claim(t, claim);
}

static uint8_t *row_of(const struct segment_table *t, uint64_t row)
{
	uint8_t *chunk = LOAD_ACQUIRE(&t->chunks[row >> t->rows_bits]);

	return chunk ? chunk + (row & ((1u << t->rows_bits) - 1)) * t->row_bytes : NULL;
}

/* Is it a table of segment_table_shape_pieces()? */
static bool has_pieces(const struct segment_table *t)
{
	return t->row_bytes << t->rows_bits <= SEG_EXTENT_STEP / 2;
}

/*
 * The same for a table of pieces, which only the destructor opens. Of a whole
 * extent it opens chunks up to one that is open.
 */
static void *open_pieces(struct segment_table *t, uint64_t row)
{
	const uint64_t c = row >> t->rows_bits;
	uint64_t offset = 0;
	uint32_t chunks, index, i;
	uint8_t *mine = new_chunks(t, &offset, &chunks);
	struct seg_extent *e = mine ? new_entry(&index) : NULL;

	if (!e)
		return NULL; /* a piece cannot be given back */
	for (i = 1; i < chunks && c + i < t->chunk_count; i++) {
		if (t->chunks[c + i])
			break;
	}
	chunks = i;
	e->owner = t->owner;
	e->row_bytes = t->row_bytes;
	e->count = chunks << t->rows_bits;
	e->first = t->first + (c << t->rows_bits);
	e->offset = offset;
	STORE_RELEASE(&e->kind, t->kind);
	RAISE(&t->chunk_high, (uint32_t)c + chunks);
	for (i = 0; i < chunks; i++)
		t->chunks[c + i] = mine + ((size_t)i * t->row_bytes << t->rows_bits);
	STORE(&segment.header->used_bytes, LOAD(&segment.used));
	return row_of(t, row);
}

SEEP_COLD void *segment_table_open(struct segment_table *t, uint64_t row)
{
	uint64_t c = row >> t->rows_bits;
	uint64_t offset = 0, claim, none = 0;
	uint32_t index = 0, i;
	struct seg_extent *e;
	uint8_t *mine;

	if (has_pieces(t))
		return open_pieces(t, row);
	settle_others(t);
	if (row_of(t, row))
		return row_of(t, row);
	mine = new_extent(&offset);
	e = mine ? new_entry(&index) : NULL;
	claim = e ? claim_for(c, index, offset) : 0;
	if (!claim) {
		if (mine)
			give_back(offset);
		return NULL;
	}
	e->owner = t->owner;
	e->row_bytes = t->row_bytes;
	e->count = 1u << t->rows_bits;
	e->first = t->first + (c << t->rows_bits);
	e->offset = offset;
	for (i = 0; i < CLAIM_TRIES && !CAS(&t->claim, &none, claim); i++) {
		settle_claim(t, none);
		none = 0;
	}
	if (i < CLAIM_TRIES)
		settle_claim(t, claim);
	STORE(&segment.header->used_bytes, LOAD(&segment.used));
	return row_of(t, row);
}

/* Both have the same layout; the anonymous one is one mapping. */
static void copy_used(
    const struct segment_memory *from, const struct segment_memory *to, uint64_t used)
{
	struct seg_header *h = (struct seg_header *)(void *)to->head;

	/*
	 * a reader may be looking, so the magic is cleared first and written
	 * last
	 */
	STORE(&segment.header->magic, 0);
	STORE_RELEASE(&h->magic, 0);
	memcpy(to->extents, from->extents, used);
	memcpy(to->head, from->head, SEG_HEADER_BYTES + segment.dir_open);
	STORE_RELEASE(&h->magic, SEG_MAGIC);
}

bool segment_move(
    const struct segment_memory *m, uint64_t bytes, struct segment_table **tables, size_t count)
{
	const struct segment_memory from = segment.memory;
	uint64_t end = LOAD(&segment.used);
	uint64_t used = end - segment.layout.first;
	size_t i;

	if (end > bytes || used > m->extents_bytes)
		return false;
	if (segment.populate && (used > m->made || segment.dir_open > CPU_PAGE) &&
	    (sys_madvise(m->head, SEG_HEADER_BYTES + segment.dir_open, MADV_POPULATE_WRITE) ||
	        (used && sys_madvise(m->extents, used, MADV_POPULATE_WRITE))))
		return false;
	copy_used(&from, m, used);
	use_memory(m);
	segment.header = (struct seg_header *)(void *)m->head;
	segment.header->own_address = (uint64_t)(uintptr_t)m->head;
	segment.header->total_bytes = bytes;
	segment.bytes = bytes;
	segment.open = used > m->made ? end : segment.layout.first + m->made;
	for (i = 0; i < count; i++) {
		struct segment_table *t = tables[i];
		uint32_t c;

		for (c = 0; t->chunks && c < t->chunk_high; c++) {
			if (t->chunks[c])
				t->chunks[c] += m->extents - from.extents;
		}
	}
	return true;
}
