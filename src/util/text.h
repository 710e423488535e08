/* text.h - text from elsewhere, as characters that do nothing when printed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UTIL_TEXT_H
#define SEEP_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of a well-formed UTF-8 sequence (RFC 3629); 0: it is not one. */
size_t text_utf8(const char *text);

/* The character of a well-formed sequence of n bytes. */
uint32_t text_decode(const char *text, size_t n);

/*
 * Does a terminal obey it, does it turn the order of the text around it, or
 * does it hide? C0 and C1 controls, DEL, marks of direction, separators of
 * lines, characters without width, tags.
 */
bool text_is_odd(uint32_t character);

enum { TEXT_ESCAPED = 12 }; /* bytes of the longest escape, and a NUL */

/*
 * Takes one character of *text, which is not at its end, and moves *text
 * behind it. The character itself is in `out`, or its escape: \x1b for a byte
 * or a control, \u202e and \U000e0041 for others. NUL terminated; returns the
 * length. The only place that decides what is escaped.
 */
size_t text_next(const char **text, char out[TEXT_ESCAPED]);

/*
 * All of `text`, escaped, into `to`: as many whole characters as fit, always
 * NUL terminated. Returns the length.
 */
size_t text_escape(char *to, size_t bytes, const char *text);

/*
 * Writes the first character of `text`, which is not empty, as text_next() gives
 * it. Returns how many bytes of the text that was.
 */
size_t text_put(FILE *out, const char *text);

/* Are they equal? NULL is equal to NULL alone. */
bool text_same(const char *a, const char *b);

/* Does the text begin, or end, with this? */
bool text_begins_with(const char *text, const char *begin);
bool text_ends_with(const char *text, const char *end);

/* The last part of a path, behind its last slash; NULL if that is NULL. */
const char *text_base(const char *path);

/* All of `text`, escaped. */
void text_print(FILE *out, const char *text);

#endif
