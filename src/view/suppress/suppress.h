/* suppress.h - lists of blocks that are known and not reported. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SUPPRESS_H
#define SEEP_SUPPRESS_H

#include "base/std.h"
#include "kit/os/fault.h"

/*
 * Entries in the order in which they were added; the first that fits a stack
 * wins. Two ways to write them, which one file may mix:
 *
 *	leak:PATTERN		as LeakSanitizer: some frame's function, file
 *				or module has PATTERN in it; * any text,
 *				^ its start, $ its end
 *	{			as valgrind: the innermost frames, one a line;
 *	   NAME			fun: obj: src:FILE[:LINE] with * and ?, and
 *	   Memcheck:Leak	"..." for any number of frames. The allocation
 *	   fun:malloc		function may be there or be left out. A mangled
 *	   obj:*lib.so		name fits the demangled one.
 *	}
 *
 * What is for other tools is skipped and counted.
 */
struct suppress;

struct suppress_entry {
	const char *name;
	const char *file; /* "built-in" for ours */
	unsigned line;
	/* sums of suppress_add_match() */
	uint64_t sites, blocks, bytes;
};

/* Texts must not change or move as long as the lists exist. */
struct suppress_frame {
	const char *function; /* demangled; every text is NULL if not known */
	const char *symbol;   /* as in the file */
	const char *file;
	uint32_t line;
	const char *module; /* path */
};

enum suppress_kind { /* bits: valgrind's words for the kind of a leak */
	SUPPRESS_DEFINITE = 1,
	SUPPRESS_INDIRECT = 2,
	SUPPRESS_POSSIBLE = 4,
	SUPPRESS_REACHABLE = 8,
};

struct suppress_stack {
	const struct suppress_frame *frames; /* from malloc's caller on */
	size_t count;
	uint8_t api;     /* enum seg_api; 0: not known, so any matches */
	uint8_t kind;    /* one of enum suppress_kind; 0: not known */
	uint64_t blocks; /* built-in entries give up on many; 0: not known */
};

enum { SUPPRESS_NONE = -1 };

/* -ENOMEM. */
int suppress_new(struct suppress **ret);

/* NULL is fine. */
void suppress_free(struct suppress *s);

/*
 * -EBADMSG: `where` has FILE:LINE and the error; -EFBIG; -ENOMEM; or an error
 * of open(). Entries before the error stay added.
 */
int suppress_load(struct suppress *s, const char *path, struct fault *where);

/* The same from memory; `file` is for messages and is copied. */
int suppress_text(
    struct suppress *s, const char *text, size_t len, const char *file, struct fault *where);

/* Adds start-up remainders of libc, the loader and libstdc++. -ENOMEM. */
int suppress_builtin(struct suppress *s);

/* The built-in list as text that can be loaded, each group with its reason. */
void suppress_print_builtin(FILE *out);

/* Number of the entry that matches, SUPPRESS_NONE, or -ENOMEM. */
int64_t suppress_match(struct suppress *s, const struct suppress_stack *stack);

/* Counts a site that the entry has hidden. */
void suppress_add_match(struct suppress *s, int64_t entry, uint64_t blocks, uint64_t bytes);

size_t suppress_count(const struct suppress *s);
const struct suppress_entry *suppress_entry(const struct suppress *s, size_t number);

/* Number of entries in the files that are for other tools or other errors. */
size_t suppress_skipped(const struct suppress *s);

#endif
