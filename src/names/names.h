/* names.h - the door to names: a frame in, function, file and line out. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_NAMES_H
#define SEEP_NAMES_NAMES_H

#include "reader/process.h"

struct names;

/* What a frame is called; all zero: take the usual way. */
struct names_options {
	const char *debug_dirs; /* separated by ':', before the usual ones */
	const char *sysroot;    /* files are looked for below it, NULL: / */
	bool debuginfod;        /* may ask the servers of DEBUGINFOD_URLS */
	bool no_cache;          /* neither read nor write it */
	bool no_symbols;        /* no names at all: modules and offsets */
};

/* One function at one place. */
struct names_frame {
	const char *function; /* demangled, qualified; NULL: not known */
	const char *symbol;   /* as in the file, mangled; NULL: not known */
	const char *file; /* path as the compiler knew it; NULL: not known */
	uint32_t line;    /* 0: not known */
	bool inlined;     /* into the next of the chain */
	uint8_t api; /* SEG_API_NEW, SEG_API_NEW_ARRAY: this is operator new */
};

/* Keeps a copy of the options; NULL: the usual way. -ENOMEM. */
int names_new(const struct names_options *options, struct names **ret);

/* NULL is fine. */
void names_free(struct names *n);

/*
 * The functions that a frame stands for, innermost first: those inlined there,
 * then the one that holds them. At least one entry; what is not known is NULL
 * or 0 in it. Never fails; valid as long as n.
 */
size_t names_chain(struct names *n, const struct process *p, uint64_t frame,
    const struct names_frame **ret);

/*
 * The frames that matter of a site: from the caller of the allocation function
 * on. `frames` are as of stacks_frames(); returns how many to leave out at the
 * start (operator new and its helpers) and corrects *api accordingly. Of the
 * chain of the first one that is left, *ret_entries are to be left out, too.
 */
size_t names_skip_operators(struct names *n, const struct process *p,
    const uint64_t *frames, size_t count, uint8_t *api, size_t *ret_entries);

/* Sentences about modules without names, so far; valid until names_free(). */
size_t names_notes(const struct names *n, char *const **ret);

#endif
