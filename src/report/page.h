/* page.h - lines that fit the place they are written to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_PAGE_H
#define SEEP_REPORT_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/frames.h"

/* Modules of frames that were printed without a name; "": in none. */
struct page_lacks {
	const char **modules; /* each once, of the session; for free() */
	size_t count, room;
};

struct page {
	FILE *out;
	unsigned width; /* columns; 0: lines are as long as they are */
	bool colour;
	bool utf8;       /* the place shows UTF-8 */
	bool full_names; /* of C++ and Rust, with all arguments */
	bool programs;   /* there are several: say which a function is of */
	struct page_lacks *lacks; /* filled by page_frame(); NULL: not */
};

enum page_colour {
	PAGE_PLAIN,
	PAGE_STRONG,
	PAGE_DIM,
	PAGE_MORE, /* it grew */
	PAGE_LESS, /* it shrank */
};

/* The escape for it, PAGE_PLAIN ends the others; "" without colour. */
const char *page_colour(const struct page *p, int colour);

/* Columns that a text takes, control bytes escaped as words_print() does. */
size_t page_columns(const char *text);

/*
 * Prints text, escaped; where it has more than `room` columns its middle gives
 * way to an ellipsis. room 0: whole.
 */
void page_fit(const struct page *p, const char *text, size_t room);

/* "function file.c:12 [lib.so] (recursive, 3 deep)" after `used` columns. */
void page_frame(const struct page *p, const struct frame *x, uint32_t repeats,
    size_t used, int colour);

/* Is it one of them? `context` is a struct page_lacks, as names/ wants it. */
bool page_lacks_has(void *context, const char *path);

/* Columns left after `used`, and never fewer than a few; 0: no limit. */
size_t page_room(const struct page *p, size_t used);

/*
 * Prints text, which was escaped, after `used` columns of a line; with line
 * breaks between words where there is a width.
 */
void page_paragraph(const struct page *p, const char *text, size_t used);

/*
 * Sentences: what is written to file, others' words escaped by words_print(),
 * comes out as a paragraph. Without memory file is the page's own, and long
 * lines stay long.
 */
struct page_text {
	FILE *file;
	char *text;
	size_t len;
};

void page_begin(const struct page *p, struct page_text *t);
void page_end(const struct page *p, struct page_text *t);

#endif
