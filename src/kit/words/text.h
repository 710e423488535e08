/* text.h - text from other sources, made harmless for a terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TEXT_H
#define SEEP_TEXT_H

#include "base/std.h"

/* Length of the well-formed UTF-8 sequence (RFC 3629) at `text`, or 0. */
size_t text_utf8(const char *text);

/* The character of a well-formed sequence of n bytes. */
uint32_t text_decode(const char *text, size_t n);

/*
 * Is it a character that a terminal obeys, that reorders the text around it, or
 * that is invisible? These are C0 and C1 controls, DEL, direction marks, line
 * separators, characters without width, and tags.
 */
bool text_is_odd(uint32_t character);

enum { TEXT_ESCAPED = 12 }; /* bytes of the longest escape with its NUL */

/*
 * Takes one character from *text, which must not be at its end, and moves *text
 * past it. `out` gets the character itself or its escape: \x1b for a byte or a
 * control, \u202e and \U000e0041 for others. NUL terminated; returns the
 * length. No other function decides what is escaped.
 */
size_t text_next(const char **text, char out[TEXT_ESCAPED]);

/*
 * Escapes `text` into `to`: as many whole characters as fit, always NUL
 * terminated. Returns the length.
 */
size_t text_escape(char *to, size_t bytes, const char *text);

/*
 * Writes the first character of `text`, which is not empty, as text_next()
 * gives it. Returns the number of bytes that it has in the text.
 */
size_t text_put(FILE *out, const char *text);

/* Are they equal? NULL is equal only to NULL. */
bool text_same(const char *a, const char *b);

/* Does the text begin, or end, with this part? */
bool text_begins_with(const char *text, const char *begin);
bool text_ends_with(const char *text, const char *end);

/* The part of a path after its last slash; NULL for NULL. */
const char *text_base(const char *path);

/* Writes all of `text`, escaped. */
void text_print(FILE *out, const char *text);

#endif
