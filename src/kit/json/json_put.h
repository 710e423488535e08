/* json_put.h - writes pieces of JSON to a stream. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_PUT_H
#define SEEP_JSON_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A string in quotes, or null for NULL. Characters for which text_is_odd()
 * holds are written as JSON escapes, so a decoder gets the text unchanged. Each
 * byte that is not UTF-8 becomes U+FFFD.
 */
void json_string(FILE *out, const char *text);

/*
 * The same for a text that a page will display: its value is escaped as
 * text_next() does.
 */
void json_shown(FILE *out, const char *text);

/* All other functions begin with a comma and write ,"name": and the value. */
void json_key(FILE *out, const char *name);
void json_number(FILE *out, const char *name, uint64_t value);
void json_number_or_null(FILE *out, const char *name, bool known, uint64_t value);
void json_text(FILE *out, const char *name, const char *value);
void json_boolean(FILE *out, const char *name, bool value);
void json_list(FILE *out, const char *name, const uint64_t *values, size_t count);

/* Bytes as hexadecimal digits; null if all of them are zero. */
void json_hex(FILE *out, const char *name, const uint8_t *bytes, size_t len);

/* "2026-01-02T03:04:05.678Z"; null for 0. */
void json_time(FILE *out, const char *name, uint64_t realtime_ns);

#endif
