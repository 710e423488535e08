/* grown.h - blocks that came while a process was read, and who points to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_GROWN_H
#define SEEP_GROWN_H

#include "base/std.h"
#include "analysis/leaks/heap.h"
#include "analysis/holders/heap_graph.h"
#include "host/memory/address_ranges.h"
#include "host/proc/roots.h"

/*
 * A look lists the blocks first and reads words then, so a program that grows
 * meanwhile has words that point to blocks which are in no list yet. For a
 * verdict it is enough that the contents of such blocks are roots (judge.h). To
 * say who holds a list whose first item is such a block, one has to know which
 * word points to it.
 *
 * So words that point to no known block, but to where one may come, are kept:
 * they "missed". When the words have been read, the blocks are listed once more.
 * A block that a word points to was there before the word was read, so this list
 * has it, unless it has been freed again. Its contents are read then; they may
 * point to blocks that are newer still, so there are GROWN_ROUNDS such lists.
 *
 * Blocks have numbers: those of the heap their index, new ones the next numbers.
 * A new block at the address of a known one takes the number of that.
 */
enum { GROWN_ROUNDS = 3 };

/* The site of a block of which only address and size are known. */
#define GROWN_NO_SITE UINT32_MAX

struct grown_block {
	uint64_t address, size;
	uint32_t site;
	uint32_t number;
};

/* A word that missed. */
struct grown_word {
	uint64_t address; /* where it points to */
	uint32_t from;    /* number of its block; of a root: its area */
	uint32_t word;    /* of a root: which word of that area */
	bool is_root;
};

struct grown {
	struct ranges near; /* where blocks may come */
	struct grown_word *words;
	size_t word_count, word_room;
	size_t from_new;            /* of these, words of new blocks */
	size_t from_before;         /* the same in the round before */
	uint64_t max_bytes;         /* for the words, and for the pointers */
	bool is_cut;                /* there were more words */
	struct grown_block *blocks; /* by address, once settled */
	size_t block_count, block_room, settled;
	uint32_t first; /* number of the first new block */
	uint32_t next;  /* and of the next one */
	struct heap_graph_edge *edges;
	size_t edge_count, edge_room;
	int err; /* -ENOMEM of grown_missed() */
};

/* Before the words are read: which of them may miss. -ENOMEM. */
int grown_begin(
    struct grown *g, struct heap *h, const struct roots_areas *areas, uint64_t max_bytes);
void grown_release(struct grown *g);

/* A word of a root that points to no known block. -ENOMEM. */
int grown_miss_root(struct grown *g, uint64_t address, uint32_t area, uint32_t word);

/*
 * A block of a later list. 1: it is new; its contents follow with grown_scan(),
 * after grown_settle(). 0: it was there before the last grown_settle(). -ENOMEM;
 * -E2BIG.
 */
int grown_add(
    struct grown *g, const struct heap *h, uint64_t address, uint64_t size, uint32_t site);
void grown_settle(struct grown *g);

/* Memory that may be of new blocks; it has pointers for all that are. -ENOMEM. */
int grown_scan(
    struct grown *g, const struct heap *h, uint64_t address, const void *bytes, size_t len);

/* Did new blocks point to what is not known, since the last call? */
bool grown_wants_more(struct grown *g);

/*
 * All words that missed, now that the blocks are known: those of blocks become
 * g->edges, sorted; those of roots are handed to `root`. -ENOMEM, or what `root`
 * returns.
 */
typedef int grown_root(void *context, uint32_t area, uint32_t word, uint32_t number);
int grown_finish(struct grown *g, grown_root *root, void *context);

#endif
