/* chunk.h - pieces of stack with the words that prove them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHUNK_H
#define SEEP_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/hash.h"
#include "collector/stack/memo.h"
#include "collector/unwind/walk.h"

/*
 * Walks the frames from *w on and lists in e the words that prove them, in the
 * order in which the walk depends on them. Returns the number of frames.
 * *ret_next is MEMO_END or MEMO_PLAIN, or 0 if more chunks can follow. With
 * MEMO_END w->vouched is set. e->returns says which words are return addresses.
 */
uint32_t chunk_fill(struct thread *t, struct memo_chunk *e, struct walk *w, uint64_t *ret_frames,
    enum memo_flags *ret_next);

/* End of the words of a chunk, as walk_prove() takes it. */
uint64_t chunk_top(const struct memo_chunk *e);

/* Asks whether the words of a doubtful chunk can be loaded. */
bool chunk_prove(const struct thread *t, struct walk *w, const struct memo_chunk *e);

/* Where a search looked: the first place, and which of its words differed. */
struct chunk_search {
	struct memo_chunk *first, *last;
	uint32_t differs;
};

/* Is it a chunk for this caller, whose words can be loaded? */
SEEP_INLINE bool chunk_fits(const struct thread *t, struct walk *w, const struct memo_chunk *e,
    const struct cpu_frame *c, uint64_t key, uint32_t gen)
{
	if (likely(memo_fits(e, c, key, gen)))
		return true;
	return unlikely(!w->sure) && memo_fits(e, c, key | MEMO_DOUBT, gen) && chunk_prove(t, w, e);
}

/*
 * The chunk whose words hold. If it is NULL, l->last is the chunk to fill. *w
 * is at c.
 */
SEEP_INLINE struct memo_chunk *chunk_find(const struct thread *t, struct walk *w,
    const struct cpu_frame *c, uint64_t key, struct chunk_search *l)
{
	const uint64_t *slots = (const uint64_t *)(uintptr_t)c->sp - 1;
	const uint32_t gen = LOAD(&module_gen);
	uint64_t h = memo_hash(c);
	int probe;

	l->first = memo_at(t, h);
	l->last = l->first;
	l->differs = MEMO_WORDS;
	for (probe = 0;;) {
		struct memo_chunk *e = l->last;
		uint32_t i;

		if (!chunk_fits(t, w, e, c, key, gen))
			return NULL;
		i = memo_differs(e, slots);
		if (i == MEMO_WORDS)
			return e;
		if (++probe == MEMO_PROBES)
			return NULL;
		if (e == l->first)
			l->differs = i;
		h = memo_next(h, i, slots[e->offset[i]]);
		l->last = memo_at(t, h);
	}
}

#endif
