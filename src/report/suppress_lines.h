/* suppress_lines.h - the lines of a suppression file, one by one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_SUPPRESS_LINES_H
#define SEEP_REPORT_SUPPRESS_LINES_H

#include "report/suppress_parts.h"

enum {
	SUPPRESS_ALL_KINDS = SUPPRESS_DEFINITE | SUPPRESS_INDIRECT |
	    SUPPRESS_POSSIBLE | SUPPRESS_REACHABLE
};

/* Where the reading is. */
struct suppress_lines {
	struct suppress *suppress;
	const char *at, *end;
	const char *file;
	const char *name; /* for all entries, or NULL */
	uint64_t max_blocks;
	struct fault *where;
	const char *word; /* the line, without blanks around it */
	size_t len;
	unsigned line;
};

/* The next line that is neither empty nor a comment; false: there is none. */
bool suppress_lines_next(struct suppress_lines *p);

/* Says what is wrong with a line. Returns -EBADMSG. */
int suppress_lines_bad(
    const struct suppress_lines *p, unsigned line, const char *what);

/* Is the line this text? */
bool suppress_lines_is(const struct suppress_lines *p, const char *text);

/* The rest of the line after `prefix`; NULL: it begins otherwise. */
const char *suppress_lines_after(
    const struct suppress_lines *p, const char *prefix);

/* Bytes from `from` to the end of the line. */
size_t suppress_lines_rest(const struct suppress_lines *p, const char *from);

/* The name of an entry that this line names; for free(). NULL: no memory. */
char *suppress_lines_name(const struct suppress_lines *p);

/* Parses an entry of valgrind, whose "{" is the line. -EBADMSG, -ENOMEM. */
int suppress_valgrind(struct suppress_lines *p);

#endif
