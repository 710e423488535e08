/* names.h - the door to names: a frame in, function, file and line out. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_NAMES_H
#define SEEP_NAMES_NAMES_H

#include "reader/process.h"

/* Answers are cached and valid as long as the struct names. */
struct names;

struct names_answer {
	const char *function; /* demangled, qualified; NULL: not known */
	const char *file;     /* NULL: not known */
	uint32_t line;        /* 0: not known */
	uint8_t api; /* SEG_API_NEW, SEG_API_NEW_ARRAY: this is operator new */
};

/* -ENOMEM. */
int names_new(struct names **ret);

/* NULL is fine. */
void names_free(struct names *n);

/* Never fails: what is not known is NULL or 0. */
void names_resolve(struct names *n, const struct process *p, uint64_t frame,
    struct names_answer *ret);

/*
 * The frames that matter of a site: from the caller of the allocation function
 * on. `frames` are as of stacks_frames(); returns how many to leave out at the
 * start (operator new and its helpers) and corrects *api accordingly.
 */
size_t names_skip_operators(struct names *n, const struct process *p,
    const uint64_t *frames, size_t count, uint8_t *api);

/* Sentences about modules without names, so far; valid until names_free(). */
size_t names_notes(const struct names *n, char *const **ret);

#endif
