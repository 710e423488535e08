/* root_notes.h - which words outside of the heap point to which blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROOT_NOTES_H
#define SEEP_ROOT_NOTES_H

#include <sys/types.h>

#include "analysis/holders/pointer_graph.h"
#include "analysis/holders/grown.h"
#include "analysis/leaks/heap.h"
#include "host/proc/roots.h"

/*
 * A look needs to know that a root points to a block; who holds it needs to know
 * which. So a look that is asked to shows all roots here, too. Only certain
 * pointers are noted: at multiples of 8, and not below a stack pointer.
 */
struct root_note {
	uint32_t area;   /* index of the memory map, or enum root_notes_area */
	uint32_t word;   /* of 8 bytes, in it; the last one if there are more */
	uint32_t target; /* number of the block: see grown.h */
};

enum root_notes_area {
	ROOT_NOTES_ELSEWHERE = -1, /* mapped since the map was read */
	ROOT_NOTES_REGISTER = -2,
	ROOT_NOTES_KERNEL = -3,  /* epoll, a timer */
	ROOT_NOTES_IGNORED = -4, /* seep_ignore() */
	ROOT_NOTES_NEW = -5,     /* a block that came during the look */
};

/* Of a thread: see root_threads.h. */
struct root_thread;

struct root_notes {
	struct root_note *at;
	size_t count, room;
	uint64_t max_bytes; /* for the notes alone */
	uint64_t *tcbs;     /* what may be control blocks of threads */
	size_t tcb_count, tcb_room;
	struct roots_areas areas; /* of the look, once that is over */
	struct root_thread *threads;
	size_t thread_count;
	struct grown grown; /* blocks that came during the look */
};

/* All of it at an address, as of heap_scan(). -ENOMEM, -E2BIG. */
int root_notes_scan(struct root_notes *n, const struct heap *h, const struct roots_areas *areas,
    enum heap_part part, uint64_t address, const void *bytes, size_t len);

/* A pointer that is in no memory. */
int root_notes_word(
    struct root_notes *n, const struct heap *h, enum root_notes_area where, uint64_t word);

/*
 * When all memory was read: words that point to blocks which came meanwhile are
 * noted, too. -ENOMEM, -E2BIG.
 */
int root_notes_finish(struct root_notes *n, struct heap *h);

void root_notes_release(struct root_notes *n);

#endif
