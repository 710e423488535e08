/* suppress_parts.h - what the files of suppressions share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SUPPRESS_PARTS_H
#define SEEP_SUPPRESS_PARTS_H

#include "base/std.h"
#include "kit/data/dict.h"
#include "view/suppress/suppress.h"

/* The text of a frame that a pattern is compared with: bits. */
enum suppress_role {
	SUPPRESS_FUN = 1,
	SUPPRESS_OBJ = 2,
	SUPPRESS_SRC = 4,
};

/* Each pattern is stored once, even if many entries have it. */
struct suppress_pattern {
	char *glob;      /* matches a whole text */
	char *demangled; /* matches a function, too; NULL: not a mangled name */
	uint32_t line;   /* of SUPPRESS_SRC; 0: any */
	uint8_t roles;
	bool question;   /* ? matches any character */
	uint32_t *leads; /* entries whose first pattern this is, ascending */
	size_t lead_count, lead_room;
};

#define SUPPRESS_DOTS UINT32_MAX /* in steps: any number of frames */

struct suppress_rule {
	struct suppress_entry entry;
	char *name;
	uint32_t *steps; /* pattern numbers, SUPPRESS_DOTS in between */
	size_t step_count;
	bool floats;   /* the entry begins with "..." */
	uint32_t apis; /* bits of enum seg_api; 0: any */
	uint8_t kinds;
	uint64_t max_blocks; /* 0: any number */
};

/* The patterns that match a text. */
struct suppress_memo {
	const char *text, *symbol;
	uint8_t role;
	uint32_t *hits; /* ascending */
	size_t hit_count;
};

struct suppress {
	struct suppress_pattern *patterns;
	size_t pattern_count, pattern_room;
	struct dict pattern_index;
	struct suppress_rule *rules;
	size_t rule_count, rule_room;
	uint32_t *bare; /* rules without a step, which match any stack */
	size_t bare_count, bare_room;
	struct suppress_memo *memos;
	size_t memo_count, memo_room;
	struct dict memo_index;
	uint32_t *row; /* memos of the stack being matched */
	size_t row_room;
	char **files;
	size_t file_count;
	size_t skipped;
};

/*
 * `pattern` has len bytes; lsan: with ^ and $, and it may match any part of a
 * text. -ENOMEM.
 */
int suppress_pattern(struct suppress *s, uint8_t roles, const char *pattern, size_t len,
    uint32_t line, bool lsan, uint32_t *ret);

/* Call this after a new pattern, because it may match texts seen before. */
void suppress_forget_memos(struct suppress *s);

/* Takes ownership of r->name and r->steps, also on failure. -ENOMEM. */
int suppress_rule(struct suppress *s, struct suppress_rule *r);

/* Allocation functions that a valgrind name matches: bits of enum seg_api. */
uint32_t suppress_apis(const char *glob);

/* suppress_text() for entries that get the name `name` (NULL: their own). */
int suppress_parse(struct suppress *s, const char *text, size_t len, const char *file,
    const char *name, uint64_t max_blocks, struct fault *where);

/* * is any text; with question, ? any byte. */
bool suppress_glob(const char *glob, const char *text, bool question);

/* ---- suppress_lines: reads a suppression file line by line ---- */

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
