/* heap_words.c - words of memory become pointers between blocks. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "analysis/leaks/heap_find.h"

#include "base/std.h"
#include "analysis/leaks/heap_parts.h"

#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

static int add_target(struct heap *h, const struct heap_word *c, uint32_t edge)
{
	if (c->source == HEAP_NO_BLOCK)
		return heap_add_edge(h, &h->roots, edge);
	h->begin[c->source + 1]++;
	return heap_add_edge(h, &h->edges, edge);
}

/* Kept apart from resolve(), which is short for looks that do not ask. */
static void tell_missed(const struct heap *h, const struct heap_word *c)
{
	if (h->missed && c->weak == HEAP_CERTAIN && c->source != HEAP_NO_BLOCK)
		h->missed(h->context, c->source, c->address);
}

/* A block that is not known may begin there. */
static unsigned past_end(const struct heap *h, const struct heap_word *c)
{
	tell_missed(h, c);
	return HEAP_PAST_END;
}

static int resolve(struct heap *h, const struct heap_word *c)
{
	uint32_t i = c->first ? heap_find_in(h, &c->span, c->address) : HEAP_NO_BLOCK;
	unsigned kind = c->weak;
	uint64_t begin, size;

	if (i == HEAP_NO_BLOCK) {
		tell_missed(h, c);
		return 0;
	}
	begin = heap_key_address(h->keys[i]);
	size = heap_key_size(h, i);
	if (kind != HEAP_CERTAIN)
		; /* it stays what it is */
	else if (size && c->address - begin == size)
		kind = past_end(h, c);
	else if (i && begin == c->address &&
	    heap_key_address(h->keys[i - 1]) + heap_key_size(h, i - 1) == begin)
		kind = HEAP_AT_SEAM;
	return add_target(h, c, heap_edge(i, kind));
}

int heap_flush(struct heap *h)
{
	size_t i, n = h->pending;
	int err = 0;

	h->pending = 0;
	for (i = 0; i < n; i++) {
		struct heap_word *c = &h->words[i];

		c->first = heap_first_of_page(h, c->address);
		if (c->first)
			__builtin_prefetch(c->first);
	}
	for (i = 0; i < n; i++) {
		struct heap_word *c = &h->words[i];

		if (c->first && !heap_span_of_page(h, c->first, c->address, &c->span))
			c->first = NULL;
		if (c->first) {
			/* the one before it, itself, and the next one */
			const char *k = (const char *)(h->keys + c->span.guess);

			__builtin_prefetch(k - sizeof(*h->keys));
			__builtin_prefetch(k + sizeof(*h->keys));
		}
	}
	for (i = 0; i < n && err == 0; i++)
		err = resolve(h, &h->words[i]);
	return err;
}

static int note(struct heap *h, uint32_t source, uint64_t word, unsigned weak)
{
	uint64_t address = word & ADDRESS_MASK;

	if (address - h->lo > h->hi - h->lo)
		return 0;
	h->words[h->pending++] =
	    (struct heap_word){.address = address, .source = source, .weak = (uint8_t)weak};
	return h->pending == HEAP_WORDS ? heap_flush(h) : 0;
}

/*
 * Most words are no pointers, and their upper half says so: bits 32 to 47 of an
 * address are few different values in all of a heap. So sixteen halves are
 * looked at together, as the upper halves of the words that begin four bytes
 * before them.
 */
typedef int32_t halves __attribute__((vector_size(16)));

enum { AT_ONCE = 64 }; /* bytes */

/* A bit for each of the halves that may be the upper one of an address. */
static inline uint32_t may_point(const struct heap *h, const unsigned char *bytes)
{
	const halves low = (halves){0} + (int32_t)(h->lo >> 32) - 1;
	const halves high = (halves){0} + (int32_t)(h->hi >> 32) + 1;
	halves found[AT_ONCE / sizeof(halves)], any = {0};
	uint32_t bits = 0;

	for (size_t i = 0; i < AT_ONCE / sizeof(halves); i++) {
		halves x;

		memcpy(&x, bytes + i * sizeof(x), sizeof(x));
		x &= 0xffff;
		found[i] = (x > low) & (x < high);
		any |= found[i];
	}
	if (!(any[0] | any[1] | any[2] | any[3]))
		return 0;
	for (size_t i = 0; i < AT_ONCE / sizeof(int32_t); i++)
		bits |= (uint32_t)(found[i / 4][i % 4] & 1) << i;
	return bits;
}

/* The word at bytes + i, which is that of address `at` + i. */
static inline int scan_word(struct heap *h, uint32_t source, uint64_t at,
    const unsigned char *bytes, size_t i, unsigned weak)
{
	uint64_t word;

	memcpy(&word, bytes + i, sizeof(word));
	return note(h, source, word, weak ? weak : ((at + i) & 4) ? HEAP_MISALIGNED : HEAP_CERTAIN);
}

/*
 * All words in [at, at + len) of a process, whose bytes these are. Words at a
 * multiple of eight are pointers, those at a multiple of four weak ones.
 */
static int scan_words(struct heap *h, uint32_t source, uint64_t at, const unsigned char *bytes,
    size_t len, unsigned weak)
{
	size_t i = (size_t)(-at & 3);
	int err = 0;

	/* words whose upper halves are in the next AT_ONCE bytes */
	for (; i + 4 + AT_ONCE <= len && err == 0; i += AT_ONCE) {
		uint32_t bits = may_point(h, bytes + i + 4);

		for (; bits && err == 0; bits &= bits - 1)
			err = scan_word(
			    h, source, at, bytes, i + 4 * (size_t)__builtin_ctz(bits), weak);
	}
	for (; i + 8 <= len && err == 0; i += 4)
		err = scan_word(h, source, at, bytes, i, weak);
	return err;
}

/* The word of a block that lies across this memory and what came before. */
static int scan_seam(struct heap *h, uint64_t address, const unsigned char *bytes, size_t len)
{
	const struct heap_block *b = &h->blocks[h->scanned];
	uint64_t word;

	if (address != h->scan_end || address % 4 || len < 4 || h->scanned == h->count ||
	    b->address + 4 > address || b->address + b->size < address + 4)
		return 0;
	word = h->carry;
	memcpy((unsigned char *)&word + 4, bytes, 4);
	return note(
	    h, (uint32_t)h->scanned, word, (address & 4) == 0 ? HEAP_MISALIGNED : HEAP_CERTAIN);
}

/* Heap memory is cut at blocks: what is between them points nowhere. */
static int scan_heap(struct heap *h, uint64_t address, const unsigned char *bytes, size_t len)
{
	const uint64_t end = address + len;
	int err = 0;

	if (address < h->scan_end || end < address)
		return -EINVAL;
	if (len == 0)
		return 0;
	err = scan_seam(h, address, bytes, len);
	h->scan_end = end;
	if (len >= sizeof(h->carry))
		memcpy(&h->carry, bytes + len - sizeof(h->carry), sizeof(h->carry));
	while (h->scanned < h->count && err == 0) {
		const struct heap_block *b = &h->blocks[h->scanned];
		uint64_t from = b->address, to = b->address + b->size;

		if (from < address)
			from = address;
		if (to > end)
			to = end;
		if (from < to)
			err = scan_words(h, (uint32_t)h->scanned, from, bytes + (from - address),
			    (size_t)(to - from), HEAP_CERTAIN);
		if (b->address + b->size > end)
			break; /* more of it may come */
		h->scanned++;
	}
	return err;
}

/*
 * A compiler at run time writes pointers into its instructions, where they begin
 * at any byte. What does not begin at a multiple of eight is weak, as elsewhere.
 */
static int scan_code(struct heap *h, uint64_t address, const void *bytes, size_t len)
{
	int err = scan_words(h, HEAP_NO_BLOCK, address, bytes, len, HEAP_CERTAIN);

	for (size_t i = 1; i < 4 && i < len && err == 0; i++)
		err = scan_words(h, HEAP_NO_BLOCK, address, (const unsigned char *)bytes + i,
		    len - i, HEAP_MISALIGNED);
	return err;
}

int heap_scan(struct heap *h, enum heap_part part, uint64_t address, const void *bytes, size_t len)
{
	if (part == HEAP_BLOCKS)
		return scan_heap(h, address, bytes, len);
	if (part == HEAP_CODE)
		return scan_code(h, address, bytes, len);
	return scan_words(h, HEAP_NO_BLOCK, address, bytes, len,
	    part == HEAP_WEAK_ROOT ? HEAP_BELOW_SP : HEAP_CERTAIN);
}

void heap_watch(struct heap *h, uint64_t low, uint64_t high, heap_missed *missed, void *context)
{
	if (low < h->lo)
		h->lo = low;
	if (high > h->hi || h->count == 0)
		h->hi = high;
	h->missed = missed;
	h->context = context;
}

int heap_root(struct heap *h, uint64_t word)
{
	return note(h, HEAP_NO_BLOCK, word, HEAP_CERTAIN);
}
