/* json_put.h - writes JSON to a stream: levels, commas, keys, values. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_PUT_H
#define SEEP_JSON_PUT_H

#include "base/std.h"

enum { JSON_SCHEMA = 1, JSON_LEVELS = 32 };

/*
 * Nothing is kept in memory, so an object may be of any size. {.file = f} writes
 * a value alone; with .has_item it goes on in an object that somebody else has
 * begun. The caller asks ferror(file).
 */
struct json {
	FILE *file;
	char levels[JSON_LEVELS]; /* how each of them ends; '\n': a list, one item a line */
	unsigned depth;           /* levels that are open */
	unsigned brief;           /* the level that leaves out zeros and nulls; 0: none */
	bool has_item;            /* a comma comes before the next item */
	bool on_line;             /* and a newline */
	bool is_reading; /* of a recording at a moment: what only an end state has is null */
};

/* Begins an object of ours: {"schema":1,"seep":version */
struct json json_begin(FILE *file, const char *version);

/*
 * Ends all levels and the line. Returns err if that is negative, -EIO if
 * ferror(file), or 0.
 */
int json_finish(struct json *j, int err);

/* In all functions, name is the key, or NULL for an item of a list. */
void json_object(struct json *j, const char *name);
void json_list(struct json *j, const char *name);
void json_rows(struct json *j, const char *name); /* a list with a line for each item */
void json_end(struct json *j);
void json_ends(struct json *j, unsigned count); /* several levels */

/* The next item or end begins a line. */
void json_line(struct json *j);

/* The value comes from the next call, which has no name. */
void json_key(struct json *j, const char *name);

/*
 * A string in quotes, or null for NULL. Characters for which text_is_odd()
 * holds are written as JSON escapes, so a decoder gets the text unchanged. Each
 * byte that is not UTF-8 becomes U+FFFD.
 */
void json_text(struct json *j, const char *name, const char *value);

/*
 * The same for a text that a page will display: its value is escaped as
 * text_next() does.
 */
void json_shown(struct json *j, const char *name, const char *value);

void json_number(struct json *j, const char *name, uint64_t value);
void json_number_or_null(struct json *j, const char *name, bool known, uint64_t value);
void json_signed(struct json *j, const char *name, int64_t value);
void json_fraction(struct json *j, const char *name, int digits, double value);
void json_fraction_or_null(struct json *j, const char *name, bool known, int digits, double value);
void json_boolean(struct json *j, const char *name, bool value);
void json_null(struct json *j, const char *name);

/* An object of numbers: JSON_OBJECT(j, "sum", {"blocks", n}, {"bytes", size}). */
struct json_pair {
	const char *name;
	uint64_t value;
};
#define JSON_OBJECT(j, name, ...) \
	json_pairs((j), (name), (const struct json_pair[]){__VA_ARGS__, {NULL, 0}})
void json_pairs(struct json *j, const char *name, const struct json_pair *pairs);

/* A value as printf() writes it, with its quotes. */
__attribute__((format(printf, 3, 4))) void json_format(
    struct json *j, const char *name, const char *format, ...);

/* Items as another writer has made them, with their commas. */
void json_copy(struct json *j, const char *text, size_t len);

/* A brief level has no zeros at the end of the list. */
void json_numbers(struct json *j, const char *name, const uint64_t *values, size_t count);

/* Bytes as hexadecimal digits; null if all of them are zero. */
void json_hex(struct json *j, const char *name, const uint8_t *bytes, size_t len);

/* "2026-01-02T03:04:05.678Z"; null for 0. */
void json_time(struct json *j, const char *name, uint64_t realtime_ns);

#endif
