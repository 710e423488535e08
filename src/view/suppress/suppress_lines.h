/* suppress_lines.h - reads a suppression file line by line. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SUPPRESS_LINES_H
#define SEEP_SUPPRESS_LINES_H

#include "view/suppress/suppress_parts.h"

enum {
	SUPPRESS_ALL_KINDS =
	    SUPPRESS_DEFINITE | SUPPRESS_INDIRECT | SUPPRESS_POSSIBLE | SUPPRESS_REACHABLE
};

/* The position in the text. */
struct suppress_lines {
	struct suppress *suppress;
	const char *at, *end;
	const char *file;
	const char *name; /* for all entries, or NULL */
	uint64_t max_blocks;
	struct fault *where;
	const char *word; /* the current line, without blanks around it */
	size_t len;
	unsigned line;
};

/*
 * Goes to the next line that is neither empty nor a comment; false: at the end.
 */
bool suppress_lines_next(struct suppress_lines *p);

/* Describes the error of a line in `where`. Returns -EBADMSG. */
int suppress_lines_bad(const struct suppress_lines *p, unsigned line, const char *what);

/* Is the line equal to this text? */
bool suppress_lines_is(const struct suppress_lines *p, const char *text);

/* The rest of the line after `prefix`; NULL: it does not begin so. */
const char *suppress_lines_after(const struct suppress_lines *p, const char *prefix);

/* Bytes from `from` to the end of the line. */
size_t suppress_lines_rest(const struct suppress_lines *p, const char *from);

/* The name of an entry from this line; the caller frees it. NULL: no memory. */
char *suppress_lines_name(const struct suppress_lines *p);

/*
 * Parses an entry of valgrind; the current line is its "{". -EBADMSG, -ENOMEM.
 */
int suppress_valgrind(struct suppress_lines *p);

#endif
