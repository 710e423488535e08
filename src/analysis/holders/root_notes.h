/* root_notes.h - what points into a heap from outside: which words, and what they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROOT_NOTES_H
#define SEEP_ROOT_NOTES_H

#include "base/std.h"
#include "analysis/holders/grown.h"
#include "analysis/holders/heap_graph.h"
#include "analysis/leaks/heap.h"
#include "host/memory/foreign.h"
#include "host/proc/roots.h"
#include "session/process/process.h"

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

/* Of a thread: see root_notes.h. */
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

/* ---- root_places: what the roots are: variables, stacks, mappings ---- */

enum root_kind {
	ROOT_DATA,      /* data of a module: a variable, if there are names */
	ROOT_TLS,       /* the same for thread-local storage */
	ROOT_THREAD,    /* a thread's own: keys, storage of an unknown module */
	ROOT_MAPPING,   /* memory of mmap() */
	ROOT_SHARED,    /* the same, shared */
	ROOT_BETWEEN,   /* the allocator's, between the blocks that are known */
	ROOT_ELSEWHERE, /* mapped while the process was read */
	ROOT_KERNEL,    /* epoll, a timer */
	ROOT_KEPT,      /* seep_ignore() */
	ROOT_STACK,
	ROOT_REGISTER,
	ROOT_NEW,  /* a block that came during the look, held by nothing known */
	ROOT_LOST, /* none: nothing holds it */
	ROOT_WEAK, /* only what may be a pointer does */
	ROOT_KINDS,
};

/* Roots of a later layer hold nothing that those of an earlier one hold. */
unsigned root_places_layer(enum root_kind kind);

struct root_place {
	enum root_kind kind;
	uint32_t module;  /* ROOT_DATA, ROOT_TLS: number in the process */
	uint64_t address; /* as in its ELF file, or offset in its storage */
	pid_t tid;        /* of a thread; 0: not known */
	char thread[16];  /* its name; "": not known */
	uint64_t bytes;   /* of a mapping */
};

bool root_places_is_same(const struct root_place *a, const struct root_place *b);
uint64_t root_places_hash(const struct root_place *p);

struct root_places {
	struct root_place *at; /* one for each word of ROOT_DATA and ROOT_TLS */
	size_t count, room;
	uint32_t *of; /* by note: its place */
};

/* -ENOMEM. */
int root_places_make(
    const struct root_notes *n, const struct process *p, pid_t pid, struct root_places *ret);
void root_places_release(struct root_places *r);

/* ---- root_threads: the stacks and the thread-local storage of threads ---- */

/*
 * glibc puts a thread's control block at the upper end of its stack, and its
 * thread-local storage right below that. Each module that was loaded at the start
 * has one part of it, in the order in which modules with thread-local storage
 * were loaded, and a table that the control block points to (dtv) has their
 * addresses. All of this is read while it may change, and is only believed where
 * addresses, order and sizes agree.
 */
enum { ROOT_THREADS_TLS_MAX = 64 };

struct root_tls {
	uint64_t start, end; /* 0: not known */
	uint32_t module;     /* number in the process */
};

struct root_thread {
	uint64_t tcb;
	pid_t tid;    /* 0: not known */
	uint64_t low; /* where its thread-local storage begins; tcb: none */
	char name[16];
	struct root_tls tls[ROOT_THREADS_TLS_MAX];
	size_t tls_count;
};

/* Fills n->threads, by address, from n->tcbs. -ENOMEM. */
int root_threads_read(
    struct root_notes *n, const struct process *p, pid_t pid, struct foreign *memory);

/* The thread to whose control block or storage an address in this area belongs,
 * or on whose stack it may be: the next control block above. NULL: none. */
const struct root_thread *root_threads_at(
    const struct root_notes *n, const struct roots_area *a, uint64_t address);

/* The part of a thread's storage that an address is in; NULL: not known. */
const struct root_tls *root_threads_tls(const struct root_thread *t, uint64_t address);

enum { ROOT_THREADS_TCB_BYTES = 2560 }; /* of struct pthread, or less */

#endif
