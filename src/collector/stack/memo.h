/* memo.h - caller -> site: exact memoised unwinding. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MEMO_H
#define SEEP_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "base/hash.h"
#include "collector/unwind/module.h"
#include "collector/heap/sites.h"
#include "collector/thread.h"

/*
 * The interface: memo_site() gives the site of a caller and never fails. A
 * hook first tries memo_first(), with the key of memo_key(), and memo_holds(),
 * which need no call. Everything else here is for the files that fill and
 * search the memo (memo.c, chunk.h, outer.c, paths.c).
 *
 * How it works. A walk up the stack is a pure function of the caller's (pc, sp,
 * fp), the unwind rules, and the words that it loads. A memo entry lists these
 * words with their values. If they still have these values, the walk would go
 * the same way again, so its result need not be computed. The check is exact,
 * not a guess. The words are compared from the innermost frame outwards, and
 * the check stops at the first that differs, so every load of the check is one
 * that the walk itself would do.
 *
 * A walk asks before it loads (walk.h). A check does not, and the memory may
 * have been unmapped since the entry was made: not every word that a walk loads
 * is part of a stack, because there may be garbage where a coroutine begins.
 * Which loads cannot fault, for a caller with the same pc and sp as the entry?
 * - Those on the thread's own stack. A block that another thread inherits
 *   starts with an empty memo.
 * - Those in the page of the hook's return address.
 * - Those on a stack that was *vouched* for. That means that the walk came to
 *   the return address that makecontext() gives to a coroutine, without a
 *   signal frame in between. This is one single address, which garbage is not
 *   likely to contain. (All of _start and clone would be too much, because
 *   random addresses in a small program hit them. A return address of 0 is in
 *   every empty page.) So the walk has seen a whole stack. As long as its words
 *   hold, the frames compared so far are in use, and the caller's return
 *   address, the next word, is in memory that the program needs for its own
 *   return. If a stack is unmapped, replaced or used by another coroutine, the
 *   frames in use are other ones, and a word differs before a load leaves the
 *   memory of these frames.
 * All other entries are in *doubt*. Their key differs from every caller's key,
 * so the hook never uses them; chunk_find() uses them after walk_prove(). The
 * same holds for the copy of the last stack: a chunk has its stamp only if
 * the words of that copy are safe for the chunk, too.
 *
 * The inner frames, where stacks differ, are in chunks of up to six frames, in
 * a hash table per thread. Allocator wrappers make the first few words alike,
 * so the table is probed by mismatch: if word i differs, the value found there
 * gives the next place to look. This is a decision tree over just the words
 * that differ, and no unwind rule is looked up for it. A chunk always lists six
 * words. If there are fewer, the last one is repeated; if there are none, it is
 * the hook's own return address. So there is no loop, and the last value is
 * always the pc where the outer part begins.
 *
 * The outer frames, which change rarely, are a verified copy of the last stack.
 * Frame j of it holds if its `checks` words hold. The chunk remembers at which
 * frame it joined the copy (`hint`) and the stamp that this frame had. The
 * frame gets another stamp when it changes, or one further out. As long as the
 * stamp is the same, only the words have to be checked: one pass over a few
 * dozen of them, about half a nanosecond each.
 *
 * A saved frame pointer is listed only if a frame further out needs it for its
 * CFA. Elsewhere that register holds data, and listing it would only cause
 * misses.
 */
enum { MEMO_PROBES = 5, MEMO_SHIFT = 64 - 7 - MEMO_MAX_BITS };
enum { MEMO_OTHER = MEMO_WORDS + 1 };               /* see memo_look() */
enum { MEMO_PATIENCE = 16, MEMO_CHANGES_MAX = 11 }; /* see promote() */
#define MEMO_DOUBT (UINT64_C(1) << 63)              /* in a key */
enum memo_flags {
	MEMO_USES_FP = 1, /* fp must be the same, too */
	/* of outer chunks, see outer.h */
	MEMO_END = 2,   /* above it there is only the outermost frame */
	MEMO_PLAIN = 4, /* it leads to a frame that chunks cannot list */
};

/*
 * The first of n checks that fails, innermost first; below 0 if none does. It
 * stops there, so every load is one that the walk itself would do.
 */
SEEP_INLINE int memo_verify(const struct thread *t, int n)
{
	while (n-- > 0) {
		const struct outer_check *c = &t->copy.check[OUTER_CHECK_PAD + n];

		if (*(const uint64_t *)c->address != c->value)
			break;
	}
	return n;
}

/*
 * The same in the fewest instructions for the checks that begin 2 * `offset`
 * bytes into t->copy.check: 0 if they hold, else an n for memo_verify() from which
 * on it finds the first that fails.
 */
SEEP_INLINE uint32_t memo_fails(const struct thread *t, uint64_t offset)
{
	/* t->copy.check itself is added to each address that is used */
	const uint8_t *at = (const uint8_t *)t + 2 * offset;

	/* the rest of the last round is padding, which always holds */
	do {
		const struct outer_check *c = (const struct outer_check *)(const void *)(at +
		    offsetof(struct thread, copy.check));

		_Static_assert(OUTER_CHECK_PAD == 4, "a round");
		if (unlikely(*(const uint64_t *)c[3].address != c[3].value ||
		        *(const uint64_t *)c[2].address != c[2].value ||
		        *(const uint64_t *)c[1].address != c[1].value ||
		        *(const uint64_t *)c[0].address != c[0].value))
			return (uint32_t)((at - (const uint8_t *)t) / (ptrdiff_t)sizeof(*c));
		at -= 4 * sizeof(*c);
	} while (at > (const uint8_t *)t);
	return 0;
}

/* The stamp of the frame of the copy that these checks prove. */
SEEP_INLINE const uint64_t *memo_stamp(const struct thread *t, uint64_t checks_offset)
{
	return (const uint64_t *)(const void *)((const uint8_t *)t->copy.stamp + checks_offset);
}

SEEP_INLINE uint32_t memo_flags(const struct memo_chunk *e)
{
	return (uint32_t)(e->gen_flags >> 32);
}

/* The first of the chunk's words that differs; MEMO_WORDS if none does. */
SEEP_INLINE uint32_t memo_differs(const struct memo_chunk *e, const uint64_t *slots)
{
	uint32_t i;

#pragma GCC unroll 6
	for (i = 0; i < MEMO_WORDS; i++) {
		if (unlikely(slots[e->offset[i]] != e->value[i]))
			break;
	}
	return i;
}

/*
 * The key of an inner chunk. Outer chunks are in the same table, and their key
 * is the pc alone, because a return address of an outer frame may also be a
 * caller of a hook. (The api is not part of a site's key. A site that is
 * reached by malloc and by calloc has two chunks, and is named after the
 * first.)
 */
SEEP_INLINE uint64_t memo_key(const struct cpu_frame *c, enum seg_api api)
{
	return c->pc | (uint64_t)(api + 1) << 56;
}

SEEP_INLINE struct memo_chunk *memo_at(const struct thread *t, uint64_t hash)
{
	return (struct memo_chunk *)(void *)((uint8_t *)t->memo.entries +
	    (hash >> MEMO_SHIFT & t->memo.mask));
}

SEEP_INLINE uint64_t memo_hash(const struct cpu_frame *c)
{
	return hash_word(c->pc ^ c->sp << 15);
}

/* Is it a chunk for this caller, whose words should be compared? */
SEEP_INLINE bool memo_fits(
    const struct memo_chunk *e, const struct cpu_frame *c, uint64_t key, uint32_t gen)
{
	uint64_t differs;

	if (unlikely(e->key != key || e->sp != c->sp))
		return false;
	differs = e->gen_flags ^ gen;
	if (likely(!differs))
		return true;
	return !(uint32_t)differs && !((differs >> 32 & MEMO_USES_FP) && e->fp != c->fp);
}

/*
 * The first of the chunk's words that differs, as above; MEMO_OTHER if it is
 * the chunk of another caller, else its checks_offset is written, too. That is
 * loaded before the words are, because all loads of memo_fails() wait for it.
 * The comparison of a word takes three loads, and the CPU seems to give loads
 * to its three load ports in turn. So behind the six words, this load would
 * wait for six others of the same port, which costs 2 ns if the stack has 18
 * frames or more (BENCHMARK.md, eleventh round).
 */
SEEP_INLINE uint32_t memo_compare(
    const struct memo_chunk *e, const struct cpu_frame *c, uint64_t key, uint64_t *ret_checks)
{
	/* slot 0 is the hook's own return address */
	const uint64_t *slots = (const uint64_t *)(uintptr_t)c->sp - 1;

	if (unlikely(!memo_fits(e, c, key, LOAD(&module_gen))))
		return MEMO_OTHER;
	*ret_checks = cpu_in_turn(e->checks_offset);
	return memo_differs(e, slots);
}

/*
 * The caller's chunk at the first place to look, and the first of its words
 * that differs, as memo_compare() says it. No call, so that a hook that hits
 * needs no registers of its own.
 */
SEEP_INLINE struct memo_chunk *memo_look(const struct thread *t, const struct cpu_frame *c,
    uint64_t key, uint32_t *ret_differs, uint64_t *ret_checks)
{
	struct memo_chunk *e = memo_at(t, memo_hash(c));

	*ret_differs = memo_compare(e, c, key, ret_checks);
	return e;
}

/* Where to look next, after word i of a chunk was found to be another. */
SEEP_INLINE uint64_t memo_next(uint64_t hash, uint32_t i, uint64_t word)
{
	return hash_mix(hash ^ i, word);
}

/* Must memo_site() look whether another chunk should be at this first place? */
SEEP_INLINE bool memo_is_passed_over(const struct memo_chunk *first)
{
	return first->passed_over + 1u >= (uint32_t)MEMO_PATIENCE << first->changes;
}

/*
 * Is the copy still the one for which the chunk has its checks? The site is
 * written in any case, because it has to be loaded here: with it, three loads
 * are between those of the inner and of the outer words. So those that wait for
 * another load have the same port in both, see memo_compare().
 */
SEEP_INLINE bool memo_is_stamped(
    const struct thread *t, const struct memo_chunk *e, uint64_t checks, uint32_t *ret_site)
{
	*ret_site = (uint32_t)cpu_in_turn(e->site);
	return likely(e->version == *memo_stamp(t, checks));
}

/* Do the outer frames hold too, so that the chunk's site is the caller's? */
SEEP_INLINE bool memo_holds(
    const struct thread *t, const struct memo_chunk *e, uint64_t checks, uint32_t *ret_site)
{
	return memo_is_stamped(t, e, checks, ret_site) && likely(!memo_fails(t, checks));
}

/*
 * The site of a caller whose chunk is at the first place to look. False:
 * memo_site() has to search.
 */
SEEP_INLINE bool memo_first(
    const struct thread *t, const struct cpu_frame *c, uint64_t key, uint32_t *ret_site)
{
	uint64_t checks;
	uint32_t differs;
	const struct memo_chunk *e = memo_look(t, c, key, &differs, &checks);

	return likely(differs == MEMO_WORDS) && likely(memo_holds(t, e, checks, ret_site));
}

/*
 * The same if it is at the second place: word i of the chunk at the first place
 * differs.
 */
SEEP_INLINE bool memo_second(const struct thread *t, const struct cpu_frame *c, uint64_t key,
    const struct memo_chunk *first, uint32_t i, uint32_t *ret_site)
{
	const uint64_t *slots = (const uint64_t *)(uintptr_t)c->sp - 1;
	const struct memo_chunk *e =
	    memo_at(t, memo_next(memo_hash(c), i, slots[first->offset[i]]));
	uint64_t checks;

	return likely(memo_compare(e, c, key, &checks) == MEMO_WORDS) &&
	    likely(!memo_is_passed_over(first)) && likely(memo_holds(t, e, checks, ret_site));
}

/* Gives a thread its first, small memo if it has none. False: no memory. */
bool memo_begin(struct thread *t);

/* Forgets all; and makes it small again. */
void memo_forget(struct thread *t);
void memo_shrink(struct thread *t);

/* The site of a caller. The thread is busy; never fails (see sites_get). */
struct site_id memo_site(struct thread *t, const struct cpu_frame *c, enum seg_api api);

/*
 * The same for a caller whose chunk is e, as memo_look() found it. `checks` is
 * what memo_fails() said; 0: its stamp is not that of the frame.
 */
struct site_id memo_site_at(struct thread *t, const struct cpu_frame *c, enum seg_api api,
    struct memo_chunk *e, uint32_t checks);

#endif
