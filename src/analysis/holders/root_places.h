/* root_places.h - what the roots are: variables, stacks, mappings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROOT_PLACES_H
#define SEEP_ROOT_PLACES_H

#include "session/process/process.h"
#include "analysis/holders/root_notes.h"

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

#endif
