/* owner.h - which thread has which gate and block, and which thread is dead. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OWNER_H
#define SEEP_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/thread.h"

/*
 * Threads are known by the address of their thread_self. Nobody tells us when
 * one ends (I11), so a place is kept until its owner is known to be dead:
 * - a new thread has its TLS at the same address (owner_take_over), or
 * - the page of its TLS is not mapped any more, or
 * - libc has freed the thread's table of TLS blocks (owner_dtv_is_freed): then
 *   the block is taken back, and the place, which is small, stays.
 * None of this reads the memory of another thread, which could be unmapped at
 * any moment. A thread that arrives looks at a few places, so their number is
 * bounded by that of the threads alive, and of dead ones whose address is still
 * mapped. Lock-free throughout; a signal handler may come at any time.
 */

/*
 * A place says who has which gate and block. `word` changes whenever the owner
 * does. It holds the address of the owner's thread_self and a number that does
 * not come back soon. So a thread that reads the word, then other fields, and
 * then changes the word by a CAS knows that all these fields were of that
 * owner.
 */
struct owner {
	uint64_t word; /* 0: free, 1: a thread is clearing it */
	struct gate *gate;
	struct thread *block;
	uint32_t tid;           /* as glibc's control block had it last */
	uint32_t condemned;     /* its gate is closed, see retire_block() */
	uint64_t dtv, dtv_cell; /* as live.h has it, 0: not known */
};

/*
 * Gates and blocks without an owner are kept on stacks. The head of a stack
 * holds the address of the first node, which is aligned to 128 bytes, and a
 * number. Our memory is never unmapped, so a thread may read a node while
 * another thread pops it. The number has changed then, and the CAS fails.
 */
enum { OWNER_HEAD_BITS = 24, OWNER_NODE_BITS = 7 };

SEEP_INLINE void *owner_node(uint64_t head)
{
	return (void *)(uintptr_t)(head >> OWNER_HEAD_BITS << OWNER_NODE_BITS);
}

SEEP_INLINE uint64_t owner_head(uint64_t old, const void *node)
{
	return (uint64_t)(uintptr_t)node >> OWNER_NODE_BITS << OWNER_HEAD_BITS |
	    ((old + 1) & ((1u << OWNER_HEAD_BITS) - 1));
}

void owner_init(bool wipe_on_fork, bool can_probe);

/* A gate for the caller. NULL: no memory, or too many. */
struct gate *owner_new_gate(void);
void owner_give_gate(struct gate *g);

/*
 * If a place was owned by a thread at the caller's address, that thread is
 * dead, and the caller takes over all that it had. NULL: there is none.
 */
struct owner *owner_take_over(void);

/* A new place for the caller; the block may be NULL. False: no room. */
bool owner_settle(struct gate *g, struct thread *t);

/* Notes which table of TLS blocks the caller has. */
void owner_note_dtv(struct owner *o);

/*
 * glibc allocates a table of TLS blocks (dtv) along with the memory of a
 * thread, and frees it with that memory. That is when a stack leaves glibc's
 * cache of stacks, or when the thread ends if the program has provided the
 * stack. Both calls go through our hooks, so the live map, which is our own
 * memory, says whether the table is still there. A table that grows is moved by
 * a realloc of the thread itself (see thread_forget_dtv()). False: the table is
 * there, or nothing is known of it.
 */
bool owner_dtv_is_freed(const struct owner *o);

/* If the owner is dead, takes back what it had. True: there was one. */
bool owner_look_at(struct owner *o);

/*
 * By a thread that comes to a new place: looks at four others. If more than a
 * quarter of all owners are dead, more places are given back than taken.
 */
void owner_look_around(void);

/* Takes back what the owner of a place had. The owner must be gone for good. */
void owner_clear(struct owner *o);

/* Walks over the gates of all other threads; *at is 0 first. NULL: no more. */
struct gate *owner_gate_at(uint32_t *at);

/* How many places are taken. */
uint32_t owner_count(void);

/* A forked child: all places are free; gates that were in use stay so. */
void owner_restart(void);

/* In a forked child, by the thread that has forked, before it goes on. */
void owner_note_fork(void);

/*
 * In a forked child: the tid that glibc gave to the thread that forked, which
 * may be the caller; 0: none, or not to be found. Before owner_restart().
 */
uint32_t owner_renewed_tid(bool has_forked);

#endif
