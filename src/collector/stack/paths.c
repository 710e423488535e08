/* paths.c - outer frames that come and go, found chunk by chunk. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/stack/outer.h"

#include "collector/stack/chunk.h"
#include "collector/unwind/module.h"
#include "collector/unwind/rules.h"
#include "collector/heap/sites.h"

enum { PATH_CHUNKS = 16, COPY_RENEW = 32 };
enum { SEEN_WAYS = 4, SEEN_SHIFT = 32 - 6 };
_Static_assert(PATHS_SEEN == SEEN_WAYS << 6, "bits of a tag");
enum { CREDIT_FOUND = 16, CREDIT_FILLED = 64, CREDIT_MAX = 4096 };

struct path_link {
	struct memo_chunk *e;
	uint64_t key, sp;
};

/*
 * Fills a chunk for the frame at *start. NULL: this is not the thread's own
 * stack, it has frames of more than a page, and no walk has vouched for it yet.
 */
static struct memo_chunk *path_fill(
    struct thread *t, const struct walk *start, struct memo_chunk *e, const struct cpu_frame *c)
{
	const uint32_t gen = LOAD(&module_gen);
	uint64_t frames[SEG_INNER_FRAMES], last;
	struct walk w = *start;
	enum memo_flags next;
	bool doubt;

	t->memo.misses++;
	e->key = 0;
	w.top = 0;
	(void)chunk_fill(t, e, &w, frames, &next);
	doubt = !start->sure && !(next == MEMO_END && w.vouched);
	if (doubt && w.top == WALK_NOWHERE)
		return NULL;
	e->sp = c->sp;
	e->fp = c->fp;
	e->gen_flags |= gen;
	e->hint = UINT16_MAX;
	e->above = e->reached = 0;
	if (next == MEMO_END) {
		(void)rules_get(w.pc, false, &last);
		e->above = sites_node(SITES_NODE_ROOT, last);
	}
	if (next == MEMO_END && !e->above)
		next = MEMO_PLAIN;
	e->gen_flags |= (uint64_t)next << 32;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	e->key = c->pc | (doubt ? MEMO_DOUBT : 0);
	return e;
}

/* The node of the chunk's innermost frame; 0: no room. */
static uint32_t path_node(struct memo_chunk *e, uint32_t above)
{
	uint64_t pcs[SEG_INNER_FRAMES], frame;
	uint32_t node = above, i, n = 0;
	bool is_new = false;

	if (e->reached && e->above == above)
		return e->reached;
	pcs[n++] = e->key & ~MEMO_DOUBT;
	for (i = 0; n < e->frames; i++) {
		if (e->returns & 1u << i)
			pcs[n++] = e->value[i];
	}
	for (i = e->frames; i-- > 0 && node;) {
		(void)rules_get(pcs[i], false, &frame);
		node = sites_child(node, frame, &is_new);
	}
	e->reached = 0;
	e->above = above;
	e->reached = node;
	return node;
}

/*
 * Like chunk_find(), for an outer chunk. If another caller's chunk is at the
 * first place, the place beside it is used. (The hook looks at the first place
 * only, so inner chunks have no choice.) Otherwise a hundred coroutines with
 * six chunks each would replace each other's chunks all the time.
 */
static struct memo_chunk *path_find(
    struct thread *t, struct walk *w, const struct cpu_frame *c, struct memo_chunk **ret_fill)
{
	const uint32_t gen = LOAD(&module_gen);
	struct memo_chunk *e, *beside;
	struct chunk_search l;

	e = chunk_find(t, w, c, c->pc, &l);
	*ret_fill = l.last;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): in the memo */
	if (e || l.last != l.first || !l.first->key)
		return e;
	beside = t->memo.entries + ((l.first - t->memo.entries) ^ 1);
	if (chunk_fits(t, w, beside, c, c->pc, gen) &&
	    memo_differs(beside, (const uint64_t *)(uintptr_t)c->sp - 1) == MEMO_WORDS)
		return beside;
	if (!beside->key || (t->memo.misses & 1))
		*ret_fill = beside;
	return NULL;
}

/*
 * Follows chunks from c on. Returns the node above the last of them; 0 if a
 * chunk is missing.
 */
static uint32_t path_follow(struct thread *t, const struct walk *start, struct cpu_frame c,
    struct path_link *path, uint32_t *ret_count, struct paths_joined *ret)
{
	struct walk w = *start;
	const bool joins = t->copy.gen == LOAD(&module_gen);
	int j = joins ? (int)t->copy.count - 1 : -1, fail = INT32_MAX, met;
	uint32_t depth = SEG_INNER_FRAMES, n, node;

	for (n = 0; n < PATH_CHUNKS; n++) {
		const uint64_t *slots = (const uint64_t *)(uintptr_t)c.sp - 1;
		struct memo_chunk *e, *place;

		while (j >= 0 && t->copy.frame[j].sp < c.sp)
			j--;
		if (j >= 0 && t->copy.frame[j].sp == c.sp && t->copy.frame[j].pc == c.pc &&
		    !t->copy.frame[j].exact && (met = outer_meet(t, &w, c.fp, j, &fail)) >= 0) {
			ret->hint = (uint16_t)met;
			ret->vouched = t->copy.frame[met].vouched;
			*ret_count = n;
			depth += (uint32_t)met + 1;
			if (depth > outer_depth || outer_keeps_too_few(t, depth - SEG_INNER_FRAMES))
				return 0;
			node = outer_node(t, (uint32_t)met);
			return node == SITES_NODE_OUTER_DROPPED ? 0 : node;
		}
		e = path_find(t, &w, &c, &place);
		if (e) {
			t->coroutine.credit += CREDIT_FOUND;
		} else {
			t->coroutine.credit -= CREDIT_FILLED;
			e = path_fill(t, &w, place, &c);
			if (!e)
				return 0;
		}
		path[n] = (struct path_link){e, e->key, e->sp};
		depth += e->frames + 1u;
		if ((memo_flags(e) & MEMO_PLAIN) || depth > outer_depth)
			return 0;
		if (memo_flags(e) & MEMO_END) {
			*ret_count = n + 1;
			ret->vouched = !(e->key & MEMO_DOUBT);
			return e->above;
		}
		c.pc = e->value[MEMO_WORDS - 1];
		c.fp = e->fp_offset == UINT16_MAX ? c.fp : slots[e->fp_offset];
		c.sp += (uint64_t)e->end_offset * 8;
		walk_move(&w, c.pc, c.sp, c.fp);
	}
	return 0;
}

/* Has this path come before? Remembers that it has now. */
static bool is_seen(struct thread *t, uint32_t tag)
{
	/* by its upper bits, in which the hashes of stacks differ most */
	uint32_t *seen = &t->coroutine.seen[(size_t)(tag >> SEEN_SHIFT) * SEEN_WAYS];
	uint32_t i;

	for (i = 0; i < SEEN_WAYS && seen[i] != tag; i++)
		;
	if (i < SEEN_WAYS)
		return true;
	for (i = SEEN_WAYS - 1; i > 0; i--)
		seen[i] = seen[i - 1];
	seen[0] = tag;
	return false;
}

uint32_t paths_outer(
    struct thread *t, const struct walk *w, const struct cpu_frame *c, struct paths_joined *ret)
{
	struct path_link path[PATH_CHUNKS];
	uint32_t tag = (uint32_t)(memo_hash(c) >> 32), n = 0, node;

	if (!is_seen(t, tag) || t->coroutine.credit < 0) {
		t->coroutine.credit++;
		return 0;
	}
	if (t->coroutine.credit > CREDIT_MAX)
		t->coroutine.credit = CREDIT_MAX;
	node = path_follow(t, w, *c, path, &n, ret);
	if (n == 0)
		return node;
	ret->hint = UINT16_MAX;
	while (node && n-- > 0) {
		struct memo_chunk *e = path[n].e;

		/* a later one may have been filled in its place */
		if (e->key != path[n].key || e->sp != path[n].sp)
			return 0;
		node = path_node(e, node);
		if (ret->vouched)
			e->key &= ~MEMO_DOUBT;
	}
	/* coroutines that run the same code have the same node */
	if ((node == t->coroutine.last && c->sp == t->coroutine.sp) ||
	    ++t->coroutine.count % COPY_RENEW == 0)
		return 0;
	t->coroutine.last = node;
	t->coroutine.sp = c->sp;
	return node;
}
