/* heap.h - blocks of a heap and who points to whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HEAP_H
#define SEEP_HEAP_H

#include "base/std.h"

/*
 * A look at a process gives blocks and the memory that may point to them. This
 * module keeps no memory contents: each word becomes an edge or nothing, so
 * that a look is one linear pass over the memory and the rest is arithmetic on
 * the edges.
 *
 * A word points to a block if its low 48 bits are an address inside of it. The
 * upper bits are left out because programs keep tags there. A pointer is weak
 * where the word may just look like one (enum heap_weak). The address right
 * behind a block is the next block's, where one begins there; see mark_seams().
 *
 * Everything about the process is untrusted: blocks that overlap or wrap
 * around are left out and counted.
 */
struct heap_block {
	uint64_t address, size;
	uint32_t site, birth;
};

/* How a block is held. */
enum heap_reach {
	HEAP_LOST,     /* nothing points to it but lost blocks */
	HEAP_POSSIBLE, /* held through a weak pointer */
	HEAP_HELD,
};

/* Why a pointer may just look like one. */
enum heap_weak {
	HEAP_CERTAIN,
	HEAP_PAST_END,   /* it is the address right behind the block */
	HEAP_MISALIGNED, /* it is not at a multiple of eight */
	HEAP_BELOW_SP,   /* it is in the dead part of a stack */
};

/* Of a lost block. */
enum heap_role {
	HEAP_NONE,     /* it is not lost */
	HEAP_DIRECT,   /* no other lost block points to it */
	HEAP_CYCLE,    /* one of a cycle to which no other lost block points */
	HEAP_INDIRECT, /* only other lost blocks hold it */
};

enum heap_part {
	HEAP_ROOT,
	HEAP_WEAK_ROOT,
	HEAP_BLOCKS,
	HEAP_CODE, /* roots that are instructions: pointers at any byte */
};

struct heap;

/*
 * Takes a copy of the blocks, in any order. max_bytes: what it may allocate in
 * all. -ENOMEM; -E2BIG beyond max_bytes; -EOVERFLOW: more than 2^29 blocks.
 */
int heap_new(const struct heap_block *blocks, size_t count, uint64_t max_bytes, struct heap **ret);

/* The same without the copy: the blocks, of malloc, are the heap's from now on. */
int heap_adopt(struct heap_block *blocks, size_t count, uint64_t max_bytes, struct heap **ret);
void heap_free(struct heap *h);

/* Blocks as they are kept, sorted by address. */
size_t heap_count(const struct heap *h);
const struct heap_block *heap_blocks(const struct heap *h);

/* Blocks that were left out. */
uint64_t heap_refused(const struct heap *h);

/* Index of the block that holds this address, -1: none. */
int64_t heap_find(const struct heap *h, uint64_t address);

/*
 * The contents of memory at `address`. Roots may come in any order. Heap memory
 * comes in ascending order, each byte once; what lies between blocks is passed
 * over. -ENOMEM, -E2BIG; -EINVAL where heap memory goes backwards.
 */
int heap_scan(struct heap *h, enum heap_part part, uint64_t address, const void *bytes, size_t len);

/*
 * Another block begins here, which is not in the heap: a pointer to this address
 * is not one past the end of the block before. -ENOMEM, -E2BIG.
 */
int heap_note_other(struct heap *h, uint64_t address);

/* A pointer that is in no memory: in a register, or kept by the kernel. */
int heap_root(struct heap *h, uint64_t word);

/*
 * From now on `missed` is called for each word of a block that certainly is a
 * pointer, to no block of the heap or right behind one, within [low, high]. Of
 * words beyond the heap these are looked at, too.
 */
typedef void heap_missed(void *context, uint32_t block, uint64_t address);
void heap_watch(struct heap *h, uint64_t low, uint64_t high, heap_missed *missed, void *context);

/* Looks up the words that wait, so that all that missed are known. -ENOMEM, -E2BIG. */
int heap_flush(struct heap *h);

/* Once, after the last heap_scan(): who is held, and which roles the lost have. */
int heap_judge(struct heap *h);

enum heap_reach heap_reach(const struct heap *h, size_t i);
enum heap_role heap_role(const struct heap *h, size_t i);

/* Of one that is HEAP_POSSIBLE, the first weak pointer that holds it. */
enum heap_weak heap_weak(const struct heap *h, size_t i);

/* What this module has allocated. */
uint64_t heap_bytes(const struct heap *h);

/* ---- large: arrays that are read here and there: in large pages ---- */

/*
 * A heap of a million blocks takes tens of megabytes here, which are read in no
 * order. In pages of 4 KiB the CPU spends more time on finding out where a page
 * is than on reading it. The kernel is asked for pages of 2 MiB; if it has none,
 * all is the same, and slower.
 *
 * All memory is for free(). NULL: there is none.
 */
void *large_zeroed(size_t bytes);

/* As realloc(); of the old array so many bytes are kept. */
void *large_grow(void *old, size_t keep, size_t bytes);

#endif
