/* layout.h - makes lines fit the width of the terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LAYOUT_H
#define SEEP_LAYOUT_H

#include "base/std.h"
#include "session/process/process.h"
#include "view/stacks/frames.h"

/* Modules of frames that were printed without a name; "": code in no module. */
struct layout_lacks {
	const char **modules; /* each once, of the session; for free() */
	size_t count, room;
};

struct layout {
	FILE *out;
	unsigned width; /* columns; 0: no limit */
	bool colour;
	bool utf8;                  /* the terminal shows UTF-8 */
	bool full_names;            /* names of C++ and Rust with all arguments */
	bool programs;              /* there are several: say which a function is of */
	struct layout_lacks *lacks; /* filled by layout_frame(); NULL: not */
};

enum layout_colour {
	LAYOUT_PLAIN,
	LAYOUT_STRONG,
	LAYOUT_DIM,
	LAYOUT_MORE, /* it grew */
	LAYOUT_LESS, /* it shrank */
};

/*
 * The escape sequence for this style; LAYOUT_PLAIN ends the others; "" without
 * colour.
 */
const char *layout_colour(const struct layout *p, int colour);

/* Columns that a text takes; control bytes are escaped as text_print() does. */
size_t layout_columns(const char *text);

/*
 * Prints text, escaped. If it has more than `room` columns, an ellipsis
 * replaces its middle. room 0: no limit.
 */
void layout_fit(const struct layout *p, const char *text, size_t room);

/* "function file.c:12 [lib.so] (recursive, 3 deep)" after `used` columns. */
void layout_frame(
    const struct layout *p, const struct frame *x, uint32_t repeats, size_t used, int colour);

/*
 * Is the module at `path` one of them? `context` is a struct layout_lacks;
 * names/ calls this.
 */
bool layout_lacks_has(void *context, const char *path);

/* Columns left after `used`, at least a few; 0: no limit. */
size_t layout_room(const struct layout *p, size_t used);

/*
 * Prints text, which is already escaped, after `used` columns of a line; breaks
 * lines between words if there is a width.
 */
void layout_paragraph(const struct layout *p, const char *text, size_t used);

/*
 * For sentences: what is written to `file` (foreign text escaped by
 * text_print()) is printed as a paragraph. Without memory, `file` is the page's
 * own stream, and long lines stay long.
 */
struct layout_text {
	FILE *file;
	char *text;
	size_t len;
};

void layout_begin(const struct layout *p, struct layout_text *t);
void layout_end(const struct layout *p, struct layout_text *t);

/* ---- hanging: lines behind a word: all but the first are indented ---- */

enum { HANGING_INDENT = 9 }; /* columns of "LEAK" and "POSSIBLE" */

/* Text that is written to page.out is printed wrapped and indented. */
struct hanging {
	struct layout page; /* .out is a buffer */
	char *text;
	size_t len;
};

/* False: out of memory; nothing is to be ended then. */
bool hanging_begin(const struct layout *p, struct hanging *h);

/*
 * Prints the lines; `head`, which fills the indentation, comes before the
 * first. NULL: none.
 */
void hanging_end(const struct layout *p, struct hanging *h, const char *head);

/* ---- spark: draws figures over time as one short line of block characters ---- */

enum { SPARK_WIDTH = 60 }; /* block characters at most */

/*
 * Prints "Live bytes over 12 s: <characters> up to 1.2 MiB." and a newline;
 * nothing if there are fewer than three points. Each column shows the highest
 * figure of its interval. Without UTF-8, digits 0 to 9 are used.
 */
void spark_write(
    const struct layout *p, const char *what, const struct process_point *points, size_t count);

#endif
